"""How far a piece of work is, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One sign of progress.

    Attributes:
        stage: What is going on: harvest, mine, rollout, reflect, gate, stage.
        done: Units finished in this stage.
        total: Units in this stage, or 0 where unknown.
        note: One short sentence for the human, or "".
    """

    stage: str
    done: int = 0
    total: int = 0
    note: str = ""


Progress = Callable[[Tick], None]


def silent(_tick: Tick) -> None:
    """Watch nothing."""
