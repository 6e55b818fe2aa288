"""An edit on a skill document, bounded by the edit budget (the textual learning rate)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skillopt_sleep.model.check import Evidence


class EditKind(StrEnum):
    """What an edit does to the learned rules."""

    ADD = "add"
    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change.

    Attributes:
        kind: What it does.
        text: The new rule, several lines allowed; "" for delete.
        anchor: Rule id, or text that must match exactly once outside code fences; "" for add.
        why: One sentence of the optimizer's, for the human.
        support: How many attempts or tasks motivated it, >= 0.
        evidence: The turns it goes back to.
        tasks: Train task ids that motivated it.
    """

    kind: EditKind
    text: str = ""
    anchor: str = ""
    why: str = ""
    support: int = 0
    evidence: tuple[Evidence, ...] = ()
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind is not EditKind.DELETE and not self.text.strip():
            raise ValueError(f"an edit of kind {self.kind} needs a text")
        if self.kind is not EditKind.ADD and not self.anchor:
            raise ValueError(f"an edit of kind {self.kind} needs an anchor")


class ApplyStatus(StrEnum):
    """What became of an edit."""

    APPLIED = "applied"
    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    PROTECTED = "protected"
    DUPLICATE = "duplicate"
    CONTRADICTS = "contradicts"
    TOO_LARGE = "too_large"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One edit and what became of it.

    Attributes:
        edit: The edit as asked.
        status: What became of it.
        reason: One sentence where it was not applied.
        rule: Id of the rule it touched, or "".
    """

    edit: Edit
    status: ApplyStatus
    reason: str = ""
    rule: str = ""
