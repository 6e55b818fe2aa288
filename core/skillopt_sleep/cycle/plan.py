"""What a night works on, pinned at its start, so that a night that died goes on with the same.

Tasks, the live skill, carried candidates and the rejected buffer are fixed here; later steps are
functions of this plan and of journaled replies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.night import FunnelStep
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.rejected import RejectedEdit
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.store.nights import FactStore


@dataclass(frozen=True, slots=True, kw_only=True)
class NightPlan:
    """The pinned inputs of a night.

    Attributes:
        before: Text of the live skill, None where there is no file.
        target: Path of the live skill.
        tasks: All tasks of this project with at least one check, every split.
        carried: Candidates of earlier nights that go on tonight.
        uses: Held-out task id to ids of candidates that it has told something about before
            tonight; a look that said nothing stands under a name of its own.
        looks: The same, whether or not it said something.
        worn: Held-out tasks that have served their gates and train from now on.
        rejected: The rejected-edit buffer, oldest first.
        meta: The meta skill, or "".
        previous: Text of the version before the last adopted proposal, None for no watch.
        watched: Number of the adopted proposal that is watched, or 0.
        funnel: What was counted up to here.
        notes: Sentences for the human.
    """

    before: str | None
    target: str
    tasks: tuple[Task, ...]
    carried: tuple[Candidate, ...] = ()
    uses: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    looks: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    worn: frozenset[str] = frozenset()
    rejected: tuple[RejectedEdit, ...] = ()
    meta: str = ""
    previous: str | None = None
    watched: int = 0
    funnel: tuple[FunnelStep, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def live(self) -> str:
        """Text of the live skill, "" where there is none."""
        return self.before or ""

    @property
    def train(self) -> tuple[Task, ...]:
        """Tasks the optimizer may see, the worn ones included."""
        return tuple(
            replace(task, split=Split.TRAIN)
            for task in self.tasks
            if task.split is Split.TRAIN or task.id in self.worn
        )

    @property
    def held_out(self) -> tuple[Task, ...]:
        """Tasks for the gate alone."""
        return tuple(t for t in self.tasks if t.split is Split.HELD_OUT and t.id not in self.worn)


def pin(facts: FactStore, night: str, plan: NightPlan) -> None:
    """Keep a night's plan."""
    facts.put(f"plan:{night}", encode(plan))


def pinned(facts: FactStore, night: str) -> NightPlan | None:
    """Return a night's plan, or None where it died before it had one."""
    text = facts.get(f"plan:{night}")
    return decode(NightPlan, text) if text else None


def unpin(facts: FactStore, night: str) -> None:
    """Forget the plan of a night that is over."""
    facts.drop(f"plan:{night}")
