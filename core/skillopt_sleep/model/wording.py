"""How alike two rules are and whether they disagree, by their words.

Lexical and deterministic: it knows no synonyms beyond a short list of opposites and no language
model. A rule becomes a set of signed terms; a term under a negation carries the sign ``-``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Set
from functools import lru_cache

SAME_MEANING = 0.75
"""Two texts at least this alike say the same."""

_OPPOSED = 0.5
_MUCH = 0.4

_WORD = re.compile(r"[^\W_]+(?:[-_./'][^\W_]+)*|[.,;:!?\n]")
_END = re.compile(r"(?<=[.;!?])\s+|\n+")
_BOUNDARY = re.compile(r"[.;:!?\n]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATION = _words(
    "not no never avoid without don't dont doesn't mustn't shouldn't can't cannot won't stop"
    " refrain forbid forbidden prohibit omit skip nor"
)
_COMPARED = {("instead", "of"), ("rather", "than")}
_TURN = _words("use prefer instead only do run write call")
_EMPTY = _words(
    "a an the to of in on at by for from with and or is are be been it its this that these those"
    " you your we our i my always must should please make sure ensure when whenever if then than"
    " as so do does will would can may every each all use using used prefer only just"
    " instead rather want wants"
)
_OPPOSITES = {
    "disable": "enable",
    "disabled": "enable",
    "exclude": "include",
    "hide": "show",
    "deny": "allow",
    "after": "before",
    "lowercase": "uppercase",
    "reject": "accept",
    "remove": "add",
    "delete": "add",
}

_ONE_OF = (
    _words("english german french spanish italian portuguese dutch polish chinese japanese"),
    _words("tab tabs space"),
    _words("npm pnpm yarn bun"),
    _words("single double"),
    _words("snake_case camelcase kebab-case pascalcase"),
)
"""Values of which one excludes the others."""

Terms = frozenset[tuple[str, bool]]


def estimate_tokens(text: str) -> int:
    """Return roughly how many model tokens ``text`` takes: its UTF-8 bytes divided by four."""
    return math.ceil(len(text.encode()) / 4)


def normal(text: str) -> str:
    """Return ``text`` as it is compared: NFKC, lower case, straight quotes, single spaces."""
    straight = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(straight.split())


@lru_cache(maxsize=4096)
def terms(text: str) -> Terms:
    """Return the signed terms of a rule; False is the sign of a negated one.

    A negation reaches to the end of its clause, or to a word that turns it, as in
    "do not use npm but pnpm".
    """
    straight = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    words = _WORD.findall(straight)
    found: set[tuple[str, bool]] = set()
    asserted = True
    for before, word in zip(["", *words], words, strict=False):
        if word == "," or _BOUNDARY.fullmatch(word) or word == "but":
            asserted = asserted or word != ","
            continue
        asserted = asserted or (before == "," and word in _TURN)
        if word in _NEGATION or (before, word) in _COMPARED:
            asserted = False
        elif word not in _EMPTY:
            base = _OPPOSITES.get(word)
            found.add((_stem(base or word), asserted is (base is None)))
    return frozenset(found)


def alike(one: str, two: str) -> float:
    """Return how alike two texts are, in [0, 1]: shared signed terms over all signed terms."""
    if normal(one) == normal(two):
        return 1.0
    left, right = terms(one), terms(two)
    return len(left & right) / len(left | right) if left or right else 0.0


def says_same(one: str, two: str) -> bool:
    """Whether two rules say the same in nearly the same words."""
    return alike(one, two) >= SAME_MEANING and _numbers(one) == _numbers(two)


def covers(wide: str, narrow: str) -> bool:
    """Whether ``wide`` says all that ``narrow`` says and somewhat more."""
    left, right = terms(wide), terms(narrow)
    return bool(right) and right < left and len(right) / len(left) >= 0.5


def contradicts(one: str, two: str) -> bool:
    """Whether two rules cannot both be followed, sentence by sentence.

    Two sentences clash when they speak of the same things and one forbids what the other demands,
    or when they differ in nothing but a number.
    """
    return any(
        _clash(dict(sorted(terms(left))), dict(sorted(terms(right))))
        for left in _sentences(one)
        for right in _sentences(two)
    )


def _sentences(text: str) -> list[str]:
    return [one for one in _END.split(text) if one.strip()]


def _clash(left: Mapping[str, bool], right: Mapping[str, bool]) -> bool:
    shared = left.keys() & right.keys()
    opposed = sum(left[word] is not right[word] for word in shared)
    if not opposed:
        return _differ_in_value(left, right)
    if left.keys() == right.keys():
        return True
    choice = _chooses(left) or _chooses(right)
    if not choice and not (left.keys() <= right.keys() or right.keys() <= left.keys()):
        # Each has a matter of its own, so they are about different cases.
        return False
    smaller, larger = sorted((len(left), len(right)))
    enough = 0.5 if choice else 0.6
    same_matter = len(shared) >= enough * smaller and len(shared) >= _MUCH * larger
    return same_matter and opposed >= _OPPOSED * len(shared)


def _chooses(sentence: Mapping[str, bool]) -> bool:
    """Whether a sentence demands one thing and forbids another, as in "tabs, not spaces"."""
    return len(set(sentence.values())) == 2


def _differ_in_value(left: Mapping[str, bool], right: Mapping[str, bool]) -> bool:
    """Whether two demands differ in nothing but a number, or a value of which only one can be."""
    if not all(left.values()) or not all(right.values()):
        return False
    one, two = left.keys() - right.keys(), right.keys() - left.keys()
    if not one or not two:
        return False
    if left.keys() & right.keys() and one <= _digits(one) and two <= _digits(two):
        return True
    return any(one <= values and two <= values for values in _ONE_OF)


def _digits(words: Set[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[0].isdigit())


def _numbers(text: str) -> frozenset[str]:
    return _digits({word for word, _ in terms(text)})


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("s") and not word.endswith("ss") and word.isalpha():
        return word[:-1]
    return word
