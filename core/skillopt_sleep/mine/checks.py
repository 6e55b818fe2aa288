"""From what a human corrected and what verified the work to checks that can tell good from bad.

Each is tried on the outcomes that the log holds: it must pass on what the human let stand and
fail on what the human corrected. Only a human's words give a rule; what the agent ran gives a
command to run again. Knows nothing of models or splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.codec import digest
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges import JUDGES, Judge
from skillopt_sleep.mine.commands import verifies, verifying_part
from skillopt_sleep.mine.frames import Demand, demands, standing
from skillopt_sleep.mine.outcomes import bad_outcome, good_outcome
from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.check import JUDGE_OF, Check, Evidence, Operator, Validity
from skillopt_sleep.model.episode import Episode
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import World

_QUOTE = 500
_TRIAL = Task(id="trial", cluster="trial", prompt="trial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What came of trying checks on recorded outcomes.

    Attributes:
        checks: Those that hold, strongest first.
        dropped: How many failed on the good outcome or passed on the bad one, or could not be
            told from idle words.
    """

    checks: tuple[Check, ...] = ()
    dropped: int = 0


class Bench:
    """Tries checks on recorded outcomes with the judge that will use them later."""

    def __init__(self, world: World) -> None:
        self._judge: Judge = JUDGES.factory("rules")(world, None)

    def validity(self, check: Check, good: Outcome | None, bad: Outcome | None) -> Validity | None:
        """Return what is known of ``check``, or None where the log speaks against it."""
        if JUDGE_OF[check.operator] != "rules":
            return Validity.UNPROVEN
        try:
            if good is not None and not self._judge.verdict(check, _TRIAL, good).passed:
                return None
            if bad is not None and self._judge.verdict(check, _TRIAL, bad).passed:
                return None
        except ConfigError:
            return None
        return Validity.UNPROVEN if good is None or bad is None else Validity.PROVEN


def check_id(operator: Operator, value: str) -> str:
    """Return the stable id of a check with this operator and operand."""
    return digest("check", operator.value, value)[:12]


def rules(episodes: Sequence[Episode], bench: Bench) -> Trials:
    """Return the rules that the human's corrections in ``episodes`` state, tried on the log."""
    found: list[Check] = []
    dropped = 0
    for episode in episodes:
        good = good_outcome(episode)
        for place, demand in _demanded(episode):
            stretch = episode.stretches[place]
            bad = bad_outcome(episode, place) if stretch.correcting else None
            check = _check(episode, place, demand)
            validity = bench.validity(check, good, bad)
            if validity is None or (validity is Validity.UNPROVEN and not demand.firm):
                dropped += 1
            else:
                found.append(replace(check, validity=validity))
    return Trials(checks=merged(found), dropped=dropped)


def _demanded(episode: Episode) -> Iterator[tuple[int, Demand]]:
    for place, stretch in enumerate(episode.stretches):
        if place and (stretch.correcting or standing(stretch.prompted.text)):
            for demand in demands(stretch.prompted.text):
                yield place, demand


def _check(episode: Episode, place: int, demand: Demand) -> Check:
    turn = episode.stretches[place].prompted
    return Check(
        id=check_id(demand.operator, demand.value),
        operator=demand.operator,
        value=demand.value,
        evidence=(Evidence(session=episode.session, turn=turn.index, quote=turn.text[:_QUOTE]),),
        note=demand.note,
    )


def commands(episodes: Sequence[Episode], *, at_least: int = 2) -> tuple[Check, ...]:
    """Return checks from commands that verified the work.

    A command counts if it passed in ``at_least`` sessions or went from red to green in one. It
    gives one check for a workspace (the command passes) and one for an answer (it is run).
    """
    passed: dict[str, list[tuple[Evidence, str]]] = {}
    mended: set[str] = set()
    for episode in episodes:
        red: set[str] = set()
        for call in episode.calls:
            name = verifies(call.command)
            if name and call.error:
                red.add(name)
            elif name:
                where = Evidence(
                    session=episode.session,
                    turn=max(call.after, 0),
                    role="tool",
                    quote=call.command[:_QUOTE],
                )
                passed.setdefault(name, []).append((where, verifying_part(call.command)))
                if name in red:
                    mended.add(name)
    return tuple(
        check
        for name, seen in sorted(passed.items())
        if name in mended or len({where.session for where, _ in seen}) >= at_least
        for check in _pair(name, seen, mended=name in mended)
    )


def _pair(name: str, seen: Sequence[tuple[Evidence, str]], *, mended: bool) -> Iterator[Check]:
    evidence = tuple(where for where, _ in seen[-3:])
    again = seen[-1][1] or name
    yield Check(
        id=check_id(Operator.COMMAND_PASSES, again),
        operator=Operator.COMMAND_PASSES,
        value=again,
        validity=Validity.PROVEN if mended else Validity.UNPROVEN,
        evidence=evidence,
        note=f"{name} passes in the workspace",
    )
    yield Check(
        id=check_id(Operator.COMMAND_RAN, name),
        operator=Operator.COMMAND_RAN,
        value=name,
        evidence=evidence,
        note=f"runs {name}",
    )


_RANK = {Validity.PROVEN: 0, Validity.REVIEWED: 1, Validity.UNPROVEN: 2}


def merged(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return ``checks`` with equal ones made one, their evidence joined, strongest first.

    Of two that contradict each other (a command that must and must not run) the later one stays,
    since people change their mind in that direction.
    """
    found: dict[str, Check] = {}
    for check in checks:
        if rival := _RIVALS.get(check.operator):
            found.pop(check_id(rival, check.value), None)
        old = found.pop(check.id, None)
        found[check.id] = check if old is None else _joined(old, check)
    return tuple(sorted(found.values(), key=lambda c: (_RANK[c.validity], c.id)))


_RIVALS = {
    Operator.CONTAINS: Operator.NOT_CONTAINS,
    Operator.NOT_CONTAINS: Operator.CONTAINS,
    Operator.REGEX: Operator.NOT_REGEX,
    Operator.NOT_REGEX: Operator.REGEX,
    Operator.COMMAND_RAN: Operator.COMMAND_NOT_RAN,
    Operator.COMMAND_NOT_RAN: Operator.COMMAND_RAN,
}


def _joined(old: Check, new: Check) -> Check:
    validity = min(old.validity, new.validity, key=_RANK.__getitem__)
    evidence = tuple(dict.fromkeys((*old.evidence, *new.evidence)))
    return replace(old, validity=validity, evidence=evidence)


def checkability(checks: Sequence[Check]) -> float:
    """Return how well ``checks`` can judge an attempt, in [0, 1]: 0 for none, 1 for proven."""
    grades = {Validity.PROVEN: 1.0, Validity.REVIEWED: 1.0, Validity.UNPROVEN: 0.6}
    best = max((grades[check.validity] for check in checks), default=0.0)
    task = replace(_TRIAL, checks=tuple(checks))
    return best * 0.5 if task.shape_only else best
