"""What the text of a rule may hold, and how it is tidied before it is kept."""

from __future__ import annotations

import re
import unicodedata

from skillopt_sleep.model.skill import fenced_lines

MAX_CHARACTERS = 2000
"""Most characters of one rule."""

_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
_COMMENT = re.compile(r"<!--|<!\[CDATA\[")


def clean(text: str) -> str:
    """Return ``text`` with line feeds, in NFC, without outer blanks and leading bullet."""
    plain = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    rows = [row.rstrip() for row in plain.strip().split("\n")]
    return _BULLET.sub("", "\n".join(rows), count=1).strip()


def unfit(text: str) -> str:
    """Return why ``text`` cannot be a rule, or ""."""
    if not text:
        return "the rule is empty; write what to do"
    if len(text) > MAX_CHARACTERS:
        return f"the rule has {len(text)} characters; at most {MAX_CHARACTERS} are wanted"
    if found := _COMMENT.search(text):
        return f"the rule holds an HTML comment ({found.group()!r}); write it as plain text"
    if hidden := next((c for c in text if _hidden(c)), ""):
        name = unicodedata.name(hidden, f"U+{ord(hidden):04X}")
        return f"the rule holds an invisible character ({name}); write it as plain text"
    lines = text.split("\n")
    if fenced_lines(lines[:1])[0]:
        return "the rule begins with a code fence; begin with words"
    if fenced_lines([*lines, ""])[-1]:
        return "the rule holds a code fence that is never closed; close it"
    return ""


def _hidden(character: str) -> bool:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp", "Cs", "Co", "Cn"):
        return True
    return category in ("Cc", "Cf") and character not in "\n\t"
