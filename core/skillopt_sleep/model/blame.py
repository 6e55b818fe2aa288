"""Where a rule of the live skill comes from, and whether it still earns its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a rule did when it was last left out.

    Attributes:
        rule: Rule id.
        text: What it said then.
        word: "earns" its place, "harms", is "idle" (nothing changed without it), or "unclear".
        e_value: Evidence that it helps; 1 is none.
        e_harm: Evidence that it harms; 1 is none.
        tasks: Task clusters it was tried on.
        at: When.
    """

    rule: str
    text: str
    word: str
    e_value: float
    e_harm: float
    tasks: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBlame:
    """One rule of the live skill.

    Attributes:
        rule: Rule id.
        text: What it says.
        note: Whether it is a reminder rather than a rule.
        proposal: Number of the adopted proposal that brought it in or changed it last; 0 where a
            person wrote it.
        adopted_at: When that was.
        edited: Whether a person changed that proposal after the gate.
        why: The optimizer's sentence.
        tasks: Train tasks that motivated it.
        sessions: Sessions its evidence stands in.
        quotes: Words of the human behind it, in order.
        evidence: What let it in, one line; "" where a person wrote it.
        since: What was seen of that proposal since adoption, or "".
        worth: What it did when it was last left out; None if it never was.
    """

    rule: str
    text: str
    note: bool = False
    proposal: int = 0
    adopted_at: datetime | None = None
    edited: bool = False
    why: str = ""
    tasks: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    evidence: str = ""
    since: str = ""
    worth: Worth | None = None
