"""Slow update: guidance from the same requests under last epoch's and the present document."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import Brief, question
from skillopt_sleep.optimizer.instructions import SLOW
from skillopt_sleep.optimizer.trials import Trial, describe, evidence_of

SHOWN = 3
"""Trials shown in full per kind; of the others only the count is told."""


class GuidanceAnswer(Answer):
    """The guidance, or an empty text."""

    guidance: str = ""


def sort_trials(
    before: Sequence[Trial], after: Sequence[Trial]
) -> dict[str, tuple[tuple[Trial, Trial], ...]]:
    """Sort tasks that were tried under both documents, in the order of ``after``.

    Returns:
        Pairs (before, after) under improved, regressed, still failing and stable.
    """
    old = {trial.task.id: trial for trial in before}
    sorted_: dict[str, list[tuple[Trial, Trial]]] = {
        "improved": [],
        "regressed": [],
        "still failing": [],
        "stable": [],
    }
    for trial in after:
        if (was := old.get(trial.task.id)) is not None:
            sorted_[_kind(was, trial)].append((was, trial))
    return {kind: tuple(pairs) for kind, pairs in sorted_.items()}


def guide(
    advisor: Advisor, brief: Brief, before: Sequence[Trial], after: Sequence[Trial]
) -> Edit | None:
    """Return the edit that sets the guidance block, or None if there is nothing to say.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    kinds = sort_trials(before, after)
    rows: list[str] = []
    for kind, pairs in kinds.items():
        rows.append(f"# {kind.capitalize()}: {len(pairs)}")
        if kind != "stable":
            rows += [
                describe(now, f"{kind} {number}")
                for number, (_, now) in enumerate(pairs[:SHOWN], 1)
            ]
    answer = advisor.ask(question(Stage.SLOW, SLOW, brief.words(), *rows), GuidanceAnswer)
    if answer is None or not answer.guidance.strip():
        return None
    moved = [trial.task for kind, pairs in kinds.items() if kind != "stable" for _, trial in pairs]
    return Edit(
        kind=EditKind.GUIDE,
        text=answer.guidance.strip(),
        why="the larger lesson of the last epoch",
        support=len(moved),
        tasks=tuple(task.id for task in moved),
        evidence=tuple(dict.fromkeys(one for task in moved for one in evidence_of(task))),
    )


def _kind(before: Trial, after: Trial) -> str:
    if after.mean > before.mean:
        return "improved"
    if after.mean < before.mean:
        return "regressed"
    return "still failing" if after.bad else "stable"
