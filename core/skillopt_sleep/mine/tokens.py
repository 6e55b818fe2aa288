"""Human words as tokens: folded, split at word borders, matched by small phrase patterns.

Knows no language; the phrases of each are in ``lexicon.py``.
"""

# ruff: noqa: RUF001 - marks of other scripts are what this file is about

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import regex

_LATIN_MARK = regex.compile(r"(?<=\p{Latin})\p{Mn}+")
_WORD = regex.compile(r"[\p{L}\p{N}_]+(?:['-][\p{L}\p{N}_]+)*|[.,;:!?\n]|(?<=\s)[-–—]+(?=\s)")
_PUNCTUATION = str.maketrans(
    {"’": "'", "‘": "'", "、": ",", "，": ",", "。": ".", "！": "!", "？": "?", "；": ";"}
    | {"：": ":", "…": ".", "¿": "", "¡": "", "ł": "l", "ı": "i", "ё": "е", "ø": "o"}
)
_SCRIPTS = (
    ("ja", regex.compile(r"[\p{Hiragana}\p{Katakana}]")),
    ("ko", regex.compile(r"\p{Hangul}")),
    ("zh", regex.compile(r"\p{Han}")),
)
_TIMEOUT_S = 1.0
_CAP = 4000

_START = r"^ (?:(?:FILLERS|[.,!;:?]) )*"
_CLAUSE = r"(?:^| [.,!;:?-])(?: (?:FILLERS))* "


def fold(text: str) -> str:
    """Return ``text`` in NFKC lower case, Latin accents dropped, punctuation made plain."""
    lowered = unicodedata.normalize("NFKC", text[:_CAP]).casefold().translate(_PUNCTUATION)
    bare = _LATIN_MARK.sub("", unicodedata.normalize("NFD", lowered))
    return unicodedata.normalize("NFC", bare)


def tokens(text: str) -> list[str]:
    """Return words and clause marks of ``text``, folded; a line break counts as a full stop."""
    found: list[str] = _WORD.findall(fold(text))
    return ["." if t == "\n" else "," if t[0] in "-–—" else t for t in found]


def words(text: str) -> list[str]:
    """Return the words of ``text``, folded, without punctuation."""
    return [token for token in tokens(text) if token[0] not in ".,;:!?"]


def script(text: str) -> str:
    """Return "ja", "ko" or "zh" where ``text`` is written without spaces, else ""."""
    return next((name for name, sign in _SCRIPTS if sign.search(text)), "")


def ends_asking(text: str) -> bool:
    """Whether ``text`` ends with a question mark of any script."""
    return text.rstrip().endswith(("?", "？"))


def line(text: str) -> str:
    """Return the tokens of ``text`` in one line, each between single spaces."""
    return f" {' '.join(tokens(text))} "


class Phrases:
    """A set of phrase patterns over token lines.

    In a pattern, a blank parts tokens, ``a|b`` is a choice, ``_`` is any one token and ``*`` up
    to four words. Patterns are folded as the text is.
    """

    def __init__(
        self, patterns: Iterable[str], *, anchor: str = "", fillers: tuple[str, ...] = ()
    ) -> None:
        head = {"start": _START, "clause": _CLAUSE}.get(anchor, " ")
        head = head.replace("FILLERS", "|".join(fillers) or "(?!)")
        body = "|".join(sorted({_compiled(pattern) for pattern in patterns}))
        self._pattern = regex.compile(f"{head}(?:{body})(?= )")

    def found(self, token_line: str) -> bool:
        """Whether one of the phrases stands in ``token_line``."""
        return bool(self._pattern.search(token_line, timeout=_TIMEOUT_S))

    def without(self, token_line: str) -> str:
        """Return ``token_line`` with each phrase replaced by a comma."""
        return self._pattern.sub(" ,", token_line, timeout=_TIMEOUT_S)


def _compiled(pattern: str) -> str:
    parts: list[str] = []
    for token in pattern.removesuffix(" *").split():
        if token == "*":
            parts.append(r"(?:[^\s.!?;]+ ){0,4}")
        elif token == "_":
            parts.append(r"[^\s.,!?;:]+ ")
        else:
            choices = "|".join(
                fold(c).replace(".", r"\.").replace("~", r"[^\s.,!?;:]*") for c in token.split("|")
            )
            parts.append(f"(?:{choices}) ")
    return "".join(parts).removesuffix(" ")
