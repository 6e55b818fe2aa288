"""Stage Reflect: what the trials teach, minibatch by minibatch, failures and successes apart.

One question a minibatch, all in parallel. A minibatch without a usable answer yields nothing and
is counted by the advisor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillopt_sleep.config import OptimizerSettings
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.prompt import Prompt, Stage
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.brief import Brief, question
from skillopt_sleep.optimizer.instructions import FAILURES, SKILL_AWARE, SUCCESSES
from skillopt_sleep.optimizer.proposed import EditsAnswer, made_edit
from skillopt_sleep.optimizer.trials import Trial, describe, failing, succeeding

T = TypeVar("T")
Patch = tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What one step's trials taught.

    Attributes:
        failures: One patch per minibatch of trials with something to mend, in order.
        successes: One patch per minibatch of trials that went well, in order.
        silent: Minibatches that yielded no usable answer.
    """

    failures: tuple[Patch, ...] = ()
    successes: tuple[Patch, ...] = ()
    silent: int = 0


def reflect(
    advisor: Advisor, brief: Brief, found: Sequence[Trial], settings: OptimizerSettings
) -> Reflection:
    """Return the patches that the trials suggest.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    bad = minibatches(failing(found), settings.minibatch_size)
    good = minibatches(succeeding(found), settings.minibatch_size)
    aware = settings.skill_aware
    prompts = [
        *(_prompt(brief, batch, FAILURES, skill_aware=aware) for batch in bad),
        *(_prompt(brief, batch, SUCCESSES, skill_aware=aware) for batch in good),
    ]
    answers = advisor.ask_all(prompts, EditsAnswer)
    patches = [
        _patch(answer, batch, brief.budget, skill_aware=aware) if answer else ()
        for answer, batch in zip(answers, [*bad, *good], strict=True)
    ]
    return Reflection(
        failures=tuple(patch for patch in patches[: len(bad)] if patch),
        successes=tuple(patch for patch in patches[len(bad) :] if patch),
        silent=sum(answer is None for answer in answers),
    )


def minibatches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return ``items`` in runs of at most ``size``, in order."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def labelled(batch: Sequence[Trial]) -> str:
    """Return a minibatch as the optimizer reads it, its trials labelled T1, T2, …."""
    return "\n\n".join(describe(trial, f"T{number}") for number, trial in enumerate(batch, 1))


def _prompt(brief: Brief, batch: Sequence[Trial], words: str, *, skill_aware: bool) -> Prompt:
    system = f"{words}\n{SKILL_AWARE}" if skill_aware else words
    return question(Stage.REFLECT, system, brief.words(), f"# Trials\n{labelled(batch)}")


def _patch(
    answer: EditsAnswer, batch: Sequence[Trial], budget: int | None, *, skill_aware: bool
) -> Patch:
    shown = {f"T{number}": trial.task for number, trial in enumerate(batch, 1)}
    made = [made_edit(one, shown, skill_aware=skill_aware) for one in answer.edits]
    return tuple(edit for edit in made if edit is not None)[:budget]
