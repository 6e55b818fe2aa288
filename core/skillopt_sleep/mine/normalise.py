"""The wording of a request without what changes from one occasion to the next.

Paths, addresses, hashes, numbers, dates and quoted code become one placeholder word a kind;
wrappers such as tags and fences go; verbs, nouns and the classes of errors stay. Works on any
language: scripts without spaces are kept as they are. Does not know what a request means.
"""

from __future__ import annotations

import re
import unicodedata

_TAGGED = re.compile(r"<([a-z][\w-]*)\b[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ERROR_CLASS = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Warning|Fault|Panic)\b")

# In order: a kind that can hold another (an address holds a path) comes first.
_MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]+", re.IGNORECASE), " URL "),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), " MAIL "),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), " HASH "),
    (
        re.compile(
            r"(?<![\w/.~$-])(?:[a-z]:\\|~?/|\.{1,2}/|\$\w+/)[^\s\"'`,;:()<>\[\]]+", re.IGNORECASE
        ),
        " PATH ",
    ),
    (re.compile(r"(?<![\w/])[\w.@-]+(?:/[\w.@-]+){2,}"), " PATH "),
    (re.compile(r"(?<![\w/])[\w.@-]+/[\w.@-]*\.[A-Za-z]\w{0,7}\b"), " PATH "),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE), " HASH "),
    (re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?\b"), " DATE "),
    (re.compile(r"\bv?\d+(?:\.\d+)+\b", re.IGNORECASE), " NUMBER "),
    (re.compile(r"(?<![\w])#?\d+(?:[.,:]\d+)*\b"), " NUMBER "),
)
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")
_WORDS_ONLY = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*", re.UNICODE)
_SPACE = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Return ``text`` in lower case, one line, with placeholders for what varies.

    The function is idempotent, and the same for every order of Unicode composition. An empty
    or wholly wrapped text gives its plainest remainder, at worst the empty string.
    """
    plain = unicodedata.normalize("NFKC", text)
    outside = _TAGGED.sub(" ", plain)
    plain = outside if outside.strip() else plain
    plain = _FENCE.sub(_fenced, plain)
    plain = _TAG.sub(" ", plain)
    plain = _QUOTED.sub(_quoted, plain)
    for pattern, placeholder in _MASKS:
        plain = pattern.sub(placeholder.lower(), plain)
    return _SPACE.sub(" ", plain).strip().casefold()


def _fenced(found: re.Match[str]) -> str:
    errors = sorted(set(_ERROR_CLASS.findall(found.group())))
    return " code " + " ".join(errors) + " "


def _quoted(found: re.Match[str]) -> str:
    inner = next(part for part in found.groups() if part is not None).strip()
    if _ERROR_CLASS.search(inner) or _WORDS_ONLY.fullmatch(inner):
        return f" {inner} "
    return " code "
