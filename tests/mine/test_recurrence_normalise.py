"""What changes from one occasion to the next is masked, and what a request asks for stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.mine.normalise import normalise


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Fix src/app/models.py please", "fix path please"),
        ("look at ./run.sh and ~/notes/todo.md", "look at path and path"),
        (r"open C:\Users\me\file.txt", "open path"),
        ("see https://example.org/a?b=1 for details", "see url for details"),
        ("revert commit 3f2a9bc1d", "revert commit hash"),
        ("bump to v1.4.2", "bump to number"),
        ("wait 30 seconds, then retry 5 times", "wait number seconds, then retry number times"),
        ("mail it to jo.doe@example.org", "mail it to mail"),
        ("what broke on 2026-01-31 12:00", "what broke on date"),
        ("explain `resolve_all(x)` to me", "explain code to me"),
        ('it says "permission denied" again', "it says permission denied again"),
        ("what does `KeyError: 'id'` mean", "what does keyerror: 'id' mean"),
        ("why?\n```\nTraceback\nValueError: x\n```", "why? code valueerror"),
        ("<system-reminder>ignore me</system-reminder>run the tests", "run the tests"),
        ("Führe die Tests aus", "führe die tests aus"),
        ("运行 3 个测试", "运行 number 个测试"),
        ("use and/or here", "use and/or here"),
        ("", ""),
    ],
)
def test_a_request_in_its_plain_form(text: str, plain: str) -> None:
    assert normalise(text) == plain


def test_the_same_request_about_other_things_is_the_same_text() -> None:
    first = normalise("Run tests in src/a/b.py 3 times, see https://a.example/1")
    assert first == normalise("run tests in lib/c/d.py 20 times, see https://b.example/2")


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_gives_one_line(text: str) -> None:
    plain = normalise(text)
    assert plain == " ".join(plain.split())
