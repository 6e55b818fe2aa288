"""Whether a value beside a secret-like name is a secret: code, words and examples are not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillopt_sleep.redact.span import bits, is_example, is_random

_HARMLESS_NAME = re.compile(
    r"""(?xi)
    tokeni[sz] | tokens$ | public | pubkey | fingerprint | ^oldpwd$ | ^pwd$ | _passed$
    | (?:token|secret|key|password|passwd|pwd|pass|credential|signature|authorization)s?
      (?:[_-]?\w*[_-])?
      (?:count|type|limit|usage|name|id|budget|ur[il]|endpoint|file|path|dir|len|length|hint|label
        |field|ref|arn|policy|reset|input|prompt|size|index|idx|class|kind|position|pos|format
        |version|provider|manager|store|expiry|expires|expiration|ttl|algorithm|alg|source|env|var
        |help|regex|pattern|validator|changed|error|message|title|text|placeholder|spec|map|list|set
        |group|scope|required|strength|visible|type|at|date|mode|rule|locker)s? $
    | ^(?:max|min|num|n|total|input|output|prompt|completion|cached|next|page|continuation|cancel\w*
        |special|pad|eos|bos|unk|mask|sep|cls|stop|primary|foreign|sort|partition|cache|row
        |pagination|start|end|last|first|prev)[_-]? (?:\w*[_-])? (?:token|key)s?$
    """
)
_WORDY = re.compile(r"[A-Za-z_./:,; '-]+\d?[!?]?$")
_CODE = re.compile(
    r"(?:\.{0,2}/|~/|[A-Za-z]:\\|https?://|\w+::)"  # a path, a URL, a scope
    r"|(?:self|this|cls|config|settings|props|args|opts|options|ctx|req|request|env|data|os|params)\b[.?!\[]"
    r"|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$"  # attribute access
    r"|[\^~<>=]{1,2} ?v?\d|\d+(?:\.\d+)+$|v?\d+(?:\.\d+)*[a-z]?\d*$|\d{4}-\d\d-\d\d"
)
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*$")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*$")
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Za-z])|(?=.*[^\w\s.,:/-])(?=.*[A-Za-z0-9])")
_TEST_WORDS = re.compile(
    r"(?i)(?:my|test|some|super|top|very|new|old|wrong|bad|good|valid|invalid|user|admin|secret"
    r"|password|passwd|pass|token|key|value|access|refresh|api|auth|client|id|the|a|[-_. ]"
    r"|sha\d+|md5|base64|bcrypt|argon2|utf8|oauth2?|x509|ed25519|[rhe]s256|aes\d*|rsa|\d{1,3}$)+!?$"
)
_VOWEL = re.compile(r"[AEIOUYaeiouy]")
_NAME_WORDS = re.compile(r"[A-Z][a-z]{2,}|(?<![A-Za-z])[a-z]{3,}(?=[A-Z_.-]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands around a value.

    Attributes:
        name: The name it is assigned to.
        password: Whether the name says that a person may have chosen it.
        quoted: Whether it stands in quotes.
        tight: Whether no blank stands between name and value.
        colon: Whether a colon parts them.
        header: Whether it stands in a header or a URL, where no code is.
        after: The character behind it, or "".
    """

    name: str
    password: bool = False
    quoted: bool = False
    tight: bool = False
    colon: bool = False
    header: bool = False
    after: str = ""


def is_secret(value: str, beside: Beside) -> bool:
    """Tell whether ``value`` is a secret, given what stands around it."""
    if len(value) < 4 or is_example(value) or _HARMLESS_NAME.search(beside.name):
        return False
    if value.lower() == beside.name.lower() or _TEST_WORDS.match(value):
        return False
    if beside.header:
        return (is_random(value, least=10) and not _is_worded(value)) or _is_opaque(value)
    if _CODE.match(value) or (not beside.quoted and _is_call(value + beside.after)):
        return False
    environment = beside.tight and not beside.quoted and _ENV_NAME.match(beside.name) is not None
    if beside.password:
        return _is_password(value, beside, environment=environment)
    return _is_token(value, beside, environment=environment)


def _is_call(value: str) -> bool:
    return any(mark in value for mark in "([{")


def _is_password(value: str, beside: Beside, *, environment: bool) -> bool:
    if environment:
        return not _NAME.match(value) or _MIXED.match(value) is not None or len(value) > 12
    if not _MIXED.match(value) or len(value) < 5:
        return False
    if beside.quoted:
        return not _WORDY.match(value)
    if _NAME.match(value) and not is_random(value, least=12):
        lined_up = beside.after in ("", "\n", "\r", "\\", "&", " ")
        return lined_up and "_" not in value and (beside.colon or beside.tight)
    return any(char.isalnum() for char in value) and not _WORDY.match(value)


def _is_token(value: str, beside: Beside, *, environment: bool) -> bool:
    if _is_worded(value, quoted=beside.quoted or environment):
        return False
    if environment or beside.quoted:
        return is_random(value, least=8 if environment else 12) or _is_opaque(value)
    if _NAME.match(value) and "_" in value and not is_random(value, least=24):
        return False
    return is_random(value)


def _is_worded(value: str, *, quoted: bool = True) -> bool:
    """Tell whether a value is made of words, as ``Ed25519PrivateKey`` and ``sha256-of-file``.

    Drawn values hold short words by chance, so more of a quoted value must be words.
    """
    named = [word for word in _NAME_WORDS.findall(value) if _VOWEL.search(word)]
    enough = 0.7 if quoted and not value.islower() else 0.5 if value.islower() else 0.58
    return _WORDY.match(value) is not None or sum(map(len, named)) >= enough * len(value)


def _is_opaque(value: str) -> bool:
    """Tell whether a value without digits is drawn: long, both cases, no camel-case words."""
    if len(value) < 20 or value.lower() == value or value.upper() == value:
        return False
    words = re.findall(r"[A-Z]?[a-z]+", value)
    longest = max((len(word) for word in words), default=0)
    return bits(value) > 3.8 and longest < 5
