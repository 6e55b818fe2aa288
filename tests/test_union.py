"""Two good rules in one night: each is tested apart, and both come in together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.noise import NAME, announce

from skillopt_sleep.config import BackendSettings, load
from skillopt_sleep.engine import Engine
from skillopt_sleep.model.night import Night, NightOptions
from skillopt_sleep.model.prompt import Prompt, Reply, Stage
from skillopt_sleep.model.proposal import Proposal, ProposalStatus
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import Asked

CLUSTERS = 16
ALPHA, BETA = "Name the alpha ledger first.", "Close with thanks to beta testers."


class TwoHabits:
    """Does half of the requests right by each of two rules; model "rivals" cannot do both."""

    name = NAME

    def __init__(self, settings: BackendSettings, _world: World) -> None:
        self.model = settings.model
        self._adviser = SimulatedModel(1, ideas=(ALPHA, BETA))

    def complete(self, prompt: Prompt) -> Reply:
        if prompt.stage is not Stage.ATTEMPT:
            asked = Asked(system=prompt.system, user=prompt.messages[-1].text)
            return Reply(text=self._adviser(asked), model=self.model)
        known = [rule for rule in (ALPHA, BETA) if rule in prompt.system]
        if self.model == "rivals" and len(known) == 2:
            known = []
        words = " ".join("alpha" if rule == ALPHA else "beta" for rule in known)
        return Reply(text=f"Here is the answer, {words or 'plain'}.", model=self.model)


def night_with(root: Path, model: str) -> tuple[Night, list[Proposal]]:
    sys.modules.setdefault(TwoHabits.__module__, sys.modules[__name__])
    announce(root / "plugins", TwoHabits)
    world = fake_world(root)
    flags = {"target.name": NAME, "target.model": model, "target.base_url": "http://127.0.0.1:9"}
    with Engine(world, load(world, flags)) as engine:
        engine.tasks.load("\n".join(lines()))
        night = engine.nights.run(NightOptions(seed=1, harvest=False))
        found = [engine.review.get(number) for number in night.proposals]
    sys.path.remove(str(root / "plugins"))
    return night, found


def lines() -> list[str]:
    return [
        json.dumps(
            {
                "id": f"{split}-{number}",
                "cluster": f"c{number}",
                "prompt": f"{chr(97 + number) * 9} {split} {chr(113 - number) * 7} matter",
                "split": split,
                "checks": [{"operator": "contains", "value": ("alpha", "beta")[number % 2]}],
                "score": 1.0,
            }
        )
        for number in range(CLUSTERS)
        for split in ("train", "held_out")
    ]


def test_two_accepted_edits_are_proposed_together(tmp_path: Path) -> None:
    night, (both,) = night_with(tmp_path, "friends")
    assert both.status is ProposalStatus.SUPPORTED
    assert {edit.text for edit in both.edits} == {ALPHA, BETA}
    assert both.evidence.wins >= 6
    assert "each was accepted alone: E = " in both.evidence.reason
    assert sum(note.startswith("accept: ") for note in night.notes) == 1


def test_where_the_union_fails_the_stronger_is_proposed_and_the_other_waits(tmp_path: Path) -> None:
    _, proposals = night_with(tmp_path, "rivals")
    words = {one.status: [edit.text for edit in one.edits] for one in proposals}
    assert set(words) == {ProposalStatus.SUPPORTED, ProposalStatus.PENDING}
    assert sorted(text for texts in words.values() for text in texts) == sorted((ALPHA, BETA))
    (waiting,) = [one for one in proposals if one.status is ProposalStatus.PENDING]
    assert "waits until the one before it is decided on" in waiting.evidence.reason
