"""More to train on: variants dreamed up of train tasks, and similar ones recalled from the archive.

Both give train tasks only; a held-out task is neither varied nor recalled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.model.wording import alike
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import question
from skillopt_sleep.optimizer.instructions import DREAM
from skillopt_sleep.optimizer.quoting import quote

DREAMED = "~dream"
"""Stands in the id of a variant, between the task's id and its number."""


class DreamAnswer(Answer):
    """Variants of a request."""

    requests: tuple[str, ...] = ()


def dream(advisor: Advisor, tasks: Sequence[Task], factor: int) -> tuple[Task, ...]:
    """Return up to ``factor`` variants of each train task, to be judged by the same checks.

    A task with a known right answer is not varied, since another request has another answer.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    able = [t for t in tasks if t.split is Split.TRAIN and not t.reference and DREAMED not in t.id]
    if factor < 1 or not able:
        return ()
    prompts = [
        question(Stage.REFLECT, DREAM, f"Write {factor} variants of:\n{quote(task.prompt)}")
        for task in able
    ]
    answers = advisor.ask_all(prompts, DreamAnswer)
    return tuple(
        replace(task, id=f"{task.id}{DREAMED}{number}", prompt=text.strip(), pinned=False)
        for task, answer in zip(able, answers, strict=True)
        for number, text in enumerate(answer.requests[:factor] if answer else (), 1)
        if text.strip() and text.strip() != task.prompt.strip()
    )


def recall(tasks: Sequence[Task], archive: Sequence[Task], k: int) -> tuple[Task, ...]:
    """Return the ``k`` train tasks of ``archive`` most like each of ``tasks``, each once.

    Ties go to the smaller id; tasks without a shared word are not recalled.
    """
    there = {task.id for task in tasks}
    able = [t for t in archive if t.split is Split.TRAIN and t.checks and t.id not in there]
    found: dict[str, Task] = {}
    for task in tasks:
        near = sorted(
            ((alike(task.prompt, one.prompt), one) for one in able),
            key=lambda pair: (-pair[0], pair[1].id),
        )
        found.update((one.id, one) for likeness, one in near[:k] if likeness > 0.0)
    return tuple(found.values())
