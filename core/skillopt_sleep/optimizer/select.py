"""Stage Select: edits ranked and cut to the textual learning rate of the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import Brief, question
from skillopt_sleep.optimizer.instructions import RANK, RANK_AND_CHOOSE
from skillopt_sleep.optimizer.proposed import numbered
from skillopt_sleep.optimizer.quoting import quote


class RankAnswer(Answer):
    """An order of edits by number, and how many of them to make."""

    order: tuple[int, ...] = ()
    keep: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The edits of a step.

    Attributes:
        edits: Those that are made, best first.
        ranking: All of them, best first.
        how: One sentence: who ranked, and what the cut was.
    """

    edits: tuple[Edit, ...]
    ranking: tuple[Edit, ...]
    how: str


def select(
    advisor: Advisor, brief: Brief, edits: Sequence[Edit], *, autonomous: bool = False
) -> Selection:
    """Rank ``edits`` and keep as many as ``brief.budget`` allows; None keeps all.

    The model is asked only if there is something to cut or to choose. Without a usable answer the
    better supported edits come first.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    by_support = tuple(sorted(edits, key=lambda edit: -edit.support))
    most = len(edits) if brief.budget is None else brief.budget
    if len(edits) <= (1 if autonomous else most):
        return Selection(edits=by_support, ranking=by_support, how="all fit the budget")
    prompt = question(
        Stage.SELECT,
        RANK_AND_CHOOSE if autonomous else RANK,
        brief.words(),
        f"# Edits\n{quote(numbered(by_support), cap=20_000)}",
    )
    answer = advisor.ask(prompt, RankAnswer)
    numbers = [n for n in dict.fromkeys(answer.order if answer else ()) if 1 <= n <= len(edits)]
    if answer is None or not numbers:
        how = f"ranked by support and cut to {most}, the optimizer gave no usable ranking"
        return Selection(edits=by_support[:most], ranking=by_support, how=how)
    ranking = tuple(by_support[n - 1] for n in numbers)
    if autonomous and answer.keep is not None:
        chosen = max(0, min(answer.keep, most))
        how = f"ranked by the optimizer, which chose {chosen} of at most {most}"
        return Selection(edits=ranking[:chosen], ranking=ranking, how=how)
    how = f"ranked by the optimizer and cut to {most}"
    return Selection(edits=ranking[:most], ranking=ranking, how=how)
