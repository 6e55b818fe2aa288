"""Checks by rule: what the answer and the code contain, how long it is, which commands it ran.

Letters: a text without capitals is looked for in any case, one with a capital as it stands;
regular expressions, tools and commands likewise count as written unless the pattern says ``(?i)``
(tools in any case). A text is looked for as whole words ("npm" is not in "pnpm"; a plural s is
let through), white space and Unicode forms aside. No model is asked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import regex

from skillopt_sleep.backends import Backend
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges import Judge
from skillopt_sleep.judges.shell import ran
from skillopt_sleep.judges.substance import count_words, lacks_substance
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import World

PATTERN_TIMEOUT_S = 0.5

_HEADING = regex.compile(
    r"^\s*(?:#{1,6}\s+(?P<a>.+?)\s*#*|\*\*(?P<b>[^*]+)\*\*:?|(?P<c>[^:]+):)\s*$"
)


class RulesJudge:
    """Decides the operators from ``contains`` to ``command_not_ran``."""

    def __init__(self, _world: World, _backend: Backend | None = None) -> None:
        pass

    def verdict(self, check: Check, task: Task, outcome: Outcome) -> Verdict:
        """Return whether ``outcome`` meets ``check``; see ``Judge.verdict``."""
        decide = _DECIDE.get(check.operator)
        if decide is None:
            raise ConfigError(f"the judge 'rules' does not know the operator {check.operator!r}")
        if empty := lacks_substance(outcome):
            return Verdict(check=check.id, passed=False, share=0.0, reason=empty)
        passed, reason = decide(check, outcome)
        return Verdict(check=check.id, passed=passed, share=float(passed), reason=reason)


Decided = tuple[bool, str]


def _text(outcome: Outcome) -> str:
    # What was taken out of a file is not what the attempt says.
    added = [
        line[1:]
        for line in outcome.diff.splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]
    return "\n".join([outcome.answer, *added])


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def contains(text: str, wanted: str) -> bool:
    """Return whether ``wanted`` stands in ``text`` as whole words; see the head of this file."""
    needle, hay = _normal(wanted), _normal(text)
    if not needle:
        return False
    if needle == needle.lower():
        hay = hay.lower()
    before = r"(?<![0-9A-Za-z_])" if regex.match(r"[0-9A-Za-z_]", needle) else ""
    after = ""
    if regex.search(r"[A-Za-z]$", needle):
        after = r"(?:e?s)?(?![0-9A-Za-z_])"
    elif regex.search(r"[0-9_]$", needle):
        after = r"(?![0-9A-Za-z_])"
    return regex.search(before + regex.escape(needle) + after, hay) is not None


def _contains(check: Check, outcome: Outcome) -> Decided:
    there = contains(_text(outcome), check.value)
    return there, f"{check.value!r} is {'there' if there else 'missing'}"


def _not_contains(check: Check, outcome: Outcome) -> Decided:
    there = contains(_text(outcome), check.value)
    return not there, f"{check.value!r} is {'there' if there else 'not there'}"


def _search(check: Check, outcome: Outcome) -> bool | None:
    # None where the pattern took too long, which proves neither side.
    try:
        pattern = regex.compile(check.value, regex.MULTILINE)
    except regex.error as error:
        raise ConfigError(
            f"check {check.id!r} has the pattern {check.value!r}, which is not a regular"
            f" expression: {error}; mend it"
        ) from None
    try:
        return pattern.search(_text(outcome), timeout=PATTERN_TIMEOUT_S) is not None
    except TimeoutError:
        return None


def _regex(check: Check, outcome: Outcome) -> Decided:
    found = _search(check, outcome)
    if found is None:
        return False, f"the pattern {check.value!r} took too long"
    return found, f"{check.value!r} {'matches' if found else 'does not match'}"


def _not_regex(check: Check, outcome: Outcome) -> Decided:
    found = _search(check, outcome)
    if found is None:
        return False, f"the pattern {check.value!r} took too long"
    return not found, f"{check.value!r} {'matches' if found else 'does not match'}"


def _section(check: Check, outcome: Outcome) -> Decided:
    wanted = _normal(check.value).lstrip("# ").rstrip(": ").casefold()
    inside = seen = False
    for line in outcome.answer.splitlines():
        title = _title(line)
        if title is not None:
            inside = title == wanted
            seen = seen or inside
        elif inside and line.strip():
            return True, f"the section {check.value!r} is there"
    return False, f"the section {check.value!r} is {'empty' if seen else 'missing'}"


def _title(line: str) -> str | None:
    found = _HEADING.match(line)
    if found is None:
        return None
    return _normal(found["a"] or found["b"] or found["c"] or "").rstrip(": ").casefold()


def _limit(check: Check) -> int:
    try:
        return int(check.value)
    except ValueError:
        raise ConfigError(
            f"check {check.id!r} wants a whole number of words and has {check.value!r}; mend it"
        ) from None


def _max_words(check: Check, outcome: Outcome) -> Decided:
    words = count_words(outcome.answer)
    return words <= _limit(check), f"{words} words, at most {check.value}"


def _min_words(check: Check, outcome: Outcome) -> Decided:
    words = count_words(outcome.answer)
    return words >= _limit(check), f"{words} words, at least {check.value}"


def _called(check: Check, outcome: Outcome) -> bool:
    return check.value.casefold() in {name.casefold() for name in outcome.tools}


def _tool_called(check: Check, outcome: Outcome) -> Decided:
    called = _called(check, outcome)
    return called, f"the tool {check.value!r} was {'called' if called else 'not called'}"


def _tool_not_called(check: Check, outcome: Outcome) -> Decided:
    called = _called(check, outcome)
    return not called, f"the tool {check.value!r} was {'called' if called else 'not called'}"


def _command_ran(check: Check, outcome: Outcome) -> Decided:
    there = ran(check.value, outcome.commands)
    return there, f"{check.value!r} was {'run' if there else 'not run'}"


def _command_not_ran(check: Check, outcome: Outcome) -> Decided:
    there = ran(check.value, outcome.commands)
    return not there, f"{check.value!r} was {'run' if there else 'not run'}"


_DECIDE: dict[Operator, Callable[[Check, Outcome], Decided]] = {
    Operator.CONTAINS: _contains,
    Operator.NOT_CONTAINS: _not_contains,
    Operator.REGEX: _regex,
    Operator.NOT_REGEX: _not_regex,
    Operator.SECTION: _section,
    Operator.MAX_WORDS: _max_words,
    Operator.MIN_WORDS: _min_words,
    Operator.TOOL_CALLED: _tool_called,
    Operator.TOOL_NOT_CALLED: _tool_not_called,
    Operator.COMMAND_RAN: _command_ran,
    Operator.COMMAND_NOT_RAN: _command_not_ran,
}

_CONFORMS: type[Judge] = RulesJudge
