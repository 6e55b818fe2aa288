"""What one pass over the sessions found: recurring requests, their tasks, and what fell away."""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.model.night import FunnelStep
from skillopt_sleep.model.task import Cluster, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """The outcome of mining.

    Attributes:
        tasks: What recurs and is not dropped, best score first; some may have no check yet.
        clusters: The recurring requests, best score first.
        funnel: From sessions seen to tasks with checks, in order.
        notes: Sentences for the human, in order.
    """

    tasks: tuple[Task, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    funnel: tuple[FunnelStep, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[Task, ...]:
        """The tasks that can be replayed: those with at least one check."""
        return tuple(task for task in self.tasks if task.checks)
