"""One candidate's standing while it is compared with the live skill, this night and before.

Collects what the pairs show and says when to stop; rollouts and decisions are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.cost import cheaper, saving
from skillopt_sleep.gate.evidence import Tally
from skillopt_sleep.gate.policies import Seen
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.pairs import Compared, Pair


class Comparison:
    """What the gate has seen of one candidate so far.

    Attributes:
        candidate: As it came, with the evidence of earlier nights.
        settings: How it is judged.
        tally: Differences over all nights.
        savings: Savings in the co-metric over all nights, empty without one.
        stopped: Whether no further rollout is made for it tonight.
        compared: Tasks compared tonight, in test order, those beyond the end of the test too.
        silent: Ids of those of them that scored the same under both.
    """

    def __init__(
        self,
        candidate: Candidate,
        *,
        settings: GateSettings,
        rivals: int,
        watching: bool = False,
    ) -> None:
        before = candidate.evidence
        self.candidate = candidate
        self.settings = settings
        self.tally = Tally.of(before.differences if before else ())
        self.savings = Tally.of(before.savings if before else ())
        self.stopped = False
        self.compared: list[Task] = []
        self.silent: list[str] = []
        self._before = before
        self._watching = watching
        self._rivals = before.rivals if before else rivals
        self._planned: tuple[tuple[Task, ...], ...] = ()
        self._fresh: frozenset[str] = frozenset()
        self._tonight: list[Compared] = []
        self._tried = 0
        self._dropped = before.dropped if before else 0
        self._veto = ""
        self._guarded: tuple[str, ...] = ()

    def plan(self, units: Sequence[Sequence[Task]]) -> None:
        """Set tonight's clusters, each with the members that are fresh for this candidate."""
        self._planned = tuple(tuple(unit) for unit in units)
        self._fresh = frozenset(task.id for unit in units for task in unit)

    def members(self, unit: Sequence[Task]) -> tuple[Task, ...]:
        """Return the members of a cluster that may test this candidate."""
        return tuple(task for task in unit if task.id in self._fresh)

    def note(self, seen: Compared | None, *, members: Sequence[Task], dropped: int) -> None:
        """Take in what a cluster says, or that nothing could be compared on it.

        The test stops at the first cluster that settles it. What its block rolled out beyond that
        is no evidence, but the guard looks at it and its tasks are used.
        """
        self._tried += bool(members)
        self._dropped += dropped
        if seen is None:
            return
        self.compared += [task for task in members if task.id in seen.tasks]
        self.silent += seen.silent
        if not self._settled:
            self._tonight.append(seen)
            self.tally = self.tally.add(seen.difference)
            if self.settings.co_metric != "none":
                self.savings = self.savings.add(saving(seen.live_cost, seen.candidate_cost))

    @property
    def _settled(self) -> bool:
        if self.settings.policy == "strict":
            return False
        if self.tally.e_harm >= self.settings.harm_at:
            return True
        # While watching, what helps is measured on: the gain that is shown comes from there.
        needed = self.settings.adopt_at * self._rivals
        better = self.tally.e_value >= needed and self._rises
        frugal = self.savings.e_value >= needed and self._frugal
        return (better or frugal) and not self._watching

    def stop_if_settled(self) -> None:
        """Stop if the evidence is enough, speaks of harm, or cannot get there tonight.

        Stopping for futility costs nothing: what is left stays fresh for another night.
        """
        left = len(self._planned) - self._tried
        needed = self.settings.support_at * self._rivals
        hopeful = self.tally.after_wins(left) >= needed or (
            self.settings.co_metric != "none" and self.savings.after_wins(left) >= needed
        )
        self.stopped = self._settled or not (hopeful or self._watching)

    def veto(self, broken: Sequence[Task], looked: Sequence[Pair]) -> None:
        """Note the tasks that the guard found broken, and the pairs it looked at."""
        names = ", ".join(repr(task.id) for task in broken)
        self._veto = f"it breaks {names} while it helps others" if names else ""
        self._guarded = tuple(
            attempt.id for pair in looked for attempt in (pair.live, pair.candidate)
        )

    @property
    def seen(self) -> Seen:
        """All that the gate may look at."""
        won = [one for one in self._tonight if one.difference > 0]
        return Seen(
            tally=self.tally,
            rises=self._rises,
            savings=self.savings,
            frugal=self._frugal,
            rivals=self._rivals,
            nights=self._nights,
            tonight=len(self._tonight),
            veto=self._veto,
            shape_only=bool(won) and all(one.shape_only for one in won),
        )

    @property
    def tasks(self) -> tuple[str, ...]:
        """Ids of the held-out tasks compared tonight."""
        return tuple(task.id for task in self.compared)

    def evidence(self, *, decision: str, reason: str) -> GateEvidence:
        """Return everything that was seen, with the gate's word on it."""
        before = self._before
        live, candidate = self._means
        return GateEvidence(
            policy=self.settings.policy,
            metric=self.settings.metric,
            tasks=len(self.tally.differences),
            live_mean=live,
            candidate_mean=candidate,
            e_value=self.tally.e_value,
            e_harm=self.tally.e_harm,
            wins=sum(one > 0 for one in self.tally.differences),
            losses=sum(one < 0 for one in self.tally.differences),
            log_sums=self.tally.log_sums,
            nights=self._nights,
            attempts=(
                *(before.attempts if before else ()),
                *(attempt for one in self._tonight for attempt in one.attempts),
            ),
            differences=self.tally.differences,
            decision=decision,
            reason=reason,
            strict_agrees=self._rises,
            peak=self.tally.peak,
            rivals=self._rivals,
            sizes=(
                *(before.sizes if before else ()),
                *(len(one.attempts) for one in self._tonight),
            ),
            guarded=(*(before.guarded if before else ()), *self._guarded),
            dropped=self._dropped,
            co_metric=self.settings.co_metric,
            savings=self.savings.differences,
            live_cost=self._costs[0],
            candidate_cost=self._costs[1],
        )

    @property
    def _nights(self) -> int:
        # A night without a fresh task is no test, and must not use up the candidate's nights.
        return (self._before.nights if self._before else 0) + bool(self._tonight)

    @property
    def _means(self) -> tuple[float, float]:
        before = self._before
        return (
            self._mean(before.live_mean if before else 0.0, [o.live for o in self._tonight]),
            self._mean(
                before.candidate_mean if before else 0.0, [o.candidate for o in self._tonight]
            ),
        )

    @property
    def _costs(self) -> tuple[float, float]:
        before = self._before
        return (
            self._mean(before.live_cost if before else 0.0, [o.live_cost for o in self._tonight]),
            self._mean(
                before.candidate_cost if before else 0.0,
                [o.candidate_cost for o in self._tonight],
            ),
        )

    def _mean(self, before: float, tonight: Sequence[float]) -> float:
        """Return the mean per cluster over all nights from that of the nights before."""
        seen = self._before.tasks if self._before else 0
        total = seen + len(tonight)
        return (before * seen + fsum(tonight)) / total if total else 0.0

    @property
    def _rises(self) -> bool:
        live, candidate = self._means
        return candidate > live

    @property
    def _frugal(self) -> bool:
        live, candidate = self._means
        return candidate >= live and cheaper(*self._costs)
