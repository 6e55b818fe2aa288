"""Stage Aggregate: minibatch patches merged in a tree, failures and successes apart, then together.

The model is asked only where edits of different patches touch; patches that do not touch are put
together as they are. Support and evidence are those of the merged edits' sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from pydantic import Field

from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.wording import alike, contradicts, covers, says_same
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import Brief, question
from skillopt_sleep.optimizer.instructions import MERGE
from skillopt_sleep.optimizer.proposed import EditAnswer, backed, made_edit, numbered
from skillopt_sleep.optimizer.quoting import quote
from skillopt_sleep.optimizer.reflect import Patch, Reflection, minibatches

_TOUCH = 0.4
"""Two texts at least this alike may belong together."""


class MergedEdit(EditAnswer):
    """One merged edit and the numbers of those it was made from."""

    sources: tuple[int, ...] = Field(default=(), alias="from")


class MergeAnswer(Answer):
    """What became of a group of patches."""

    edits: tuple[MergedEdit, ...] = ()


def aggregate(
    advisor: Advisor, brief: Brief, reflection: Reflection, *, width: int
) -> tuple[Edit, ...]:
    """Return one patch made of all, edits from failures first.

    Args:
        advisor: Asked where patches touch.
        brief: The step's standing.
        reflection: The patches.
        width: How many patches are merged at a time, >= 2.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    bad = _tree(advisor, brief, reflection.failures, width)
    good = _tree(advisor, brief, reflection.successes, width)
    return _merge(advisor, brief, [bad, good])


def fold(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Merge by rule, without a model: the first of edits that say the same gets their support.

    Where a later one says more, the first says that too. Of two that disagree the first stays.
    """
    kept: list[Edit] = []
    for edit in edits:
        place = next((n for n, one in enumerate(kept) if _same(one, edit)), -1)
        if place >= 0:
            one = kept[place]
            wider = edit.text if covers(edit.text, one.text) else one.text
            kept[place] = backed(replace(one, text=wider), [one, edit])
        elif not any(_disagree(one, edit) for one in kept):
            kept.append(edit)
    return tuple(kept)


def _tree(advisor: Advisor, brief: Brief, patches: Sequence[Patch], width: int) -> Patch:
    level = list(patches)
    while len(level) > 1:
        level = [_merge(advisor, brief, group) for group in minibatches(level, width)]
    return fold(level[0]) if level else ()


def _merge(advisor: Advisor, brief: Brief, patches: Sequence[Patch]) -> Patch:
    folded = fold([edit for patch in patches for edit in patch])
    if len([patch for patch in patches if patch]) < 2 or not _touching(folded):
        return folded
    prompt = question(
        Stage.AGGREGATE,
        MERGE,
        brief.words(),
        f"# Edits, those with priority first\n{quote(numbered(folded), cap=20_000)}",
    )
    answer = advisor.ask(prompt, MergeAnswer)
    merged = [_merged(one, folded) for one in answer.edits] if answer else []
    return fold([edit for edit in merged if edit is not None]) or folded


def _merged(answer: MergedEdit, folded: Sequence[Edit]) -> Edit | None:
    sources = [folded[n - 1] for n in answer.sources if 1 <= n <= len(folded)]
    made = made_edit(answer, {}, skill_aware=False)
    if not sources or made is None:
        return None
    if all(one.kind is EditKind.NOTE for one in sources) and made.kind is EditKind.ADD:
        made = replace(made, kind=EditKind.NOTE)
    return backed(made, sources)


def _touching(edits: Sequence[Edit]) -> bool:
    return any(_touch(one, two) for one, two in combinations(edits, 2))


def _touch(one: Edit, two: Edit) -> bool:
    if one.anchor and one.anchor == two.anchor:
        return True
    if not one.text or not two.text:
        return False
    close = alike(one.text, two.text) >= _TOUCH or contradicts(one.text, two.text)
    return close or covers(one.text, two.text) or covers(two.text, one.text)


def _same(one: Edit, two: Edit) -> bool:
    if one.kind is not two.kind or one.anchor != two.anchor:
        return False
    return one.text == two.text or says_same(one.text, two.text)


def _disagree(one: Edit, two: Edit) -> bool:
    if one.anchor and one.anchor == two.anchor and one.kind is not two.kind:
        return "insert_after" not in (one.kind, two.kind)
    return bool(one.text and two.text) and contradicts(one.text, two.text)
