"""The live skill rule by rule: where each comes from, and which ones do nothing."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from benchmarks.noise import HELPFUL, NAME, NULL, announce, task_lines

from skillopt_sleep.config import load
from skillopt_sleep.engine import Engine
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.night import NightOptions
from skillopt_sleep.model.proposal import ProposalStatus
from skillopt_sleep.testing import MIDNIGHT, fake_world

LIVE = ".claude/skills/learned-habits/SKILL.md"


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    announce(tmp_path / "plugins")
    world = fake_world(tmp_path.resolve())
    flags: dict[str, object] = {
        "target.name": NAME,
        "target.model": "3",
        "target.base_url": "http://127.0.0.1:9",
        "gate.auto_adopt": True,
    }
    with Engine(world, load(world, flags)) as opened:
        opened.tasks.load(task_lines(3, members=2, at=MIDNIGHT))
        yield opened


def test_blame_names_the_proposal_the_sessions_and_the_words_behind_a_rule(engine: Engine) -> None:
    night = engine.nights.run(NightOptions(seed=1, harvest=False))
    (adopted,) = [
        one
        for one in map(engine.review.get, night.proposals)
        if one.status is ProposalStatus.ADOPTED
    ]
    live = engine.world.roots.cwd / LIVE
    live.write_text(live.read_text().replace("<!-- /skill", "- Be kind.\n<!-- /skill"))
    learned, own = engine.skills.blame()
    assert (learned.text, learned.proposal) == (HELPFUL, adopted.number)
    assert set(learned.tasks) == set(adopted.edits[0].tasks)
    assert len(learned.sessions) >= 10
    assert learned.quotes == ("amounts in euro",)
    assert learned.evidence.startswith("E = ")
    assert (own.text, own.proposal, own.evidence) == ("Be kind.", 0, "")


def test_pruning_proposes_the_skill_without_the_rule_that_does_nothing(engine: Engine) -> None:
    live = engine.world.roots.cwd / LIVE
    live.parent.mkdir(parents=True)
    live.write_text(
        "# Ours\n\n<!-- skillopt-sleep:rules -->\n"
        f"- {HELPFUL}\n- Never say Ahoy.\n<!-- /skillopt-sleep:rules -->\n"
    )
    pruned = engine.skills.prune()
    words = {one.text: one.word for one in pruned.worths}
    assert words[HELPFUL] in ("earns", "unclear")
    assert [one.worth.word for one in engine.skills.blame() if one.worth] == list(words.values())
    assert live.read_text().count("\n- ") == 2
    if pruned.proposal is not None:
        assert pruned.proposal.status is not ProposalStatus.ADOPTED
        assert [edit.kind for edit in pruned.proposal.edits] == [EditKind.DELETE]
        assert HELPFUL in pruned.proposal.after
        assert "Ahoy" not in pruned.proposal.after


def test_without_rules_or_tasks_pruning_says_so_and_asks_no_model(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    with Engine(
        world, load(world, {"target.name": "handoff", "consent.hosts": ["handoff"]})
    ) as engine:
        assert engine.skills.prune().reason == "the live skill has no learned rule"
        live = world.roots.cwd / LIVE
        live.parent.mkdir(parents=True)
        edit = Edit(kind=EditKind.ADD, text=NULL)
        live.write_text(
            f"<!-- skillopt-sleep:rules -->\n- {edit.text}\n<!-- /skillopt-sleep:rules -->\n"
        )
        with pytest.raises(ConfigError, match="no train task"):
            engine.skills.prune()
