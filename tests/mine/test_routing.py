"""Which skill document a task belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.mine.routing import FOLDERS, route, skill_documents
from skillopt_sleep.testing import fake_world


def put(folder: Path, name: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: {name}\n---\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("folder", FOLDERS)
def test_skills_are_found_in_the_folders_of_every_harness(folder: str, tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    own = put(world.roots.cwd / folder, "review")
    put(world.roots.home / folder, "review")
    users = put(world.roots.home / folder, "deploy")
    assert skill_documents(world, world.roots.cwd) == {"review": own, "deploy": users}


def test_links_are_not_followed(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    put(tmp_path / "elsewhere", "secret")
    folder = world.roots.home / FOLDERS[0]
    folder.mkdir(parents=True)
    (folder / "secret").symlink_to(tmp_path / "elsewhere" / "secret")
    assert skill_documents(world, world.roots.cwd) == {}


@pytest.mark.parametrize(
    ("used", "skill"),
    [
        ((), ""),
        (("review",), "review"),
        (("plugin:review", "review"), "review"),
        (("review", "deploy"), ""),
        (("unknown",), ""),
        (("unknown", "deploy"), "deploy"),
    ],
)
def test_a_task_goes_to_the_one_skill_used_else_to_the_managed_one(
    used: tuple[str, ...], skill: str
) -> None:
    known = {"review": Path("a"), "deploy": Path("b")}
    assert route(used, known).skill == skill
