"""Passwords in URLs: ``scheme://user:password@host``, and tokens that stand as the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, is_example, is_random, secret, words

_LOGIN = re.compile(r"://([^\s/@:\"'<>`\\?#]{0,128}):([^\s/:\"'<>`\\?#]{1,256})@(?=[\[\w.$%-])")
_SOLE = re.compile(r"://([A-Za-z0-9_-]{20,256})@(?=[\w.])")
_WEBHOOKS = (
    (
        "slack",
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/]{20,120})"),
    ),
    (
        "discord",
        re.compile(r"/api/webhooks/\d{15,21}/([A-Za-z0-9_-]{60,80})"),
    ),
)
SIGNS = r"://[^\s/]*@|hooks\.slack\.com/|/api/webhooks/"
"""What every text with a find in it shows; see ``glance``."""
_WORDS = words(
    "password passwd pass pw pwd passphrase secret token user username root admin test guest "
    "postgres mysql redis rabbitmq mongo minio key apikey api_key p x-oauth-basic "
    "x-access-token oauth2 pa55word foo bar baz port"
)


def url_spans(text: str, folded: str) -> Iterator[Span]:
    """Yield the password of every URL that carries one, and the secret part of webhook URLs."""
    if "@" in text and "://" in text:
        for found in _LOGIN.finditer(text):
            if not _is_open(found[1], found[2]):
                yield Span(found.start(2), found.end(2), secret("value", found[2]))
        for found in _SOLE.finditer(text):
            if is_random(found[1]):
                yield Span(found.start(1), found.end(1), secret("value", found[1]))
    if "hooks" in folded:
        for kind, pattern in _WEBHOOKS:
            for found in pattern.finditer(text):
                if is_random(found[1]) and not is_example(found[1]):
                    yield Span(found.start(1), found.end(1), secret(kind, found[1]))


def _is_open(user: str, password: str) -> bool:
    """Tell whether the password is none: a word of the documentation, a variable, the user."""
    plain = password.lower()
    return plain in _WORDS or plain == user.lower() or is_example(password)
