"""Short answers against a known right one: equal after normalisation, or by shared words (F1).

Normalisation is SQuAD's: case, articles, punctuation and white space aside; points and signs of
numbers stay. Several right answers may be given as a JSON array of texts. No model is asked.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

import regex
from pydantic import TypeAdapter, ValidationError

from skillopt_sleep.backends import Backend
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges import Judge
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import World

_MARKED = regex.compile(r"<answer>(.*?)</answer>", regex.S | regex.I)
_LABELLED = regex.compile(
    r"^\W*(?:the\s+)?(?:final\s+)?answer\W*(?:is\b|:)\W*?(.+)$", regex.I | regex.M
)
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PUNCTUATION = regex.compile(
    r"(?<=\d)\.(?=\d)(*SKIP)(*FAIL)|(?<!\w)-(?=\d)(*SKIP)(*FAIL)|[^\w\s]|_"
)
_ARTICLES = regex.compile(r"\b(a|an|the)\b")
_UNSPACED = regex.compile(r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}])")
_TEXTS = TypeAdapter(list[str])


class ExactJudge:
    """Decides the operators ``equals`` and ``f1``; both pass on equality alone."""

    def __init__(self, _world: World, _backend: Backend | None = None) -> None:
        pass

    def verdict(self, check: Check, task: Task, outcome: Outcome) -> Verdict:
        """Return whether ``outcome`` meets ``check``; see ``Judge.verdict``."""
        if check.operator not in (Operator.EQUALS, Operator.F1):
            raise ConfigError(f"the judge 'exact' does not know the operator {check.operator!r}")
        given = final_answer(outcome.answer)
        right = _alternatives(check.value)
        if not normal(given):
            return Verdict(check=check.id, passed=False, share=0.0, reason="the answer is empty")
        passed = any(normal(given) == normal(one) for one in right)
        share = float(passed)
        if check.operator is Operator.F1:
            share = max(f1(given, one) for one in right)
        reason = f"{given[:80]!r} against {right[0][:80]!r}"
        return Verdict(check=check.id, passed=passed, share=share, reason=reason)


def final_answer(text: str) -> str:
    """Return the answer proper: what is marked or labelled as such last, else the whole text."""
    for pattern in (_MARKED, _LABELLED):
        if found := pattern.findall(text):
            return str(found[-1]).strip()
    return text.strip()


def normal(text: str) -> str:
    """Return ``text`` without what does not matter for equality."""
    folded = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", folded)).split())


def f1(given: str, right: str) -> float:
    """Return the harmonic mean of precision and recall over words, in [0, 1]."""
    one, two = (_UNSPACED.sub(r" \1 ", normal(text)).split() for text in (given, right))
    shared = sum((Counter(one) & Counter(two)).values())
    return 2.0 * shared / (len(one) + len(two)) if shared else 0.0


def _alternatives(value: str) -> list[str]:
    try:
        return _TEXTS.validate_json(value) or [value]
    except ValidationError:
        return [value]


_CONFORMS: type[Judge] = ExactJudge
