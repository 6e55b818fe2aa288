"""Values beside a secret-like name: assignments, flags, headers, cookies, in any carrier.

Knows names and what may stand between a name and its value (quotes, escapes, URL encoding, a
type annotation); whether the value counts is decided by ``values``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillopt_sleep.redact.span import Span, secret, words
from skillopt_sleep.redact.values import Beside, is_secret

_QUOTE = r"\\{0,7}[\"'`]|\\{1,4}u002[27]|%22|%27|&quot;|&#3[49];"
_ANNOTATION = (
    r"[ \t]{0,3}:[ \t]{0,3}&?(?:'static )?[a-z][a-z0-9_.<>\[\]| ]{1,40}(?<=[ \t])(?==[ \t]?[\"'`])"
)
_PARTED = rf"""[a-z0-9_-]{{0,32}}(?:{_QUOTE})?\]?(?:{_ANNOTATION})?""" + (
    r"""[ \t]{0,8}(?::=|=>|==?|:|%3d|%3a|\\u003d|(?<=["']),(?=[ \t]?["'])|>(?=[^<\s]{4,200}</)"""
    r"""|\((?=["'])|[ \t]\|(?=[ \t])|(?<=["'])[ \t]{1,3}value="""
    r"""|[ \t](?:is|ist|es|est)(?=[ \t])|[\uff1a是为])(?:\*\*)?"""
)
_LEAD = re.compile(
    rf"""(?i)(?P<gap>[ \t]{{0,8}})(?P<scheme>(?:bearer|basic|token|apikey|digest)[ \t]{{1,4}})?"""
    rf"""(?:[bru](?=["']))?(?P<quote>{_QUOTE})?"""
    r"""(?P<scheme2>(?:bearer|basic|token|apikey)(?:[ \t]{1,4}|%20|\+))?"""
)
_IN_QUOTES = re.compile(r"(?:[^\s\"'`\\&%]|\\u[0-9a-fA-F]{4}|\\+/|%(?!22|27)|&(?!quot;|#3))+")
_OPEN = re.compile(r"(?:[^\s\"'`\\,;&<>(){}\[\]|]|\\u[0-9a-fA-F]{4})+")
_LONGEST = 4096
_JUDGED = 200
_NAME = re.compile(r"[\w.-]{1,80}")

_STEMS = (
    *("pass", "pw", "secret", "token", "credential", "auth", "key"),
    *("contraseñ", "пароль", "密码", "パスワード"),
)
_NEVER = {
    "token": r"(?!s?\\?\"?: ?\d)",
    "pass": r"(?=w|phrase|code|(?<=[_-]pass)(?![a-z])|pass(?![a-z])|=|\\?[\"']?[:=] ?\\?[\"'])",
    "pw": r"(?=d|[=:])",
    "auth": r"(?=orization|[\"']?[=:])",
    "contraseñ": "a",
}
_NAMED = tuple((stem, re.compile(stem + _NEVER.get(stem, "") + _PARTED)) for stem in _STEMS)
_OWNERS = (
    "(?:api|access|account|private|auth|encryption|signing|master|service|shared|storage|license"
    "|session|app|client|jwt|hmac|subscription|ssh|webhook)[_ -]?"
)
_KEY_OWNER = re.compile(_OWNERS + r"\Z")
_NO_NAME = re.compile(r"(?:::|\barn:[^\s\"']{0,60}:)\Z")
_COLON = re.compile(r":|\uff1a|%3|[是为]| (?:is|ist|es|est)\Z")
_INITIAL = re.compile(r"(?:^|[^A-Za-z0-9])pass|PASS")
_BARE_PASS = re.compile(r"pass(?![a-z])")
_FLAG = re.compile(
    r"--(?:[a-z0-9]{1,20}-){0,3}(?:password|passwd|passphrase|secret|token|api-?key|pat)[ \t]{1,4}"
)
_NETRC = re.compile(r"login\s{1,4}\S{1,80}\s{1,4}password[ \t]{1,4}")
_PASSWORD = re.compile(r"pass|pwd?|contras|пароль|密码|パスワード")

_BEARER = re.compile(r"bearer(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/=-]{16,2000})")
_COOKIE = re.compile(
    r"cookie(?:\\*[\"'])?(?:[ \t]{0,3}[:=,][ \t]{0,3}|[ \t]{1,3})(?:\\*[\"'])?(?=[\w.-]{1,64}=)"
)
_FLAG_COOKIE = re.compile(r" -b[ \t]{1,3}(?:\\*[\"'])?(?=[\w.-]{1,64}=)")
_PAIR = re.compile(r"([\w.-]{1,64})=([^;\s\"'\\,]{0,4000})(?:;[ \t]{0,2})?")
_LOGINS = tuple(
    re.compile(flag + r"[ \t=]{0,3}(?:\\*[\"'])?[^\s:\"'\\]{1,64}:([^\s\"'\\]{3,200})")
    for flag in (" -u", " --user")
)
_CLIENT = re.compile(r"\b(?:curl|wget)\b")
_SIG = re.compile(r"sig(?:nature)?=([a-z0-9%+/_-]{40,100}={0,2})")
_NAMES = "|".join((*(stem for stem in _STEMS if stem != "key"), f"{_OWNERS}key", "_key"))
SIGNS = (
    rf"(?i:(?:{_NAMES})[a-z0-9_-]*"
    r"(?:[ \t]*[\\\"'`%&\]:=>(|\x{ff1a}\x{662f}\x{4e3a}]|[ \t]+(?:is|es))"
    r"|--[a-z0-9-]*(?:password|passwd|passphrase|secret|token|api-?key|pat)[ \t]"
    r"|login[\s\x1c-\x1f]|bearer(?:[ \t]|%20|\+)|cookie[\\\"' \t:=,]| -b[ \t]|curl |wget "
    r"|sig(?:nature)?=)"
)
"""What every text with a find in it shows; see ``glance``."""
_ATTRIBUTES = words("path domain expires max-age samesite secure httponly priority")


def named_spans(text: str, folded: str) -> Iterator[Span]:
    """Yield every value that stands beside a name such as ``API_KEY`` and looks like a secret."""
    for stem, pattern in _NAMED:
        if stem.isascii() or not text.isascii():
            yield from _assignments(text, folded, pattern)
    if "--" in folded:
        yield from _flags(text, folded, _FLAG)
    if "login" in folded:
        yield from _flags(text, folded, _NETRC)
    if "bearer" in folded:
        yield from _simple(text, folded, _BEARER)
    if "cookie" in folded or "curl" in folded:
        yield from _cookies(text, folded)
    if "curl " in folded or "wget " in folded:
        yield from _logins(text)
    yield from _simple(text, folded, _SIG)


def _assignments(text: str, folded: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    passed = 0
    for found in pattern.finditer(folded):
        lead = _LEAD.match(text, found.end())
        value = _value(text, lead) if lead and found.start() >= passed else None
        if not lead or not value:
            continue
        if (
            len(value[0]) > _JUDGED
        ):  # names within a long value are not looked at: time stays linear
            passed = value.end()
        name = _name(text, folded, found)
        argument = found[0].endswith((",", "("))
        beside = Beside(
            name=name.lstrip("-."),
            password=not argument and _PASSWORD.search(found[0]) is not None,
            quoted=not argument and lead["quote"] is not None,
            tight=not lead["gap"] or name.startswith("--"),
            colon=_COLON.search(found[0]) is not None,
            header=bool(lead["scheme"] or lead["scheme2"])
            or name.lower().endswith("authorization"),
            after=text[value.end() : value.end() + 1],
        )
        if name and is_secret(value[0][:_JUDGED], beside):
            yield Span(value.start(), value.end(), secret("value", value[0]))


def _name(text: str, folded: str, found: re.Match[str]) -> str:
    """Return the whole name as written, or "" where it names no secret (``a:secret``)."""
    start = found.start()
    if found[0].startswith("key"):
        constant = text.startswith("KEY", start) and text.endswith("_", 0, start)
        if not constant and not _KEY_OWNER.search(folded, max(0, start - 14), start):
            return ""
    if _BARE_PASS.match(found[0]) and not _INITIAL.search(text, max(0, start - 1), start + 4):
        return ""
    whole = _NAME.search(text, max(0, start - 40), found.end())
    while whole and whole.end() < start:
        whole = _NAME.search(text, whole.end(), found.end())
    if not whole or _NO_NAME.search(text, max(0, whole.start() - 80), whole.start()):
        return ""
    if text.endswith("<", 0, whole.start()) and not found[0].endswith(">"):
        return ""
    return whole[0]


def _flags(text: str, folded: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in pattern.finditer(folded):
        lead = _LEAD.match(text, found.end())
        value = lead and _value(text, lead)
        if lead and value:
            word = found[0].split()[0].lstrip("-")
            password = _PASSWORD.search(found[0]) is not None
            beside = Beside(name=word, password=password, quoted=bool(lead["quote"]), tight=True)
            if is_secret(value[0][:_JUDGED], beside):
                yield Span(value.start(), value.end(), secret("value", value[0]))


def _value(text: str, lead: re.Match[str]) -> re.Match[str] | None:
    pattern = _IN_QUOTES if lead["quote"] else _OPEN
    return pattern.match(text, lead.end(), lead.end() + _LONGEST)


def _simple(text: str, searched: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    beside = Beside(name="token", header=True)
    for found in pattern.finditer(searched):
        value = text[found.start(1) : found.end(1)]
        if is_secret(value, beside):
            yield Span(found.start(1), found.end(1), secret("value", value))


def _cookies(text: str, folded: str) -> Iterator[Span]:
    for pattern in (_COOKIE, _FLAG_COOKIE):
        for found in pattern.finditer(folded):
            at = found.end()
            while (pair := _PAIR.match(text, at)) and pair.end() - found.end() < _LONGEST:
                at = pair.end()
                named = Beside(name=pair[1], header=True, tight=True)
                if pair[1].lower() not in _ATTRIBUTES and is_secret(pair[2], named):
                    yield Span(pair.start(2), pair.end(2), secret("value", pair[2]))


def _logins(text: str) -> Iterator[Span]:
    beside = Beside(name="password", password=True, quoted=True, tight=True)
    for pattern in _LOGINS:
        for found in pattern.finditer(text):
            line = text[max(0, found.start() - 300) : found.start()]
            if _CLIENT.search(line) and is_secret(found[1], beside):
                yield Span(found.start(1), found.end(1), secret("value", found[1]))
