"""What an edit to a skill document brings in that was not there: reach, concealment, disguise.

A pure comparison of two texts by patterns. It cannot tell a good purpose from a bad one; that is
the human's part, and a flag says where to look.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from skillopt_sleep.gate.speech import SPEECH
from skillopt_sleep.gate.trait import Severity, Trait
from skillopt_sleep.gate.wordlist import REACH

__all__ = ["Flag", "Severity", "capabilities"]

_EXCERPT = 120
_BEFORE = 64
_AFTER = 24

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|^\[//\]: #.*$", re.DOTALL | re.MULTILINE)
_OWN_COMMENT = re.compile(
    r"<!-- (?:/?skillopt-sleep:(?:rules|guidance)|(?:rule|note):[A-Za-z0-9_-]{1,40}) -->"
)
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_GREEK_LOOKALIKES = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧορνυκιϲ")

_NEGATION = re.compile(
    r"""(?x)
    (?: \b(?:never|don'?t|do\ not|avoid|instead\ of|rather\ than|not|forbid\w*|must\ not|refuse\ to
        |over|stop|prohibit\w*|no\ longer|nie|niemals|kein\w*|nicht|statt|vermeide\w*|jamais
        |évite\w*|au\ lieu\ de|nunca|evita\w*|en\ lugar\ de|en\ vez\ de|mai|invece\ di|evite
        |no\ (?:borres|toques|hagas|cambies|modifiques|instales|elimines|ejecutes|uses)
        |em\ vez\ de|никогда|не|вместо|избегай\w*)\b
      | 不要|禁止|别|避免|绝不|不得|而不是 )
    (?:[\s`'"*(]+[^\s,;:.!?]+){0,5} [\s`'"*(]* \Z
    """
)
_CLAUSE = re.compile(  # NFKC has made full-width marks plain
    r"[.!?;:。]\s|[\n,、。]| and | then | but | und | y | et "
)
_DOUBLE = re.compile(
    r"\b(?:hesitate|forget|fail|skip|worry|ask|tell|mention|wait|stop|warn|only|just|bother|omit)\b"
)
_FORBIDDEN_AFTER = re.compile(
    r"^[^。.!?\n]{0,16}(?:使わない|しない|禁止|避け|ではなく|代わりに|하지|대신|말고|is forbidden"
    r"|is not allowed|are not allowed|are forbidden|vermeiden|ist verboten|verwenden wir nicht)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One thing in an edit that a human should see.

    Attributes:
        kind: What it is, such as "url" or "invisible text".
        severity: What it asks for.
        excerpt: The place, visible characters only, at most 120 characters.
        reason: One sentence.
    """

    kind: str
    severity: Severity
    excerpt: str
    reason: str


def capabilities(before: str, after: str) -> tuple[Flag, ...]:
    """Return what ``after`` can do or hides that ``before`` could not or did not.

    Both are whole skill documents, or ``before`` is "" and ``after`` a rule by itself. Texts are
    compared in NFKC without invisible characters. At most one flag for each kind and excerpt, in
    the order: disguise first, then by kind.
    """
    flags = [*_front_matter(before, after), *_disguise(before, after)]
    old, new = _plain(before), _plain(after)
    for trait in (*SPEECH, *REACH):
        known = {_key(found[0]) for found in trait.pattern.finditer(old)}
        for found in _asked(trait, new):
            if _key(found[0]) not in known:
                known.add(_key(found[0]))
                flags.append(
                    Flag(
                        kind=trait.kind,
                        severity=trait.severity,
                        excerpt=_excerpt(new, found.start(), found.end()),
                        reason=trait.reason,
                    )
                )
    return tuple(flags)


def _asked(trait: Trait, text: str) -> Iterator[re.Match[str]]:
    """Yield what the text asks for, without what it forbids."""
    for found in trait.pattern.finditer(text):
        if not (trait.forbidden_is_fine and _is_forbidden(text, found.start(), found.end())):
            yield found


def _is_forbidden(text: str, start: int, end: int) -> bool:
    lead = _CLAUSE.split(text[max(0, start - _BEFORE) : start])[-1]
    if (negation := _NEGATION.search(lead)) and not _DOUBLE.search(lead[negation.start() :]):
        return True
    return _FORBIDDEN_AFTER.search(text[end : end + _AFTER]) is not None


def _front_matter(before: str, after: str) -> Iterator[Flag]:
    old, new = _FRONT.match(before), _FRONT.match(after)
    if before.strip() and (old[0] if old else "") != (new[0] if new else ""):
        changed = new[0] if new else "(front matter gone)"
        reason = "it changes the name, description or tools of the skill, which are not to change"
        yield Flag(
            kind="front matter",
            severity=Severity.BLOCK,
            excerpt=_visible(changed)[:_EXCERPT],
            reason=reason,
        )


def _disguise(before: str, after: str) -> Iterator[Flag]:
    for kind, reason, found in (
        ("invisible text", "it holds characters that nobody sees", _hidden),
        ("mixed alphabets", "a word mixes letters that only look alike", _mixed),
        ("comment", "it holds a comment that a reader of the page does not see", _comments),
        ("encoded text", "it holds text that a reader cannot read", _blobs),
    ):
        known = set(found(before))
        for excerpt in dict.fromkeys(found(after)):
            if excerpt not in known:
                yield Flag(
                    kind=kind,
                    severity=Severity.BLOCK,
                    excerpt=_visible(excerpt)[:_EXCERPT],
                    reason=reason,
                )


def _hidden(text: str) -> Iterator[str]:
    for at, char in enumerate(text):
        unseen = not char.isprintable() and char not in "\n\t\r " and not _joins(text, at)
        if unseen or _is_blank_letter(char):
            yield text[max(0, at - 20) : at + 20]


def _joins(text: str, at: int) -> bool:
    """Tell whether a joiner does its work: in an emoji, or in a script that needs it."""
    if text[at] not in "\u200c\u200d" or not 0 < at < len(text) - 1:
        return False
    return ord(text[at - 1]) > 0x5FF and ord(text[at + 1]) > 0x5FF


def _is_blank_letter(char: str) -> bool:
    """Tell whether a character counts as printable but shows nothing."""
    return char in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800" or (
        0xFE00 <= ord(char) <= 0xFE0E or 0xE0100 <= ord(char) <= 0xE01EF
    )


def _mixed(text: str) -> Iterator[str]:
    if text.isascii():
        return
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        latin = any(char.isascii() for char in word)
        if latin and any(
            "\u0400" <= char <= "\u052f" or char in _GREEK_LOOKALIKES for char in word
        ):
            yield word


def _comments(text: str) -> Iterator[str]:
    for found in _COMMENT.finditer(text):
        if not _OWN_COMMENT.fullmatch(found[0]):
            yield found[0]


def _blobs(text: str) -> Iterator[str]:
    for found in _BLOB.finditer(text):
        blob = found[0]
        mixed = blob.lower() != blob and blob.upper() != blob and re.search(r"\d", blob)
        if mixed and max(map(len, re.split(r"[/_-]", blob))) >= 24:
            yield blob


def _plain(text: str) -> str:
    """Return the text as it is compared: NFKC, lower case, nothing invisible, no own marks."""
    bare = _OWN_COMMENT.sub("", unicodedata.normalize("NFKC", text)).replace("\u2019", "'")
    shown = "".join(
        char
        for char in bare
        if char in "\n\t " or (char.isprintable() and not _is_blank_letter(char))
    )
    return shown.lower()


def _key(excerpt: str) -> str:
    return " ".join(excerpt.split())


def _excerpt(text: str, start: int, end: int) -> str:
    row = text.rfind("\n", 0, start) + 1
    begin = max(row, start - 24)
    stop = text.find("\n", end)
    return text[begin : min(stop if stop >= 0 else len(text), begin + _EXCERPT)].strip()


def _visible(text: str) -> str:
    """Return ``text`` with every hidden character written out as its code point."""
    return "".join(
        char
        if char == " " or (char.isprintable() and not _is_blank_letter(char))
        else f"<U+{ord(char):04X}>"
        for char in text
    )
