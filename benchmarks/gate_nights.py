"""Thirty nights of two candidates each: what the evidence policy adopts, beside the strict one.

Runs the real stage Evaluate on simulated attempts. Of the candidates 55 % do nothing, 30 % harm a
tenth of the tasks and 15 % lift three tenths of the weaker tasks; 20 held-out tasks a night come
from 400. Usage: ``python benchmarks/gate_nights.py [--trials 200] [--seed 0] [--json]``.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.policies import Accept, Pending
from skillopt_sleep.gate.simulate import Flags, Floats, edited, pass_rates
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.evaluate import evaluate
from skillopt_sleep.replay import Rollout

NIGHTS, TASKS, A_NIGHT, NEW = 30, 400, 20, 2
EFFECTS = ("null", "harm", "fix0.3")
SHARES = (0.55, 0.30, 0.15)

_CHECKS = (Check(id="c", operator=Operator.CONTAINS, value="x"),)
_TASKS = tuple(
    Task(id=str(n), cluster=str(n), prompt="p", checks=_CHECKS, split=Split.HELD_OUT)
    for n in range(TASKS)
)
_PASS, _FAIL = Score(hard=1.0, soft=1.0), Score(hard=0.0, soft=0.0)


@dataclass(slots=True)
class Thirty:
    """What thirty nights brought.

    Attributes:
        adopted: Adoptions by effect.
        gain: True change of the mean pass rate, in points.
        claimed: Sum of the gains seen in the accepting comparisons, in points.
        rollouts: Rollouts a night.
    """

    adopted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    gain: float = 0.0
    claimed: float = 0.0
    rollouts: float = 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """An edit: which tasks it would touch, whatever the skill it is applied to."""

    effect: str
    factor: Floats
    floor: Floats

    def on(self, rates: Floats) -> Floats:
        """Return the pass rates of a skill with this edit."""
        return np.maximum(rates * self.factor, self.floor)


def change(rng: np.random.Generator, start: Floats) -> Change:
    """Return a new edit, drawn as the table says."""
    effect = str(rng.choice(EFFECTS, p=SHARES))
    after = edited(rng, start, effect)
    fixed: Flags = after > start
    return Change(
        effect,
        np.where(after < start, after / start, 1.0),
        np.where(fixed, after, 0.0),
    )


class Simulated:
    """Attempts by pass rate per skill; each call draws anew."""

    def __init__(self, rng: Random, rates: dict[str, Floats]) -> None:
        self.count = 0
        self._rng = rng
        self._rates = rates

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        """Return one attempt per rollout, same order."""
        self.count += len(wanted)
        return tuple(self._attempt(one) for one in wanted)

    def _attempt(self, one: Rollout) -> Attempt:
        passed = self._rng.random() < self._rates[one.skill][int(one.task.id)]
        return Attempt(
            id=f"{one.task.id}/{one.skill}/{one.draw}",
            task=one.task.id,
            cluster=one.task.cluster,
            skill_hash=one.skill,
            draw=one.draw,
            score=_PASS if passed else _FAIL,
        )


def thirty(seed: int, settings: GateSettings) -> Thirty:
    """Return what thirty nights under a policy bring."""
    rng, draws = Random(seed), np.random.default_rng(seed)
    start = pass_rates(draws, (TASKS,))
    live = start
    seen = Thirty()
    changes: dict[str, Change] = {}
    carried: list[Candidate] = []
    uses: dict[str, frozenset[str]] = {}
    for night in range(NIGHTS):
        new = [
            Candidate(id=f"{night}-{k}", base_hash="", content="", edits=(), night=str(night))
            for k in range(NEW)
        ]
        changes.update({one.id: change(draws, start) for one in new})
        tested = [replace(one, content=one.id) for one in (*carried, *new)]
        rollouts = Simulated(
            rng, {"": live, **{one.id: changes[one.id].on(live) for one in tested}}
        )
        judged = evaluate(
            live="",
            candidates=tested,
            held_out=rng.sample(_TASKS, A_NIGHT),
            rollouts=rollouts,
            settings=settings,
            uses=uses,
            rng=rng,
        )
        for one in judged:
            for task in one.tasks:
                uses[task] = uses.get(task, frozenset()) | {one.candidate.id}
            if isinstance(one.decision, Accept):
                made = changes[one.candidate.id]
                live = made.on(live)
                seen.adopted[made.effect] += 1
                evidence = one.candidate.evidence
                if evidence:
                    seen.claimed += 100 * (evidence.candidate_mean - evidence.live_mean)
        carried = [one.candidate for one in judged if isinstance(one.decision, Pending)]
        seen.rollouts += rollouts.count / NIGHTS
    seen.gain = 100 * float(live.mean() - start.mean())
    return seen


POLICIES = {
    "strict": GateSettings(policy="strict"),
    "evidence, E >= 10": GateSettings(support_at=10 / NEW, adopt_at=10 / NEW),
    "evidence, E >= 10 m": GateSettings(support_at=10, adopt_at=10),
    "evidence, E >= 20 m": GateSettings(support_at=20, adopt_at=20),
}
"""Two candidates reach the test together, so the gate doubles what the settings say."""


def table(trials: int, seed: int) -> dict[str, dict[str, float]]:
    """Return per policy the means over ``trials`` runs of thirty nights."""
    rows: dict[str, dict[str, float]] = {}
    for name, settings in POLICIES.items():
        runs = [thirty(seed + trial, settings) for trial in range(trials)]
        rows[name] = {
            "harmful": sum(one.adopted["harm"] for one in runs) / trials,
            "idle": sum(one.adopted["null"] for one in runs) / trials,
            "good": sum(one.adopted["fix0.3"] for one in runs) / trials,
            "gain": sum(one.gain for one in runs) / trials,
            "claimed": sum(one.claimed for one in runs) / trials,
            "rollouts": sum(one.rollouts for one in runs) / trials,
        }
    return rows


def main() -> None:
    """Print the table and fail if the evidence policy does not hold it."""
    parser = argparse.ArgumentParser(description="thirty nights under each policy")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = table(asked.trials, asked.seed)
    if asked.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{'policy':22}{'harmful':>9}{'idle':>8}{'good':>8}{'gain':>9}{'claimed':>9}", end="")
        print(f"{'rollouts a night':>18}")
        for name, row in rows.items():
            print(
                f"{name:22}{row['harmful']:9.2f}{row['idle']:8.2f}{row['good']:8.2f}"
                f"{row['gain']:+9.1f}{row['claimed']:+9.1f}{row['rollouts']:18.0f}"
            )
    ours, strict = rows["evidence, E >= 10"], rows["strict"]
    if ours["harmful"] > 0.15 or ours["idle"] > 1.2 or ours["gain"] < strict["gain"]:
        raise SystemExit("the evidence policy does not hold the table of thirty nights")


if __name__ == "__main__":
    main()
