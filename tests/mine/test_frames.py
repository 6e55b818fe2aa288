"""Rules read from a human's words: the sure turns of phrase, and silence about the rest."""

# ruff: noqa: RUF001 - other scripts are what is tested

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.mine.frames import COMMENT, EMOJI, demands
from skillopt_sleep.mine.scripts import LANGUAGES, written_in


def rules(text: str) -> list[tuple[str, str]]:
    return [(demand.operator.value, demand.value) for demand in demands(text)]


UV = [("command_ran", "uv"), ("command_not_ran", "pip")]


@pytest.mark.parametrize(
    "text",
    [
        "no, use uv instead of pip",
        "please don't use pip, use uv",
        "use uv, not pip",
        "nein, nimm uv statt pip",
        "nee, gebruik uv in plaats van pip",
        "non, utilise uv au lieu de pip",
        "no, usa uv en vez de pip",
        "no, usa uv invece di pip",
        "não, use uv em vez de pip",
        "違います、pipではなくuvを使ってください",
        "不对，用uv，不要用pip",
        "아니요, pip 말고 uv를 쓰세요",
        "нет, используй uv вместо pip",
        "nie, użyj uv zamiast pip",
        "hayır, pip yerine uv kullan",
    ],
)
def test_one_tool_instead_of_another_in_many_languages(text: str) -> None:
    assert rules(text) == UV


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("always run ruff before you finish", [("command_ran", "ruff")]),
        ("run `npm run lint` before every commit", [("command_ran", "npm run lint")]),
        ("don't add comments", [("not_regex", COMMENT)]),
        ("use pathlib, not os.path", [("contains", "pathlib"), ("not_contains", "os.path")]),
        ("reply in Chinese", [("regex", LANGUAGES["Chinese"])]),
        ("antworte bitte auf Deutsch", [("regex", LANGUAGES["German"])]),
        ("日本語で書いてください", [("regex", LANGUAGES["Japanese"])]),
        ("keep it under 100 words", [("max_words", "100")]),
        ("höchstens 80 Wörter bitte", [("max_words", "80")]),
        ("write a Rollback section", [("section", "Rollback")]),
        ("no emoji", [("not_regex", EMOJI)]),
        ("不要加注释", [("not_regex", COMMENT)]),
        ("don't push", [("command_not_ran", "git push")]),
        ("never use `print` here", [("not_contains", "print")]),
    ],
)
def test_sure_turns_of_phrase_become_rules(text: str, wanted: list[tuple[str, str]]) -> None:
    assert rules(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "never edit generated files",
        "use the other one instead of this",
        "does it run ruff before pytest?",
        "no need to run ruff before you commit",
        "run the tests before you commit",
        "always run curl http://example.com/x before you start",
        "use conventional commits",
        "make it nicer",
        "I would not use it like that",
    ],
)
def test_unclear_words_give_no_rule(text: str) -> None:
    assert rules(text) == []


def test_quoted_lines_and_code_are_not_the_humans_demand() -> None:
    assert rules("the readme says:\n> always run make before you finish\nis that so?") == []
    assert rules("this failed:\n```\nuse uv instead of pip\n```") == []


def test_plain_words_need_proof() -> None:
    assert [demand.firm for demand in demands("use tabs instead of spaces")] == [False, False]
    assert [demand.firm for demand in demands("use snake_case instead of camelCase")] == [
        False,
        False,
    ]


def test_a_language_that_is_refused_is_not_asked_for() -> None:
    assert written_in("do not answer in German") == ""
    assert written_in("answer in English, not in German") == "English"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("German", "Der Fehler ist behoben und die Tests sind grün."),
        ("Chinese", "错误已修复，测试通过。"),
        ("Japanese", "エラーを修正しました。"),
        ("French", "Les tests sont verts et la correction est dans le dépôt."),
    ],
)
def test_an_answer_is_recognised_by_its_language(language: str, text: str) -> None:
    assert regex.search(LANGUAGES[language], text)
    english = "The error was mended and all of the tests are green."
    assert not regex.search(LANGUAGES[language], english)


def test_comments_are_seen_in_code_and_headings_are_not() -> None:
    assert regex.search(COMMENT, "```python\nx = 1\n# add one\nx += 1\n```")
    assert not regex.search(COMMENT, "# Title\n\n```python\nx = 1\n```\n# Next")


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_without_trouble(text: str) -> None:
    assert all(demand.value for demand in demands(text))
