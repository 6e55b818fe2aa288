"""A task: a recurring request with what it takes to attempt it, what judges it and its origin.

A task is one occurrence (a member) of a recurring cluster; members of one cluster share checks
and may stand on different splits, older ones in train.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from skillopt_sleep.model.check import SHAPE_ONLY, Check, Evidence


class Split(StrEnum):
    """Which side of the wall a task stands on; moves only from held-out or sealed to train."""

    TRAIN = "train"
    HELD_OUT = "held_out"
    SEALED = "sealed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One occurrence of a recurring request.

    Attributes:
        id: Stable id.
        cluster: Id of the recurring request it belongs to; the gate's unit.
        prompt: The request as the human typed it, redacted.
        context: What the agent had to know to attempt it (earlier words), or "".
        checks: What judges it; never empty for a task that is replayed.
        split: Which side of the wall.
        session: Our id of the session it comes from, or "" for a benchmark.
        harness: Where it was asked.
        repository: Folder or remote that names the repository, or "".
        commit: Git commit to attempt it at, or "".
        at: When it was asked.
        score: Recurrence times friction times checkability, >= 0.
        skill: Name of the skill document it is routed to, or "" for the managed one.
        pinned: Whether it must never break.
        evidence: The turns it comes from.
        reference: A known right answer, or "".
    """

    id: str
    cluster: str
    prompt: str
    context: str = ""
    checks: tuple[Check, ...] = ()
    split: Split = Split.TRAIN
    session: str = ""
    harness: str = ""
    repository: str = ""
    commit: str = ""
    at: datetime | None = None
    score: float = 0.0
    skill: str = ""
    pinned: bool = False
    evidence: tuple[Evidence, ...] = ()
    reference: str = ""

    @property
    def shape_only(self) -> bool:
        """Whether its checks look at form alone, so that it cannot by itself support adoption."""
        return all(check.operator in SHAPE_ONLY for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A request that came up again and again.

    Attributes:
        id: Persistent id; kept by overlap when sessions are added.
        name: A few words for a human: the medoid prompt, cut, or the miner's name.
        sessions: How many sessions it spans.
        harnesses: Where it was asked.
        repositories: Where it was asked.
        friction: Share of its episodes in which something went wrong, in [0, 1].
        score: Recurrence times friction times checkability, >= 0.
        tasks: Ids of its members, oldest first.
    """

    id: str
    name: str
    sessions: int
    harnesses: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    friction: float = 0.0
    score: float = 0.0
    tasks: tuple[str, ...] = ()
