"""What can be said of a candidate before any attempt is paid for: flags from texts alone.

Pure; it knows no score. It decides nothing: a ``block`` keeps an edit out, a ``signoff`` leaves it
to a human and never to auto-adoption.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from skillopt_sleep.gate.capability import Flag, Severity, capabilities
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.wording import says_same
from skillopt_sleep.redact import redact

GRAM = 5
"""Words in a row that count as copied."""

_SHORT = 3
_EXCERPT = 120
_SECRET = re.compile(r"<secret:[a-z]+:[0-9a-f]{4}>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
# Scripts without blanks have no words to count; there a run of characters stands for one.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]")


def static_flags(
    *,
    before: str,
    after: str,
    edits: Sequence[Edit],
    held_out_prompts: Sequence[str],
    judge_strings: Sequence[str],
    rejected: Sequence[str],
    max_edits: int,
) -> tuple[Flag, ...]:
    """Return what speaks against a candidate without trying it; empty for an ordinary good one.

    Args:
        before: The live skill document.
        after: The candidate.
        edits: What leads from one to the other.
        held_out_prompts: Prompts of the tasks that the optimizer must not know.
        judge_strings: Operands and rubrics of the checks. Those of fewer than 3 words are not
            compared, nor what stands in code spans: a rule has to name what a check looks for.
        rejected: Texts of edits that the gate turned down and still remembers.
        max_edits: Most edits that a night may make, >= 1.
    """
    return (
        *_secrets(before, after),
        *capabilities(before, after),
        *_tainted(edits),
        *_copied(before, edits, held_out_prompts, "held-out prompt"),
        *_copied(before, [_without_code(edit) for edit in edits], judge_strings, "check"),
        *_known_rejects(edits, rejected),
        *_too_many(edits, max_edits),
    )


def _secrets(before: str, after: str) -> Iterator[Flag]:
    known = set(_SECRET.findall(redact(before)))
    for placeholder in dict.fromkeys(_SECRET.findall(redact(after))):
        if placeholder not in known:
            reason = "it holds what looks like a secret"
            yield Flag(kind="secret", severity=Severity.BLOCK, excerpt=placeholder, reason=reason)


def _tainted(edits: Sequence[Edit]) -> Iterator[Flag]:
    for edit in edits:
        if edit.kind is EditKind.DELETE:
            continue
        if not any(one.role == "human" for one in edit.evidence):
            roles = ", ".join(sorted({one.role for one in edit.evidence})) or "nothing"
            yield Flag(
                kind="tainted",
                severity=Severity.SIGNOFF,
                excerpt=edit.text[:_EXCERPT],
                reason=f"no human's words support it, only: {roles}",
            )


def _copied(
    before: str, edits: Sequence[Edit], sources: Sequence[str], what: str
) -> Iterator[Flag]:
    known = _grams(before)
    hidden = [(source, _grams(source) - known) for source in sources]
    for edit in edits:
        # What the human said in the training tasks may be said again.
        said = (one.quote for one in edit.evidence if one.role == "human")
        grams = _grams(edit.text).difference(*map(_grams, said))
        for source, wanted in hidden:
            if shared := wanted & grams:
                yield Flag(
                    kind=f"copies a {what}",
                    severity=Severity.BLOCK,
                    excerpt=" ".join(min(shared))[:_EXCERPT],
                    reason=f"it repeats the words of a {what} it should not know",
                )
                break
            if _quotes(edit.text, before, source):
                yield Flag(
                    kind=f"copies a {what}",
                    severity=Severity.BLOCK,
                    excerpt=" ".join(_words(source))[:_EXCERPT],
                    reason=f"it quotes a {what} it should not know",
                )
                break


def _without_code(edit: Edit) -> Edit:
    return replace(edit, text=_CODE.sub(" ; ", edit.text) + " ") if edit.text else edit


def _quotes(text: str, before: str, source: str) -> bool:
    """Tell whether a source of 3 or 4 words, too short for a gram, stands in the text as it is."""
    words = _words(source)
    if not _SHORT <= len(words) < GRAM:
        return False
    sought = f" {' '.join(words)} "
    return sought in f" {' '.join(_words(text))} " and sought not in f" {' '.join(_words(before))} "


def _known_rejects(edits: Sequence[Edit], rejected: Sequence[str]) -> Iterator[Flag]:
    for edit in edits:
        said = edit.text or edit.anchor
        if any(says_same(said, old) for old in rejected):
            yield Flag(
                kind="rejected before",
                severity=Severity.BLOCK,
                excerpt=said[:_EXCERPT],
                reason="the gate has turned down an edit that says the same",
            )


def _too_many(edits: Sequence[Edit], max_edits: int) -> Iterator[Flag]:
    if len(edits) > max_edits:
        yield Flag(
            kind="too many edits",
            severity=Severity.BLOCK,
            excerpt=f"{len(edits)} edits",
            reason=f"at most {max_edits} are allowed at once",
        )


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(_UNSPACED.sub(lambda found: f" {found[0]} ", plain))


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    words = _words(text)
    size = GRAM if not _UNSPACED.search(text) else 2 * GRAM
    return frozenset(zip(*(words[at:] for at in range(size)), strict=False))
