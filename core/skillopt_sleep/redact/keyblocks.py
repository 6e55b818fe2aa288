"""Private keys in blocks: PEM, OpenSSH, PGP, PuTTY; also with escaped line ends, or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, secret

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[A-Za-z0-9+/=]|\\+[nr]|[\s\"'+,:|>-])*")
_PUTTY = re.compile(
    r"Private-Lines: \d{1,4}(?:\s|\\+[nr]){1,4}"
    r"((?:[A-Za-z0-9+/=]{8,80}(?:\s|\\[nr]|$){1,4}){1,200})"
)
SIGNS = "PRIVATE KEY|Private-Lines"
"""What every text with a find in it shows; see ``glance``."""
_LONGEST = 20_000
_LEAST = 40


def key_block_spans(text: str, folded: str) -> Iterator[Span]:
    """Yield one span for every private key, from its first dash to its last."""
    if "private" in folded:
        yield from _pem(text)
        for found in _PUTTY.finditer(text):
            yield Span(found.start(1), found.end(1), secret("pem", _squeezed(found[1])))


def _pem(text: str) -> Iterator[Span]:
    at = 0
    while begin := _BEGIN.search(text, at):
        body = _BODY.match(text, begin.end(), begin.end() + _LONGEST)
        close = _END.search(text, begin.end(), begin.end() + _LONGEST)
        end = close.start() if close else body.end() if body else begin.end()
        at = close.end() if close else max(end, begin.end())
        key = _squeezed(text[begin.end() : end])
        if len(key) >= _LEAST:
            yield Span(begin.start(), at, secret("pem", key))


def _squeezed(body: str) -> str:
    """Return the key's own characters, whatever the line ends were written as."""
    return re.sub(r"\\+[nr]|[^A-Za-z0-9+/=]", "", body)
