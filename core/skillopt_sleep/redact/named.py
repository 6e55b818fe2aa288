"""Values beside a secret-like name: assignments, flags, headers, cookies, in any carrier.

Knows names and what may stand between a name and its value (quotes, escapes, URL encoding, a
type annotation); whether the value counts is decided by ``values``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, secret
from skillopt_sleep.redact.values import Beside, is_secret

_QUOTE = r"\\{0,7}[\"'`]|\\{1,4}u002[27]|%22|%27|&quot;|&\#3[49];"
_ANNOTATION = r"(?:[ \t]{0,3}:[ \t]{0,3}&?(?:'static )?[a-z][a-z0-9_.<>\[\]| ]{1,40}(?==))"
_BETWEEN = re.compile(
    rf"""(?xi)
    [a-z0-9_-]{{0,32}}                      # the rest of the name
    (?: {_QUOTE} )? \]?                     # the name's closing quote
    {_ANNOTATION}?
    (?: [ \t]{{0,8}} (?: :=|=>|={{1,2}}|:|%3d|%3a|\\u003d|,(?=[ \t]?["']) ) (?P<gap>[ \t]{{0,8}})
      | (?P<blank>[ \t]{{1,4}}) )
    (?P<scheme> (?:bearer|basic|token|apikey|digest)[ \t]{{1,4}} | [bru](?=["']) )?
    (?P<quote> {_QUOTE} )?
    (?P<scheme2> (?:bearer|basic|token|apikey)(?:[ \t]{{1,4}}|%20|\+) )?
    """
)
_IN_QUOTES = re.compile(r"(?:[^\s\"'`\\&%]|\\u[0-9a-fA-F]{4}|\\+/|%(?!22|27)|&(?!quot;|#3))+")
_OPEN = re.compile(r"(?:[^\s\"'`\\,;&<>(){}\[\]|]|\\u[0-9a-fA-F]{4})+")
_LONGEST = 600
_NAME_START = re.compile(r"[A-Za-z0-9_.-]{0,40}\Z")

_STEMS = re.compile(
    r"passw|passphrase|passcode|pwd|secret|token|credential|authorization|api[_-]?key"
    r"|(?:access|account|private|auth|encryption|signing|master|service|shared|storage|license"
    r"|session|app|client|jwt|hmac|subscription|ssh|webhook)[_-]?key|signature|[_-]pass\b"
)
_FIRST = ("pass", "pwd", "secret", "token", "credential", "authorization", "key", "signature")
_PASSWORD = re.compile(r"(?i)passw|passphrase|passcode|pwd|pass$")

_BEARER = re.compile(r"(?i)bearer(?:[ \t]{1,4}|%20|\+)([A-Za-z0-9._~+/=-]{16,2000})")
_COOKIE = re.compile(
    r"(?i)\b(?:set-)?cookie(?:\\*[\"'])?[ \t]{0,3}[:=,][ \t]{0,3}(?:\\*[\"'])?(?=[\w.-]+=)"
)
_FLAG_COOKIE = re.compile(r"(?:^|\s)(?:--cookie|-b)[ \t=]{1,3}[\"']?(?=[\w.-]+=)")
_PAIR = re.compile(r"([\w.-]{1,64})=([^;\s\"'\\,]{0,4000})(?:;[ \t]{0,2})?")
_CURL_USER = re.compile(
    r"\s(?:-u|--user)[ \t=]{0,3}(?:\\*[\"'])?[^\s:\"'\\]{1,64}:([^\s\"'\\]{3,200})"
)
_SIG = re.compile(r"[?&](?:amp;)?sig=([A-Za-z0-9%+/_-]{40,100}={0,2})")
_SAS = re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,90}={0,2})")
_ATTRIBUTES = frozenset("path domain expires max-age samesite secure httponly priority".split())


def named_spans(text: str, folded: str) -> Iterator[Span]:
    """Yield every value that stands beside a name such as ``API_KEY`` and looks like a secret."""
    if any(word in folded for word in _FIRST):
        yield from _assignments(text, folded)
    if "bearer" in folded:
        yield from _simple(text, _BEARER)
    if "cookie" in folded or " -b " in text:
        yield from _cookies(text)
    if " -u" in text or "--user" in text:
        yield from _logins(text)
    if "sig=" in folded:
        yield from _simple(text, _SIG)
    if "AccessKey=" in text or "AccountKey=" in text:
        yield from _simple(text, _SAS)


def _assignments(text: str, folded: str) -> Iterator[Span]:
    at = 0
    while stem := _STEMS.search(folded, at):
        at = stem.end()
        between = _BETWEEN.match(text, stem.end())
        if not between:
            continue
        pattern = _IN_QUOTES if between["quote"] else _OPEN
        value = pattern.match(text, between.end(), between.end() + _LONGEST)
        if not value:
            continue
        beside = _beside(text, stem, between, value)
        if beside and is_secret(value[0], beside):
            yield Span(value.start(), value.end(), secret("value", value[0]))
            at = value.end()


def _beside(
    text: str, stem: re.Match[str], between: re.Match[str], value: re.Match[str]
) -> Beside | None:
    """Return what the name says of its value, or None where name and value do not belong."""
    before = _NAME_START.search(text, max(0, stem.start() - 40), stem.start())
    head = before[0] if before else ""
    suffix = re.match(r"[A-Za-z0-9_-]*", text[stem.end() : between.end()])
    name = head + text[stem.start() : stem.end()] + (suffix[0] if suffix else "")
    flag = name.startswith("--")
    if between["blank"] is not None and not (flag or _is_netrc(text, stem.start())):
        scheme = between["scheme"] or between["scheme2"]
        if not scheme or "uthorization" not in name:
            return None
    return Beside(
        name=name.lstrip("-."),
        password=_PASSWORD.search(text[stem.start() : stem.end()]) is not None,
        quoted=between["quote"] is not None,
        tight=flag or (between["blank"] is None and not between["gap"]),
        colon=":" in between[0] or "%3" in between[0],
        header=bool(between["scheme"] or between["scheme2"]),
        after=text[value.end() : value.end() + 1],
    )


def _is_netrc(text: str, at: int) -> bool:
    return re.search(r"\blogin\s+\S+\s+\Z", text[max(0, at - 80) : at]) is not None


def _simple(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    beside = Beside(name="token", header=True)
    for found in pattern.finditer(text):
        if is_secret(found[1], beside):
            yield Span(found.start(1), found.end(1), secret("value", found[1]))


def _cookies(text: str) -> Iterator[Span]:
    for pattern in (_COOKIE, _FLAG_COOKIE):
        for found in pattern.finditer(text):
            at = found.end()
            while (pair := _PAIR.match(text, at)) and pair.end() - found.end() < _LONGEST * 10:
                at = pair.end()
                named = Beside(name=pair[1], header=True, tight=True)
                if pair[1].lower() not in _ATTRIBUTES and is_secret(pair[2], named):
                    yield Span(pair.start(2), pair.end(2), secret("value", pair[2]))


def _logins(text: str) -> Iterator[Span]:
    for found in _CURL_USER.finditer(text):
        line = text[max(0, found.start() - 300) : found.start()]
        if re.search(r"\b(?:curl|wget|https?|xh)\b", line):
            beside = Beside(name="password", password=True, quoted=True, tight=True)
            if is_secret(found[1], beside):
                yield Span(found.start(1), found.end(1), secret("value", found[1]))
