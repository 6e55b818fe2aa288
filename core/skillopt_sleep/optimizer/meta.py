"""Meta skill: what the optimizer learned about optimizing, for its own prompts only."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.legible import unfit
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import question
from skillopt_sleep.optimizer.instructions import META
from skillopt_sleep.optimizer.quoting import quote


class AdviceAnswer(Answer):
    """The optimizer's advice to itself."""

    advice: str = ""


def learn(
    advisor: Advisor, meta: str, *, accepted: Sequence[Edit], rejected: Sequence[Edit]
) -> str:
    """Return the meta skill after a round; of the gate it hears accepted or rejected, no more.

    Without edits or a usable answer it stays as it was.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    if not accepted and not rejected:
        return meta
    rows = [
        *(f"accepted: {edit.kind} {edit.text or edit.anchor}" for edit in accepted),
        *(f"rejected: {edit.kind} {edit.text or edit.anchor}" for edit in rejected),
    ]
    prompt = question(
        Stage.META,
        META,
        f"Your advice so far:\n{quote(meta or '(none)')}",
        "The last round:\n" + quote("\n".join(rows), cap=8000),
    )
    answer = advisor.ask(prompt, AdviceAnswer)
    advice = answer.advice.strip() if answer else ""
    return meta if not advice or unfit(advice) else advice
