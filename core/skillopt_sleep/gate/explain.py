"""Recomputes every number of a gate's evidence from the stored attempts; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import fsum, isclose

from skillopt_sleep.gate.cost import mean_cost
from skillopt_sleep.gate.evidence import Tally, cluster_means, difference
from skillopt_sleep.gate.guard import Arms, fisher
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.proposal import GateEvidence
from skillopt_sleep.model.score import Metric

_EXACT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One compared cluster, recomputed.

    Attributes:
        cluster: Cluster id.
        tasks: Ids of the members compared.
        live: Scores of the live skill's rollouts, by member and draw, each in [0, 1].
        candidate: As many of the candidate's.
        live_mean: Members averaged, in [0, 1].
        candidate_mean: Members averaged, in [0, 1].
        difference: D in [-1, 1].
        live_cost: Mean tokens or seconds per attempt of the live skill, 0.0 without a co-metric.
        candidate_cost: The same of the candidate.
        e_value: Evidence for the candidate after this cluster.
        e_harm: Evidence against it after this cluster.
    """

    cluster: str
    tasks: tuple[str, ...]
    live: tuple[float, ...]
    candidate: tuple[float, ...]
    live_mean: float
    candidate_mean: float
    difference: float
    live_cost: float
    candidate_cost: float
    e_value: float
    e_harm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A task that the guard looked at again.

    Attributes:
        task: Task id.
        live_passed: Rollouts that passed under the live skill.
        candidate_passed: Rollouts that passed under the candidate.
        rollouts: Rollouts per arm.
        p_value: Fisher's one-sided p, in (0, 1].
    """

    task: str
    live_passed: int
    candidate_passed: int
    rollouts: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The evidence from the attempts up.

    Attributes:
        units: Clusters in test order, all nights.
        suspects: What the guard looked at.
        live_mean: Recomputed, in [0, 1].
        candidate_mean: Recomputed, in [0, 1].
        e_value: Recomputed.
        e_harm: Recomputed.
        peak: Recomputed.
        live_cost: Recomputed, 0.0 without a co-metric.
        candidate_cost: Recomputed, 0.0 without a co-metric.
        missing: Ids of attempts that are no longer stored; their clusters cannot be recomputed.
        disagreements: Names of the numbers that differ from the stored evidence, or empty.
    """

    units: tuple[Unit, ...]
    suspects: tuple[Suspect, ...]
    live_mean: float
    candidate_mean: float
    e_value: float
    e_harm: float
    peak: float
    live_cost: float
    candidate_cost: float
    missing: tuple[str, ...]
    disagreements: tuple[str, ...]


def explain(evidence: GateEvidence, attempts: Sequence[Attempt]) -> Explained:
    """Recompute the evidence.

    Args:
        evidence: As the gate left it.
        attempts: The stored attempts, in any order; others than those named do no harm.
    """
    known = {one.id: one for one in attempts}
    named = (*evidence.attempts, *evidence.guarded)
    missing = tuple(dict.fromkeys(one for one in named if one not in known))
    tally = Tally()
    units: list[Unit] = []
    for ids in _by_cluster(evidence):
        if all(one in known for one in ids):
            units.append(_unit([known[one] for one in ids], evidence, tally))
            tally = tally.add(units[-1].difference)
    count = max(1, len(units))
    explained = Explained(
        units=tuple(units),
        suspects=_suspects(evidence.guarded, known),
        live_mean=fsum(unit.live_mean for unit in units) / count,
        candidate_mean=fsum(unit.candidate_mean for unit in units) / count,
        live_cost=fsum(unit.live_cost for unit in units) / count,
        candidate_cost=fsum(unit.candidate_cost for unit in units) / count,
        e_value=tally.e_value,
        e_harm=tally.e_harm,
        peak=tally.peak,
        missing=missing,
        disagreements=(),
    )
    return explained if missing else _checked(explained, evidence)


def _by_cluster(evidence: GateEvidence) -> Iterator[tuple[str, ...]]:
    start = 0
    for size in evidence.sizes:
        yield evidence.attempts[start : start + size]
        start += size


def _unit(attempts: Sequence[Attempt], evidence: GateEvidence, before: Tally) -> Unit:
    members: list[tuple[str, list[Attempt], list[Attempt]]] = []
    for task, group in groupby(attempts, key=lambda one: one.task):
        # The live skill's draws come first, then as many of the candidate's.
        both = list(group)
        members.append((task, both[: len(both) // 2], both[len(both) // 2 :]))
    metric = Metric(evidence.metric)
    scores = [(_scores(live, metric), _scores(other, metric)) for _, live, other in members]
    live, candidate = cluster_means(scores)
    after = before.add(difference([live], [candidate]))
    return Unit(
        cluster=attempts[0].cluster,
        tasks=tuple(task for task, _, _ in members),
        live=tuple(score for one, _ in scores for score in one),
        candidate=tuple(score for _, other in scores for score in other),
        live_mean=live,
        candidate_mean=candidate,
        difference=after.differences[-1],
        live_cost=mean_cost([one for _, live, _ in members for one in live], evidence.co_metric),
        candidate_cost=mean_cost(
            [one for _, _, other in members for one in other], evidence.co_metric
        ),
        e_value=after.e_value,
        e_harm=after.e_harm,
    )


def _scores(attempts: Sequence[Attempt], metric: Metric) -> list[float]:
    return [one.score.by(metric) for one in attempts if one.score is not None]


def _suspects(guarded: Sequence[str], known: Mapping[str, Attempt]) -> tuple[Suspect, ...]:
    # Ids stand in pairs: a draw of the live skill, then the candidate's.
    pairs = [
        (known[live], known[candidate])
        for live, candidate in zip(guarded[::2], guarded[1::2], strict=True)
        if live in known and candidate in known
    ]
    found: list[Suspect] = []
    for task, group in groupby(pairs, key=lambda pair: pair[0].task):
        draws = list(group)
        arms = Arms(
            live=tuple(_passed(live) for live, _ in draws),
            candidate=tuple(_passed(candidate) for _, candidate in draws),
        )
        found.append(
            Suspect(
                task=task,
                live_passed=sum(arms.live),
                candidate_passed=sum(arms.candidate),
                rollouts=len(draws),
                p_value=fisher(arms),
            )
        )
    return tuple(found)


def _passed(attempt: Attempt) -> bool:
    return attempt.score is not None and attempt.score.hard == 1.0


def _checked(explained: Explained, evidence: GateEvidence) -> Explained:
    numbers = {
        "tasks": (len(explained.units), evidence.tasks),
        "wins": (sum(unit.difference > 0 for unit in explained.units), evidence.wins),
        "losses": (sum(unit.difference < 0 for unit in explained.units), evidence.losses),
        "live_mean": (explained.live_mean, evidence.live_mean),
        "candidate_mean": (explained.candidate_mean, evidence.candidate_mean),
        "e_value": (explained.e_value, evidence.e_value),
        "e_harm": (explained.e_harm, evidence.e_harm),
        "peak": (explained.peak, evidence.peak),
        "live_cost": (explained.live_cost, evidence.live_cost),
        "candidate_cost": (explained.candidate_cost, evidence.candidate_cost),
    }
    apart = tuple(
        name
        for name, (again, stored) in numbers.items()
        if not isclose(again, stored, rel_tol=_EXACT, abs_tol=_EXACT)
    )
    return replace(explained, disagreements=apart)
