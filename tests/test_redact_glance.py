"""One look at a text never misses what the sweeps would find; secrets are drawn at run time."""

# ruff: noqa: RUF001 -- foreign scripts are what is tested

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.redact import may_hold_secret, redact
from skillopt_sleep.redact.identity import identity_spans
from skillopt_sleep.redact.keyblocks import key_block_spans
from skillopt_sleep.redact.named import named_spans
from skillopt_sleep.redact.providers import provider_spans
from skillopt_sleep.redact.span import Span, fold
from skillopt_sleep.redact.urls import url_spans
from skillopt_sleep.sources._clips import clipped, cut_of

_NAMES = (
    *("password", "PASS", "passphrase", "DB_PASSWORD", "pw", "pwd", "secret", "client-secret"),
    *("token", "api_key", "apiKey", "API KEY", "MY_KEY", "credential", "Authorization", "auth"),
    *("contraseña", "пароль", "密码", "パスワード", "SecretKey", "key"),
)
_PARTED = (
    *("=", ": ", ":", " := ", " => ", "==", "%3D", "%3a", r"\u003d", '"', "'", "`", r"\"", "]"),
    *(r"\u0022", "%22", "%27", "&quot;", "&#39;", " is ", " ist ", "：", "是", "为", ","),
    *(", ", "(", '("', ">", " | ", " value=", ": str = ", ": &'static str = ", "\t", "  ", "_x"),
)
_LEADS = (
    *("Bearer ", "bearer%20", "Cookie: ", 'cookie", "', " -b ", "curl -u ", "wget --user ", "sig="),
    *("--password ", "--my-api-key ", "login\x1c", "login x password ", "signature=", "me@"),
    *("/home/", "/Users/", "C:\\Users\\", "-Users-", "-home-", "USER=", "SUDO_USERNAME=", "anna"),
    *("LOGNAME=", "@host.example.org", "@mail.de", "@box:~", "https://", "//", "://u:", "@", "/"),
    *("hooks.slack.com/services/", "/api/webhooks/123456789012345678/", ":AA", "%3AAA", "Q~"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----", "Private-Lines: 4\n"),
    *("sk-", "sk-ant-", "AKIA", "eyJ", "key-", "SK", "ghp_", "hvs.", "pypi-AgE", "12345678", "."),
)
_VALUES = st.text("abcXYZ019-_", min_size=1, max_size=60) | st.text(
    "0a1b", min_size=30, max_size=70
)
_PIECE = (
    st.sampled_from((*_NAMES, *_PARTED, *_LEADS, " ", "\n", "\ud800", "é", ";"))
    | _VALUES
    | st.text(max_size=3)
)
_TEXT = st.lists(_PIECE, max_size=9).map("".join)


def _finds(text: str) -> Iterator[Span]:
    folded = fold(text)
    yield from key_block_spans(text, folded)
    yield from provider_spans(text)
    yield from url_spans(text, folded)
    yield from named_spans(text, folded)
    yield from identity_spans(text)


@settings(max_examples=500, deadline=None)
@given(_TEXT)
def test_a_text_with_a_find_in_it_is_never_passed_over(text: str) -> None:
    if next(_finds(text), None) is not None:
        assert may_hold_secret(text)


@pytest.mark.parametrize("name", _NAMES)
def test_a_value_beside_a_name_is_looked_at_however_they_are_parted(name: str) -> None:
    for parted, quote in product(_PARTED, ("", '"', " '")):
        text = f"{name}{parted}{quote}kq7Rt-2Zp_9wVb4Lx{quote} end"
        if next(_finds(text), None) is not None:
            assert may_hold_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "for key in sorted(rows): print(key, rows[key])",
        "the token count of every reply is kept, and its author too",
        "@property\ndef size(self) -> int:\n    return len(self.items)",
        "see https://docs.python.org/3/library/re.html and src/page.py",
    ],
)
def test_ordinary_code_is_passed_over_at_once(text: str) -> None:
    assert not may_hold_secret(text)


@given(st.lists(_TEXT, max_size=6))
def test_texts_cut_together_are_cut_as_one_by_one_or_hide_more(texts: list[str]) -> None:
    for text, kept in zip(texts, clipped([cut_of(t, 90, 90) for t in texts]), strict=True):
        alone = clipped([cut_of(text, 90, 90)])[0]
        assert kept == alone or kept.count("<secret:") > 0
        assert redact(kept) == kept or "\n[… cut …]\n" in kept


def test_a_value_named_in_one_text_is_replaced_in_the_text_beside_it() -> None:
    value = "kq7Rt" + "2Zp9wVb4Lx"
    named, alone = clipped([cut_of(f"DB_PASSWORD={value}", 90, 90), cut_of(f"got {value}", 90, 90)])
    assert value not in named
    assert value not in alone
