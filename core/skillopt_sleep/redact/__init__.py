"""Secrets out, placeholders in: pure text to text, once, on entry; knows no log format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillopt_sleep.redact.glance import may_hold_secret
from skillopt_sleep.redact.identity import identity_spans
from skillopt_sleep.redact.keyblocks import key_block_spans
from skillopt_sleep.redact.named import named_spans
from skillopt_sleep.redact.providers import provider_spans
from skillopt_sleep.redact.span import Span, fold, is_random
from skillopt_sleep.redact.urls import url_spans

__all__ = ["may_hold_secret", "redact"]

_TELLING = 12


def redact(text: str) -> str:
    """Return ``text`` with every secret that is known replaced by a stable placeholder.

    Secrets become ``<secret:KIND:HASH>``, e-mail addresses ``<email:HASH>`` and the user's name in
    a home folder ``user-HASH``, where HASH is 4 hex digits of the value's digest: equal values
    give equal placeholders in every text. Redacting twice changes nothing more.
    """
    if not may_hold_secret(text):
        return text
    # A replacement can lay bare what stood right behind it, hence the loop; each pass takes raw
    # characters away and no placeholder is ever matched, so it ends. Pseudonyms lay nothing bare.
    while spans := list(_apart(_spans(text))):
        repeated = {text[one.start : one.end]: one.replacement for one in spans}
        text = _replaced(text, spans)
        if not any(one.replacement.startswith("<secret:") for one in spans):
            break
        for value, placeholder in repeated.items():
            # What was a secret beside its name is one where it stands alone.
            if placeholder.startswith("<secret:value:") and is_random(value, least=_TELLING):
                text = text.replace(value, placeholder)
    return text


def _replaced(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces += (text[end : span.start], span.replacement)
        end = span.end
    return "".join((*pieces, text[end:]))


def _spans(text: str) -> Iterator[Span]:
    folded = fold(text)
    yield from key_block_spans(text, folded)
    yield from provider_spans(text)
    yield from url_spans(text, folded)
    yield from named_spans(text, folded)
    yield from identity_spans(text)


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans in text order; of those that overlap the first found (the surest) stays."""
    kept: list[Span] = []
    end = 0
    ranked = sorted(enumerate(spans), key=lambda at: (at[1].start, at[0]))
    for _, span in ranked:
        if span.start >= end:
            kept.append(span)
            end = span.end
    yield from kept
