"""Decides on one candidate from what was seen of it: accept, pending, reject or unproven.

Pure: the rollouts that the numbers come from are made elsewhere. Every reason is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.evidence import Tally
from skillopt_sleep.model.check import Validity
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.task import Task

SESSIONS_TO_BACK = 2
"""Corrections in at least so many sessions make an unproven rule worth showing."""

_WORD = re.compile(r"[\w.-]*\w")
_EMPTY_WORDS = frozenset(
    {"a", "an", "and", "any", "at", "be", "do", "for", "in", "is", "it", "no", "not"}
    | {"of", "on", "or", "the", "to", "use", "with"}
)
_VALIDATED = frozenset({Validity.PROVEN, Validity.REVIEWED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The candidate is supported; ``strong`` evidence also allows adoption without a human."""

    reason: str
    strong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Not enough evidence yet; it is carried to later nights."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """The candidate stays out."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproven:
    """Carried like a pending one, and shown to the human, who asked for it in several sessions."""

    reason: str


Decision = Accept | Pending | Reject | Unproven


def word(decision: Decision) -> str:
    """Return the gate's word: accept, pending, reject or unproven."""
    match decision:
        case Accept():
            return "accept"
        case Pending():
            return "pending"
        case Reject():
            return "reject"
        case Unproven():
            return "unproven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that the gate saw of a candidate.

    Attributes:
        tally: Differences over all nights.
        rises: Whether the mean held-out score rose, over all nights.
        savings: Savings in the co-metric over all nights, empty without one.
        frugal: Whether it is as good on the mean and costs at least 15 % less.
        rivals: Candidates that reached the test together, >= 1.
        nights: Nights it was tested in, this one included.
        tonight: Task clusters it was compared on tonight.
        veto: What the guard found broken, a sentence, or "".
        shape_only: Whether it won nothing but tasks whose checks look at form alone.
    """

    tally: Tally
    rises: bool
    savings: Tally = field(default_factory=Tally)
    frugal: bool = False
    rivals: int = 1
    nights: int = 1
    tonight: int = 0
    veto: str = ""
    shape_only: bool = False


def decide(seen: Seen, settings: GateSettings) -> Decision:
    """Decide by the policy that ``settings`` name."""
    match settings.policy:
        case "off":
            return Accept(reason="nothing was validated: the gate is off")
        case "strict":
            return _strict(seen)
        case "evidence":
            return _evidence(seen, settings)


def _strict(seen: Seen) -> Decision:
    compared = len(seen.tally.differences)
    if not compared:
        return Reject(reason="no held-out task could be compared")
    if seen.rises:
        return Accept(reason=f"the mean score rose on {_tasks(compared)}", strong=True)
    return Reject(reason=f"the mean score did not rise on {_tasks(compared)}")


def _evidence(seen: Seen, settings: GateSettings) -> Decision:
    needed = settings.support_at * seen.rivals
    tally = seen.tally
    if tally.harm_peak >= settings.harm_at:
        return Reject(
            reason=f"evidence of harm reached {tally.harm_peak:.1f} of {settings.harm_at:g}"
        )
    if seen.veto:
        return Reject(reason=seen.veto)
    if tally.peak >= needed and seen.rises and not seen.shape_only:
        strong = tally.peak >= settings.adopt_at * seen.rivals
        return Accept(
            reason=f"evidence reached {tally.peak:.1f} of {needed:g} needed"
            f" on {_tasks(len(tally.differences))}",
            strong=strong,
        )
    if seen.frugal and seen.savings.peak >= needed:
        return Accept(
            reason=f"as good and at least 15 % cheaper: evidence reached {seen.savings.peak:.1f}"
            f" of {needed:g} needed on {_tasks(len(seen.savings.differences))}",
            strong=seen.savings.peak >= settings.adopt_at * seen.rivals,
        )
    if max(tally.e_value, seen.savings.e_value if seen.frugal else 0.0) < settings.reject_below:
        return Reject(
            reason=f"evidence fell to {tally.e_value:.2f}, below {settings.reject_below:g}"
        )
    if seen.nights >= settings.max_nights:
        return Reject(
            reason=f"evidence is {tally.e_value:.1f} of {needed:g} needed"
            f" after {seen.nights} nights, the most a candidate gets"
        )
    return Pending(reason=_shortfall(seen, needed))


def _shortfall(seen: Seen, needed: float) -> str:
    tally = seen.tally
    if tally.peak >= needed and seen.shape_only:
        return (
            f"evidence reached {tally.peak:.1f}, but only on tasks whose checks look at form;"
            " a task with a check on content has to be won too"
        )
    wins = max(1, tally.wins_to(needed))
    said = f"evidence is {tally.e_value:.1f} of {needed:g} needed: "
    if not seen.tonight:
        return f"{said}{wins} fresh held-out tasks won without a loss are missing"
    nights = ceil(wins / seen.tonight)
    return (
        f"{said}{wins} more held-out task{'s' * (wins != 1)} won without a loss,"
        f" or {nights} more night{'s' * (nights != 1)} like this one"
    )


def _tasks(count: int) -> str:
    return f"{count} held-out task{'s' * (count != 1)}"


def backing(candidate: Candidate, tasks: Iterable[Task]) -> tuple[str, ...]:
    """Return the sessions in which the human asked for what the candidate does, sorted.

    Counted are human words behind a validated check of a task that motivated one of its edits,
    where every edit names what such a check looks for: that the human asked for something in
    these tasks does not mean that they asked for this.
    """
    named = {task for edit in candidate.edits for task in edit.tasks}
    said = [_content(edit.text or edit.anchor) for edit in candidate.edits]
    sessions = {
        evidence.session
        for task in tasks
        if task.id in named
        for check in task.checks
        if check.validity in _VALIDATED and all(_content(check.value) & words for words in said)
        for evidence in check.evidence
        if evidence.role == "human" and evidence.session
    }
    return tuple(sorted(sessions))


def _content(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _EMPTY_WORDS


def offer(decision: Decision, candidate: Candidate, tasks: Sequence[Task]) -> Decision:
    """Return ``decision``, or, for a pending candidate that the human backs, ``Unproven``.

    Args:
        decision: What the test alone says.
        candidate: Its edits name the train tasks that motivated them.
        tasks: Train tasks.
    """
    sessions = backing(candidate, tasks)
    if not isinstance(decision, Pending) or len(sessions) < SESSIONS_TO_BACK:
        return decision
    return Unproven(
        reason=f"not proven yet ({decision.reason}), but you asked for it in"
        f" {len(sessions)} sessions and a validated check backs it"
    )


def keep(decisions: Sequence[tuple[str, float, Decision]], pool: int) -> dict[str, Decision]:
    """Return the decision per candidate id once the pool of carried ones is cut to size.

    Args:
        decisions: Candidate id, evidence and decision, in any order.
        pool: How many candidates are carried to the next night; the best by evidence stay.
    """
    carried = [one for one in decisions if isinstance(one[2], Pending | Unproven)]
    best = {one[0] for one in sorted(carried, key=lambda one: (-one[1], one[0]))[:pool]}
    return {
        name: decision
        if name in best or not isinstance(decision, Pending | Unproven)
        else Reject(
            reason=f"evidence is {e_value:.1f}, and the {pool} candidates that are carried on"
            " have more"
        )
        for name, e_value, decision in decisions
    }
