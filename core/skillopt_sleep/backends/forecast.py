"""What a night is expected to cost, from counts: pure arithmetic, no call, no file.

An estimate to decide by, on the high side: every train task is attempted, reflected on and
gated, and half of the gate's tasks need a second round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from skillopt_sleep.backends.batched import CAN_WAIT
from skillopt_sleep.backends.build import for_judge, for_optimizer, price_for
from skillopt_sleep.backends.prices import BATCH, priced
from skillopt_sleep.config import BackendSettings, OptimizerSettings, Settings
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.usage import NO_USAGE, Usage

SECOND_ROUND = 0.5
"""Share of the gate's tasks whose two arms differ, so that they are drawn again."""
ANSWER_TOKENS = 600
"""Output of one attempt."""
THINKING_TOKENS = 1200
"""Output of one call of the optimizer."""
VERDICT_TOKENS = 80
"""Output of one call of the judge."""
INSTRUCTION_TOKENS = 250
"""Our own instructions in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What lies before a night.

    Attributes:
        train: Train tasks.
        held_out: Held-out tasks that the gate may use.
        mine_calls: Calls of the miner's model.
        rubrics: Rubric checks of an average task.
        task_tokens: Tokens of an average task with its context.
        skill_tokens: Tokens of the skill document.
    """

    train: int
    held_out: int
    mine_calls: int = 0
    rubrics: float = 0.0
    task_tokens: int = 200
    skill_tokens: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The expected cost of a night.

    Attributes:
        by_stage: Usage by stage name; ``unpriced`` counts calls whose price is unknown.
        total: All stages together.
    """

    by_stage: Mapping[str, Usage]
    total: Usage

    def figures(self) -> dict[str, float]:
        """Return calls, tokens and dollars; dollars are missing where a price is unknown."""
        figures = {"calls": float(self.total.calls), "tokens": float(self.total.tokens)}
        return figures if self.total.unpriced else {**figures, "dollars": self.total.dollars}


def forecast(settings: Settings, load: Load) -> Forecast:
    """Return what a night with ``load`` is expected to cost under ``settings``."""
    optimizer = for_optimizer(settings)
    attempts = _attempts(settings, load)
    attempt_input = INSTRUCTION_TOKENS + load.skill_tokens + load.task_tokens
    judged = ceil(attempts * load.rubrics)
    stages = {
        Stage.MINE: _usage(Stage.MINE, optimizer, load.mine_calls, 2000, THINKING_TOKENS),
        Stage.ATTEMPT: _usage(
            Stage.ATTEMPT, settings.target, attempts, attempt_input, ANSWER_TOKENS
        ),
        Stage.JUDGE: _usage(
            Stage.JUDGE,
            for_judge(settings),
            judged,
            INSTRUCTION_TOKENS + load.task_tokens + ANSWER_TOKENS,
            VERDICT_TOKENS,
        ),
    }
    for stage, calls in _optimizer_calls(settings.optimizer, load).items():
        tokens = INSTRUCTION_TOKENS + load.skill_tokens
        if stage is Stage.REFLECT:
            shown = settings.optimizer.minibatch_size * settings.optimizer.rollouts
            tokens += shown * (load.task_tokens + ANSWER_TOKENS)
        stages[stage] = _usage(stage, optimizer, calls, tokens, THINKING_TOKENS)
    by_stage = {stage.value: usage for stage, usage in stages.items() if usage.calls}
    return Forecast(by_stage=by_stage, total=sum(by_stage.values(), NO_USAGE))


def _attempts(settings: Settings, load: Load) -> int:
    loop = settings.optimizer
    train = min(load.train, loop.max_train_tasks) * loop.rollouts * loop.epochs
    slow = 2 * min(load.train, loop.slow_items) * (loop.epochs - 1) if loop.slow_update else 0
    gated = min(load.held_out, settings.gate.max_tasks) if train else 0
    arms = 1 + settings.gate.finalists
    return train + slow + ceil(gated * arms * (1 + SECOND_ROUND))


def _optimizer_calls(loop: OptimizerSettings, load: Load) -> dict[Stage, int]:
    train = min(load.train, loop.max_train_tasks)
    if not train:
        return {}
    steps = loop.epochs * ceil(train / (loop.batch_size * loop.accumulation))
    # Failures and successes are looked at apart, so the last minibatch of each may be short.
    reflections = loop.epochs * (ceil(train / loop.minibatch_size) + 1)
    merged = ceil(reflections / loop.aggregate_width) + steps
    return {
        Stage.REFLECT: reflections,
        Stage.AGGREGATE: merged,
        Stage.SELECT: 0 if loop.schedule == "none" else steps,
        Stage.UPDATE: 0 if loop.update_mode == "patch" else steps,
        Stage.SLOW: loop.epochs - 1 if loop.slow_update else 0,
        Stage.META: loop.epochs if loop.meta_skill else 0,
    }


def _usage(
    stage: Stage, settings: BackendSettings, calls: int, tokens_in: int, tokens_out: int
) -> Usage:
    usage = Usage(calls=calls, input_tokens=calls * tokens_in, output_tokens=calls * tokens_out)
    share = BATCH if settings.batch and stage in CAN_WAIT else 1.0
    return priced(usage, price_for(settings), share=share)
