"""The textual learning rate: how many edits a step may make, over the steps of a run."""

from __future__ import annotations

import math

from skillopt_sleep.config import OptimizerSettings


def edit_budget(settings: OptimizerSettings, step: int, steps: int) -> int | None:
    """Return the edit budget L of one step; None means that nothing is cut.

    Args:
        settings: ``edit_budget`` is the first value, ``min_edit_budget`` the last; with the
            autonomous schedule the optimizer chooses at most the first.
        step: 0-based number of the step.
        steps: Steps of the whole run, >= 1; later steps keep the last value.
    """
    high = settings.edit_budget
    low = min(settings.min_edit_budget, high)
    way = min(step / (steps - 1), 1.0) if steps > 1 else 0.0
    match settings.schedule:
        case "none":
            return None
        case "constant" | "autonomous":
            return high
        case "linear":
            return round(high + (low - high) * way)
        case "cosine":
            return round(low + (high - low) * 0.5 * (1.0 + math.cos(math.pi * way)))
