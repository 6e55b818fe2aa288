"""A check: one machine-readable demand on an attempt, with proof that it can tell good from bad."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """What a check compares; the judge that owns the operator interprets ``Check.value``.

    Judge ``rules`` owns contains to command_not_ran, ``exact`` owns equals and f1,
    ``commands`` owns command_passes and file_contains, ``rubric`` owns rubric.
    """

    CONTAINS = "contains"
    NOT_CONTAINS = "not_contains"
    REGEX = "regex"
    NOT_REGEX = "not_regex"
    SECTION = "section"
    MAX_WORDS = "max_words"
    MIN_WORDS = "min_words"
    TOOL_CALLED = "tool_called"
    TOOL_NOT_CALLED = "tool_not_called"
    COMMAND_RAN = "command_ran"
    COMMAND_NOT_RAN = "command_not_ran"
    EQUALS = "equals"
    F1 = "f1"
    COMMAND_PASSES = "command_passes"
    FILE_CONTAINS = "file_contains"
    RUBRIC = "rubric"


JUDGE_OF: dict[Operator, str] = {
    **dict.fromkeys(
        (
            Operator.CONTAINS,
            Operator.NOT_CONTAINS,
            Operator.REGEX,
            Operator.NOT_REGEX,
            Operator.SECTION,
            Operator.MAX_WORDS,
            Operator.MIN_WORDS,
            Operator.TOOL_CALLED,
            Operator.TOOL_NOT_CALLED,
            Operator.COMMAND_RAN,
            Operator.COMMAND_NOT_RAN,
        ),
        "rules",
    ),
    Operator.EQUALS: "exact",
    Operator.F1: "exact",
    Operator.COMMAND_PASSES: "commands",
    Operator.FILE_CONTAINS: "commands",
    Operator.RUBRIC: "rubric",
}

SHAPE_ONLY = frozenset({Operator.SECTION, Operator.MAX_WORDS, Operator.MIN_WORDS})


class Validity(StrEnum):
    """What is known of a check's power to tell good from bad."""

    PROVEN = "proven"
    """Passes on the recorded good outcome and fails on the recorded bad one."""
    REVIEWED = "reviewed"
    """A human wrote or confirmed it."""
    UNPROVEN = "unproven"
    """There was no pair of recorded outcomes to try it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where in the logs something comes from.

    Attributes:
        session: Our session id.
        turn: Turn index in it.
        role: Who spoke: "human", "assistant" or "tool". Only "human" may become an instruction.
        quote: The words, redacted, at most 500 characters.
    """

    session: str
    turn: int
    role: str = "human"
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One demand on an attempt.

    Attributes:
        id: Stable id, unique within its task.
        operator: What is compared.
        value: The operand: text, pattern, number as text, command, or rubric.
        weight: Share in the soft score, > 0.
        validity: What is known of its power.
        evidence: Where it comes from.
        note: One line for the human.
    """

    id: str
    operator: Operator
    value: str
    weight: float = 1.0
    validity: Validity = Validity.UNPROVEN
    evidence: tuple[Evidence, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if self.weight <= 0:
            raise ValueError(f"weight must be positive, got {self.weight}")
        if not self.value:
            raise ValueError(f"check {self.id!r} has no value")

    @property
    def judge(self) -> str:
        """Registry name of the judge that decides it."""
        return JUDGE_OF[self.operator]
