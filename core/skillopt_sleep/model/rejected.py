"""Rejected edits: remembered by meaning, fading with time, in words without scores or tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.wording import covers, says_same

HALF_LIFE = 10.0
"""Rounds after which half of a rejection is forgotten; a night is a round, an epoch is so many."""

BLOCKS = 0.5
"""A rejection at least this strong keeps the edit out; a weaker one is only told."""

FORGOTTEN = 0.1
"""A rejection weaker than this is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedEdit:
    """One edit that the gate turned down.

    Attributes:
        kind: What it would have done.
        text: What it said; for a deletion, what it would have deleted.
        strength: Rejections it stands for, faded to ``round``, > 0; of a rejected union each of k
            edits has the k-th part.
        round: Number of the round, >= 0, that ``strength`` holds for; nights count in days.
    """

    kind: EditKind
    text: str
    strength: float = 1.0
    round: float = 0.0

    def faded(self, now: float) -> RejectedEdit:
        """Return it as it stands at round ``now``; going back in time changes nothing."""
        age = max(0.0, now - self.round)
        return replace(
            self, strength=self.strength * 0.5 ** (age / HALF_LIFE), round=max(now, self.round)
        )

    @property
    def words(self) -> str:
        """The edit for the optimizer to read."""
        return f"{self.kind}: {self.text}"


def rejections(edits: Sequence[Edit], now: float) -> tuple[RejectedEdit, ...]:
    """Return the edits of one rejected candidate, which share the blame."""
    share = 1.0 / max(1, len(edits))
    return tuple(
        RejectedEdit(kind=edit.kind, text=edit.text or edit.anchor, strength=share, round=now)
        for edit in edits
    )


def with_rejected(
    known: Sequence[RejectedEdit], new: Sequence[RejectedEdit], now: float
) -> tuple[RejectedEdit, ...]:
    """Return the buffer with ``new`` in it: what means the same is strengthened, not repeated.

    Oldest first; what has faded is gone.
    """
    kept = list(fresh(known, now))
    for one in new:
        place = next((n for n, old in enumerate(kept) if _means_same(old, one)), -1)
        strength = one.strength + (kept.pop(place).strength if place >= 0 else 0.0)
        kept.append(replace(one, strength=strength, round=now))
    return tuple(kept)


def fresh(known: Sequence[RejectedEdit], now: float) -> tuple[RejectedEdit, ...]:
    """Return what is still remembered at round ``now``, in order."""
    faded = (one.faded(now) for one in known)
    return tuple(one for one in faded if one.strength >= FORGOTTEN)


def rejects(known: Sequence[RejectedEdit], edit: Edit) -> bool:
    """Whether an edit of this meaning was rejected strongly enough to be kept out."""
    (wanted,) = rejections([edit], 0.0)
    return any(one.strength >= BLOCKS and _means_same(one, wanted) for one in known)


_ADDING = frozenset({EditKind.ADD, EditKind.INSERT_AFTER, EditKind.REPLACE})


def _means_same(one: RejectedEdit, two: RejectedEdit) -> bool:
    alike_kind = one.kind is two.kind or {one.kind, two.kind} <= _ADDING
    if not alike_kind or one.text == two.text:
        return alike_kind
    # What says more than the rejected edit has not been tried.
    return says_same(one.text, two.text) and not covers(two.text, one.text)
