"""Recomputes every number of a gate's evidence from the stored attempts; decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isclose

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
        difference: D in [-1, 1].
        e_value: Evidence for the candidate after this cluster.
        e_harm: Evidence against it after this cluster.
    """

    cluster: str
    tasks: tuple[str, ...]
    live: tuple[float, ...]
    candidate: tuple[float, ...]
    difference: float
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
    means: list[tuple[float, float]] = []
    start = 0
    for size in evidence.sizes:
        ids = evidence.attempts[start : start + size]
        start += size
        if any(one not in known for one in ids):
            continue
        members = _members([known[one] for one in ids], Metric(evidence.metric))
        means.append(cluster_means((live, other) for _, live, other in members))
        tally = tally.add(difference([means[-1][0]], [means[-1][1]]))
        units.append(_unit(known[ids[0]].cluster, members, tally))
    count = max(1, len(means))
    explained = Explained(
        units=tuple(units),
        suspects=_suspects(evidence.guarded, known),
        live_mean=sum(live for live, _ in means) / count,
        candidate_mean=sum(other for _, other in means) / count,
        e_value=tally.e_value,
        e_harm=tally.e_harm,
        peak=tally.peak,
        missing=missing,
        disagreements=(),
    )
    return explained if missing else _checked(explained, evidence)


_Member = tuple[str, tuple[float, ...], tuple[float, ...]]


def _members(attempts: Sequence[Attempt], metric: Metric) -> tuple[_Member, ...]:
    found: list[_Member] = []
    for task, group in groupby(attempts, key=lambda one: one.task):
        scores = [one.score.by(metric) for one in group if one.score is not None]
        half = len(scores) // 2
        found.append((task, tuple(scores[:half]), tuple(scores[half:])))
    return tuple(found)


def _unit(cluster: str, members: Sequence[_Member], tally: Tally) -> Unit:
    return Unit(
        cluster=cluster,
        tasks=tuple(task for task, _, _ in members),
        live=tuple(score for _, live, _ in members for score in live),
        candidate=tuple(score for _, _, candidate in members for score in candidate),
        difference=tally.differences[-1],
        e_value=tally.e_value,
        e_harm=tally.e_harm,
    )


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
    }
    apart = tuple(
        name
        for name, (again, stored) in numbers.items()
        if not isclose(again, stored, rel_tol=_EXACT, abs_tol=_EXACT)
    )
    return replace(explained, disagreements=apart)
