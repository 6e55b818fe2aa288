"""What is replaced by what: spans, placeholders, and the values that are no secrets."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from hashlib import sha256
from math import log2
from urllib.parse import unquote

_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)

_EXAMPLE = re.compile(
    r"""(?xi)
    ^ (?: x{3,} | [*.•…\#?_-]+ | 0+ | 123(?:4(?:5(?:6(?:7(?:8(?:90?)?)?)?)?)?)?
      | \$.* | %[A-Z_]+% | <.* | \{.* | \[.* | @.* | !.*ENV.* | env[:(.].* | AWS4-HMAC.*
      | os\.(?:environ|getenv).* | process\.env.* | import\.meta.*
      | (?:my|your|our|the|some|any|an?)[-_ ].* | my(?:secret|pass|token|key).*
      | none | null | nil | true | false | undefined | string | str | bytes | text | todo | tbd
      | n/?a | empty | unset | default | (?:file|vault|op|ref|arn|secretsmanager|ssm)://.* | arn:.*
      ) $
    | example | placeholder | change[-_]?me | change[-_]this | redacted | replace[-_]?(?:me|with)
    | insert[-_] | dummy | \byour[-_]?(?:api|token|key|secret|pass) | [*x]{5,} | \.\.\. | …
    | \$\{ | \{\{ | \$\( | <secret: | <email: | %[sdr]\b | user-[0-9a-f]{4} | lorem | abcdef0?123
    | abc-?123$ | ^foo | ^bar\d*$ | deadbeef | 0123456789
    """
)

_BOUNDARY = re.compile(r"(?:[A-Za-z0-9_]|:[0-9a-f]{4}>)\Z")
_ENCODED = re.compile(r"(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\x1b\[[0-9;]{0,8}m)\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """One replacement in a text.

    Attributes:
        start: First character that goes.
        end: First character that stays.
        replacement: What takes its place.
    """

    start: int
    end: int
    replacement: str


def digest(value: str) -> str:
    """Return 4 hex digits that are the same for every spelling (escaped, URL-encoded) of it."""
    plain = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], value)
    plain = html.unescape(unquote(plain, errors="replace"))
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:4]


def secret(kind: str, value: str) -> str:
    """Return the placeholder of a secret of this kind."""
    return f"<secret:{kind}:{digest(value)}>"


def fold(text: str) -> str:
    """Return ``text`` with ASCII letters in lower case, every character at its old position."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def is_example(value: str) -> bool:
    """Tell whether ``value`` stands for a secret without being one: ``xxx``, ``${TOKEN}``."""
    return _EXAMPLE.search(value) is not None or len(set(value)) < 3


def starts_word(text: str, at: int) -> bool:
    """Tell whether a word may start at ``at``: behind no letter, or behind an escape.

    A placeholder counts as a letter, so that it lays nothing bare.
    """
    before = text[max(0, at - 10) : at]
    return not _BOUNDARY.search(before) or _ENCODED.search(before) is not None


def words(text: str) -> frozenset[str]:
    """Return the blank-separated words of a table written as text."""
    return frozenset(text.split())


def bits(value: str) -> float:
    """Return the Shannon entropy of ``value`` in bits a character, 0 for the empty text."""
    size = len(value)
    counts = [value.count(char) for char in set(value)]
    return -sum(count / size * log2(count / size) for count in counts)


def is_random(value: str, *, least: int = 16) -> bool:
    """Tell whether ``value`` looks drawn rather than worded.

    It has at least ``least`` characters, letters and digits mixed, and no simple repetition.
    """
    if len(value) < least or not any(char.isdigit() for char in value):
        return False
    return any(char.isalpha() for char in value) and bits(value) >= min(3.0, log2(least) - 0.5)
