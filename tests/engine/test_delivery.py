"""An adopted skill reaches every harness's folder, and a revert takes it back from all of them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.config import load
from skillopt_sleep.engine import Engine
from skillopt_sleep.staging.deliver import Deliveries
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import build_proposal, fake_world

CLAUDE = ".claude/skills/learned-habits/SKILL.md"
AGENTS = ".agents/skills/learned-habits/SKILL.md"


@contextmanager
def staged(
    root: Path, flags: Mapping[str, object] | None = None, *, live: str = CLAUDE
) -> Generator[Engine]:
    """Yield an engine with proposal 1 for a skill that is not there yet."""
    world = fake_world(root.resolve())
    with Engine(world, load(world, {"human.required": False, **(flags or {})})) as engine:
        proposal = build_proposal(world.roots.cwd / live, before=None)
        ProposalStore(engine.database).add(
            replace(proposal, project=str(world.roots.cwd), skill_name="learned-habits")
        )
        yield engine


def skills(engine: Engine) -> dict[str, str]:
    project = engine.world.roots.cwd
    return {
        str(path.relative_to(project)): path.read_text() for path in project.rglob("SKILL.md")
    } | {
        str(path.relative_to(project) / "SKILL.md"): (path / "SKILL.md").read_text()
        for path in project.glob("*/skills/*")
        if path.is_symlink()
    }


@pytest.mark.parametrize("mode", ["copy", "link"])
@pytest.mark.parametrize("live", [CLAUDE, AGENTS])
def test_adopt_puts_the_skill_in_both_folders_and_revert_empties_them(
    tmp_path: Path, live: str, mode: str
) -> None:
    with staged(tmp_path, {"delivery.mode": mode}, live=live) as engine:
        assert engine.review.adopt(1).flags == ()
        assert skills(engine) == {CLAUDE: "new\n", AGENTS: "new\n"}
        engine.review.revert(1)
        assert list(engine.world.roots.cwd.iterdir()) == []


def test_harnesses_can_be_chosen(tmp_path: Path) -> None:
    with staged(tmp_path, {"delivery.harnesses": ("claude-code",)}) as engine:
        engine.review.adopt(1)
        assert skills(engine) == {CLAUDE: "new\n"}


def test_a_copy_that_a_human_wrote_is_flagged_on_the_proposal(tmp_path: Path) -> None:
    with staged(tmp_path) as engine:
        own = engine.world.roots.cwd / AGENTS
        own.parent.mkdir(parents=True)
        own.write_text("mine\n")
        (flag,) = engine.review.adopt(1).flags
        assert "was changed by hand and was left alone" in flag
        assert engine.review.get(1).flags == (flag,)
        assert own.read_text() == "mine\n"


def test_a_hand_written_skill_of_the_users_own_stays_where_it_is(tmp_path: Path) -> None:
    with staged(tmp_path, {"skill.name": "another"}) as engine:
        engine.review.adopt(1)
        assert skills(engine) == {CLAUDE: "new\n"}


def test_a_delivery_that_a_crash_cut_off_is_done_when_the_engine_is_opened_again(
    tmp_path: Path,
) -> None:
    with staged(tmp_path) as engine:
        world, config = engine.world, engine.config
        live = world.roots.cwd / CLAUDE
        live.parent.mkdir(parents=True)
        Deliveries(world.roots.data / "deliveries").announce(live)
        live.write_text("new\n")
    with Engine(world, config) as engine:
        assert engine.review.open()
        assert skills(engine) == {CLAUDE: "new\n", AGENTS: "new\n"}
