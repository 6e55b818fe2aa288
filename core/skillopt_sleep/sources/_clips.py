"""Cuts texts to what is kept, secrets replaced before the cut, many texts in one pass.

It knows how much of each text is kept only from its caller, and no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skillopt_sleep.redact import may_hold_secret, redact

HEAD, TAIL = 400, 600
"""Characters kept of the start and the end of what a tool gave back."""
MAX_ARGUMENTS = 4_000
"""Characters kept of a call's arguments."""
MAX_ASSISTANT = 4_000
"""Characters kept of one text of the agent."""
MAX_HUMAN = 200_000
"""Characters kept of one text of the human."""
_MARGIN = 128
"""Characters beyond a cut that go through ``redact`` at least; then on to the end of the line."""
_LINE = 4_096
"""Characters beyond a cut after which no end of a line is looked for any more."""
_BLOCK = 24_000
"""Characters of the longest private key, the only secret that spans many lines."""
CUT = "\n[… cut …]\n"
"""Stands where the middle of a text was left out."""
_BETWEEN = "\n\x00\n"


class Cut(NamedTuple):
    """A text to keep: its first ``head`` and its last ``tail`` characters.

    Attributes:
        text: The text as it stands in the log.
        windows: What of it is to be redacted: all, or whole lines that reach beyond what is kept.
        head: Characters kept of its start.
        tail: Characters kept of its end.
    """

    text: str
    windows: tuple[str, ...]
    head: int
    tail: int

    @property
    def weight(self) -> int:
        """Return about how many characters it costs until it is cut."""
        return len(self.windows[0]) * len(self.windows) + len(self.text) // 32

    def of(self, clean: Sequence[str]) -> str:
        """Return what is kept, from the redacted windows."""
        first, last = clean[0], clean[-1]
        if len(clean) == 1 and len(first) <= self.head + self.tail:
            return first
        return f"{first[: self.head]}{CUT}{last[len(last) - self.tail :]}"


def cut_of(text: str, head: int, tail: int) -> Cut:
    """Return the cut of ``text``, its characters that UTF-8 cannot hold mended."""
    whole = text if text.isascii() else mended(text)
    if len(whole) <= head + tail + 4 * _MARGIN:
        return Cut(text, (whole,), head, tail)
    before = _line_before(whole, len(whole) - tail)
    return Cut(text, (whole[: _line_after(whole, head)], whole[before:]), head, tail)


def mended(text: str) -> str:
    """Return ``text`` with "?" for what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clip(text: str, head: int = HEAD, tail: int = TAIL) -> str:
    """Return the first ``head`` and last ``tail`` characters of ``text``, secrets replaced."""
    return clipped([cut_of(text, head, tail)])[0]


def clipped(cuts: Sequence[Cut]) -> list[str]:
    """Return what is kept of each text, same order, secrets replaced."""
    clean = _redacted([part for cut in cuts for part in cut.windows])
    kept: list[str] = []
    at = 0
    for cut in cuts:
        end = at + len(cut.windows)
        kept.append(cut.of(clean[at:end]))
        at = end
    return kept


def _redacted(parts: list[str]) -> list[str]:
    """Return the texts redacted, most of them after one look, the others in one pass."""
    suspects = [place for place, part in enumerate(parts) if may_hold_secret(part)]
    found = _at_once([parts[place] for place in suspects])
    if any("<secret:" in part for part in found):
        return _at_once(parts)  # a value named in one text is replaced in its neighbours too
    clean = list(parts)
    for place, part in zip(suspects, found, strict=True):
        clean[place] = part
    return clean


def _at_once(parts: list[str]) -> list[str]:
    """Return the texts redacted in one pass, which costs half of many.

    A text that holds the separator, or a secret found across two texts, shows in the number of
    parts; then each is redacted by itself.
    """
    clean = redact(_BETWEEN.join(parts)).split(_BETWEEN)
    return clean if len(clean) == len(parts) else [redact(part) for part in parts]


def _line_after(text: str, cut: int) -> int:
    found = text.find("\n", cut + _MARGIN, cut + _LINE)
    return found if found >= 0 else cut + _LINE


def _line_before(text: str, cut: int) -> int:
    last = text[-_BLOCK:]
    if "PRIVATE KEY" in last or "Private-Lines" in last:
        return max(0, cut - _BLOCK)
    found = text.rfind("\n", max(0, cut - _LINE), max(0, cut - _MARGIN))
    return found if found >= 0 else max(0, cut - _LINE)
