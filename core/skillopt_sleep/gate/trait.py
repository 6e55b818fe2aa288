"""One thing that the capability check looks for, and what it asks for when found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """What a flag asks for."""

    BLOCK = "block"
    """The edit stays out."""
    SIGNOFF = "signoff"
    """A human must see the marked difference and agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """One thing to look for.

    Attributes:
        kind: Name of the capability.
        severity: What it asks for.
        reason: One sentence for the human.
        pattern: What it looks like.
        forbidden_is_fine: Whether a rule may name it in order to forbid it.
    """

    kind: str
    severity: Severity
    reason: str
    pattern: re.Pattern[str]
    forbidden_is_fine: bool = True


def any_of(*parts: str) -> re.Pattern[str]:
    """Return a pattern for any of the parts."""
    return re.compile("|".join(f"(?:{part})" for part in parts))
