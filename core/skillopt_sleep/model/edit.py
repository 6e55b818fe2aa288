"""An edit on a skill document, bounded by the edit budget (the textual learning rate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillopt_sleep.model.check import Evidence


class EditKind(StrEnum):
    """What an edit does to the learned rules.

    ``note`` adds a reminder to the appendix (a lapse of execution, not a defect of the skill);
    ``guide`` sets the protected guidance block, which no other kind can touch.
    """

    ADD = "add"
    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"
    NOTE = "note"
    GUIDE = "guide"


ANCHORED = frozenset({EditKind.INSERT_AFTER, EditKind.REPLACE, EditKind.DELETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change.

    Attributes:
        kind: What it does.
        text: The new rule, several lines allowed; "" for delete.
        anchor: Rule id, or text that must match exactly once outside code fences; "" for add,
            note and guide.
        why: One sentence of the optimizer's, for the human.
        support: How many attempts or tasks motivated it, >= 0.
        evidence: The turns it goes back to.
        tasks: Train task ids that motivated it.
        rule: Id to give the rule, or "" to derive one.
        verbatim: Exact bytes to put back or take out, only in an edit that undoes another.
    """

    kind: EditKind
    text: str = ""
    anchor: str = ""
    why: str = ""
    support: int = 0
    evidence: tuple[Evidence, ...] = ()
    tasks: tuple[str, ...] = ()
    rule: str = ""
    verbatim: str = ""

    def __post_init__(self) -> None:
        if self.kind is not EditKind.DELETE and not self.text.strip():
            raise ValueError(f"an edit of kind {self.kind} needs a text")
        if self.kind in ANCHORED and not self.anchor:
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
        reason: One sentence where it was not applied as asked.
        rule: Id of the rule it touched, or "".
    """

    edit: Edit
    status: ApplyStatus
    reason: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOrigin:
    """Where a learned rule comes from, kept beside the skill for ``skill blame``.

    Attributes:
        rule: Rule id.
        text: What the rule said when it was learned.
        why: The optimizer's sentence.
        tasks: Train tasks that motivated it.
        sessions: Sessions its evidence stands in, in order of appearance.
        evidence: The turns it goes back to.
        support: How many attempts or tasks motivated it, >= 0.
    """

    rule: str
    text: str
    why: str = ""
    tasks: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    support: int = 0

    @property
    def tainted(self) -> bool:
        """Whether nothing that a human typed supports it."""
        return not any(one.role == "human" for one in self.evidence)


def origins(applied: Sequence[Applied]) -> tuple[RuleOrigin, ...]:
    """Return the origin of every rule that applied edits brought in or changed, in order."""
    return tuple(
        RuleOrigin(
            rule=one.rule,
            text=one.edit.text,
            why=one.edit.why,
            tasks=one.edit.tasks,
            sessions=tuple(dict.fromkeys(e.session for e in one.edit.evidence if e.session)),
            evidence=one.edit.evidence,
            support=one.edit.support,
        )
        for one in applied
        if one.status is ApplyStatus.APPLIED and one.rule and one.edit.kind is not EditKind.DELETE
    )
