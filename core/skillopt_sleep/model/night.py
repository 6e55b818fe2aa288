"""A night: what one full cycle saw, did and cost, and why it ended as it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from skillopt_sleep.model.usage import Usage


class NightStatus(StrEnum):
    """How a night ended, or that it has not."""

    RUNNING = "running"
    DONE = "done"
    NOTHING = "nothing"
    WAITING = "waiting"
    BUDGET = "budget"
    VOID = "void"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """One narrowing on the way from sessions seen to rules adopted.

    Attributes:
        name: What is counted, such as "human prompts".
        count: How many there were.
        note: Why the others fell away, or "".
    """

    name: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One full cycle.

    Attributes:
        id: Sortable id, unique.
        project: Folder it was run for.
        started_at: When it began.
        ended_at: When it ended, or None.
        status: How it ended.
        reason: One sentence: why it ended so.
        funnel: From sessions seen to proposals, in order.
        usage: Cost per stage name.
        proposals: Numbers of the proposals it staged or updated.
        seed: Seed of every random choice in it.
        notes: Sentences for the human, in order.
        forecast: What it was expected to cost, per kind (calls, tokens, dollars), or empty.
    """

    id: str
    project: str
    started_at: datetime
    status: NightStatus = NightStatus.RUNNING
    ended_at: datetime | None = None
    reason: str = ""
    funnel: tuple[FunnelStep, ...] = ()
    usage: Mapping[str, Usage] = field(default_factory=dict[str, Usage])
    proposals: tuple[int, ...] = ()
    seed: int = 0
    notes: tuple[str, ...] = ()
    forecast: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class NightOptions:
    """What the user asked of one night beyond the settings.

    Attributes:
        seed: Seed of every random choice, or None to draw it from the night's id.
        only: Source names to harvest, or all.
        harvest: Whether to harvest first.
        fresh: Whether to begin a new night although one was cut off.
    """

    seed: int | None = None
    only: tuple[str, ...] = ()
    harvest: bool = True
    fresh: bool = False
