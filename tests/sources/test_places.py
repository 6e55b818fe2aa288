from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.sources import SOURCES
from skillopt_sleep.sources._places import globbed, moved
from skillopt_sleep.testing import fake_world


def test_matches_are_sorted_and_told_once(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "a.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in globbed(tmp_path, "*.json", "a.*")] == [
        "a.json",
        "a.txt",
        "b.json",
    ]


def test_no_link_is_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    root.mkdir()
    (outside / "sub" / "a.json").touch()
    (root / "linked").symlink_to(outside)
    (root / "b.json").symlink_to(outside / "sub" / "a.json")
    assert list(globbed(root, "*.json", "*/sub/*.json")) == []


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert list(globbed(tmp_path / "none", "*")) == []


@pytest.mark.parametrize("name", ["copilot", "vscode", "devin", "openclaw", "opencode"])
def test_a_harness_that_was_never_installed_has_no_files(tmp_path: Path, name: str) -> None:
    assert list(SOURCES.factory(name)().files(fake_world(tmp_path))) == []


def test_a_moved_folder_counts_for_this_machines_home_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    world = fake_world(tmp_path, env={"HOME": str(home), "COPILOT_HOME": "/moved"})
    assert moved(world, "COPILOT_HOME", ".copilot") == Path("/moved")
    other = world.at_home(tmp_path / "other")
    assert moved(other, "COPILOT_HOME", ".copilot") == tmp_path / "other" / ".copilot"
