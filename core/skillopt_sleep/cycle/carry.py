"""Candidates of earlier nights put on tonight's live document; pure text work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.codec import text_hash
from skillopt_sleep.model.apply import Limits, apply_edits
from skillopt_sleep.model.edit import ANCHORED, ApplyStatus
from skillopt_sleep.model.proposal import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What became of the candidates that waited.

    Attributes:
        candidates: Those that go on, on the live document, same order.
        stale: Ids of those that no longer fit it.
    """

    candidates: tuple[Candidate, ...] = ()
    stale: tuple[str, ...] = ()


def carry(waiting: Sequence[Candidate], *, live: str, fresh_base: str, limits: Limits) -> Carried:
    """Return the waiting candidates as edits of the live document.

    The evidence goes on unless an edit is anchored in a document that has changed since, where
    it starts anew.

    Args:
        waiting: With their ids, edits and evidence.
        live: Text of the live skill, "" where there is none.
        fresh_base: What an edit is applied to where there is no live skill.
        limits: Caps on the learned region.
    """
    kept: list[Candidate] = []
    stale: list[str] = []
    base_hash = text_hash(live)
    for one in waiting:
        if one.base_hash == base_hash:
            kept.append(one)
            continue
        content, applied = apply_edits(live or fresh_base, one.edits, limits=limits)
        if not applied or any(each.status is not ApplyStatus.APPLIED for each in applied):
            stale.append(one.id)
            continue
        anchored = any(edit.kind in ANCHORED for edit in one.edits)
        kept.append(
            replace(
                one,
                base_hash=base_hash,
                content=content,
                evidence=None if anchored else one.evidence,
            )
        )
    return Carried(candidates=tuple(kept), stale=tuple(stale))
