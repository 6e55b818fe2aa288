"""Edits as the optimizer writes them in JSON, and what becomes of them as ours.

It gives support and evidence from the trials an edit names, never from the optimizer's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.edit import ANCHORED, Edit, EditKind
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.advisor import Answer
from skillopt_sleep.optimizer.trials import evidence_of

Operation = Literal["add", "insert_after", "replace", "delete"]


class EditAnswer(Answer):
    """One edit as the optimizer writes it."""

    op: Operation
    anchor: str = ""
    text: str = ""
    why: str = ""
    trials: tuple[str, ...] = ()
    cause: Literal["defect", "lapse"] = "defect"


class EditsAnswer(Answer):
    """Edits as the optimizer writes them, the most useful first."""

    edits: tuple[EditAnswer, ...] = ()


def made_edit(answer: EditAnswer, shown: Mapping[str, Task], *, skill_aware: bool) -> Edit | None:
    """Return an answer as an edit, None where it lacks its text or its anchor.

    Args:
        answer: As the optimizer wrote it.
        shown: The tasks of the trials it saw, by label; an answer that names none of them is
            held to come from all.
        skill_aware: Whether a lapse becomes a reminder rather than a rule.
    """
    kind = EditKind(answer.op)
    if skill_aware and answer.cause == "lapse" and kind is EditKind.ADD:
        kind = EditKind.NOTE
    text = "" if kind is EditKind.DELETE else answer.text.strip()
    anchor = answer.anchor.strip().strip("[]") if kind in ANCHORED else ""
    if (kind is not EditKind.DELETE and not text) or (kind in ANCHORED and not anchor):
        return None
    named = [shown[label] for label in answer.trials if label in shown] or list(shown.values())
    return Edit(
        kind=kind,
        text=text,
        anchor=anchor,
        why=" ".join(answer.why.split())[:300],
        support=len({task.id for task in named}),
        evidence=tuple(dict.fromkeys(one for task in named for one in evidence_of(task))),
        tasks=tuple(dict.fromkeys(task.id for task in named)),
    )


def backed(edit: Edit, sources: Iterable[Edit]) -> Edit:
    """Return ``edit`` with the tasks, evidence and support of all its sources."""
    known = list(sources)
    tasks = tuple(dict.fromkeys(task for one in known for task in one.tasks))
    evidence: tuple[Evidence, ...] = tuple(
        dict.fromkeys(turn for one in known for turn in one.evidence)
    )
    support = max([len(tasks), *(one.support for one in known)])
    return replace(edit, tasks=tasks, evidence=evidence, support=support)


def numbered(edits: Sequence[Edit], *, first: int = 1) -> str:
    """Return edits as a numbered list for the optimizer."""
    return "\n".join(
        f"{number}. {edit.kind}{f' [{edit.anchor}]' if edit.anchor else ''}"
        f" (support {edit.support}): {edit.text or '(no text)'} -- {edit.why}"
        for number, edit in enumerate(edits, first)
    )
