"""Leave one rule out: which rules earn their place."""

from __future__ import annotations

from random import Random

from tests.optimizer.bench import Agent, make_task

from skillopt_sleep.config import GateSettings
from skillopt_sleep.model.apply import apply_edits
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.skill import parse
from skillopt_sleep.optimizer.prune import weigh_rules


def test_a_rule_that_tasks_need_earns_its_place_and_one_that_changes_nothing_is_idle() -> None:
    edits = [
        Edit(kind=EditKind.ADD, text=text) for text in ("Mention citron always.", "Be so kind.")
    ]
    live, _ = apply_edits("# Ours\n", edits)
    tasks = [make_task(n, word="citron") for n in range(12)]
    worths = weigh_rules(
        live, tasks=tasks, rollouts=Agent(), settings=GateSettings(), uses={}, rng=Random(0)
    )
    assert [(one.rule.text, one.word) for one in worths] == [
        ("Mention citron always.", "earns"),
        ("Be so kind.", "idle"),
    ]
    idle = worths[1].pruned
    assert [rule.text for rule in parse(idle.content).rules] == ["Mention citron always."]
    assert apply_edits(live, idle.edits)[0] == idle.content


def test_a_document_without_rules_has_nothing_to_prune() -> None:
    agent = Agent()
    found = weigh_rules(
        "# Ours\n",
        tasks=[make_task(0)],
        rollouts=agent,
        settings=GateSettings(),
        uses={},
        rng=Random(0),
    )
    assert found == ()
    assert agent.asked == []
