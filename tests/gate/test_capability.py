"""Capability differences: only what is new is flagged, forbidding is not asking, nothing hides."""

# ruff: noqa: RUF001 -- Persian is what is tested

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.capability import Flag, Severity, capabilities

FRONT = "---\nname: shop\ndescription: Work in the shop repository\n---\n"
SKILL = f"{FRONT}\n# Shop\n\n- Fetch prices with `curl https://prices.corp.io/v1`.\n"


def _kinds(rule: str, before: str = SKILL) -> list[str]:
    return [flag.kind for flag in capabilities(before, f"{before}- {rule}\n")]


@given(st.text(max_size=300))
def test_a_document_brings_nothing_new_to_itself(text: str) -> None:
    assert capabilities(text, text) == ()


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_deleting_the_rules_brings_nothing_new(text: str) -> None:
    assert all(flag.kind == "front matter" for flag in capabilities(text, ""))


def test_what_was_there_before_is_not_flagged_again() -> None:
    assert _kinds("Cache what `curl https://prices.corp.io/v1` returns.") == []


def test_another_place_is_flagged() -> None:
    (flag,) = capabilities(SKILL, f"{SKILL}- Fetch taxes from https://tax.corp.io/v1.\n")
    assert flag == Flag(
        kind="url",
        severity=Severity.SIGNOFF,
        excerpt="- fetch taxes from https://tax.corp.io/v1.",
        reason="it names a place in the network",
    )


@pytest.mark.parametrize(
    "after",
    [
        SKILL.replace("name: shop", "name: other"),
        SKILL.replace("\n---\n\n", "\nallowed-tools: Bash\n---\n\n"),
        SKILL.removeprefix(FRONT),
        "\ufeff" + SKILL,
    ],
)
def test_the_front_matter_does_not_change(after: str) -> None:
    flags = capabilities(SKILL, after)
    assert ("front matter", Severity.BLOCK) in {(flag.kind, flag.severity) for flag in flags}


def test_the_marks_of_the_rules_are_no_comments() -> None:
    rule = "Use tabs in Makefiles. <!-- rule:use-tabs -->"
    assert _kinds(rule) == []
    assert _kinds("Use tabs. <!-- rule:use tabs and more -->") == ["comment"]


@pytest.mark.parametrize(
    ("asked", "forbidden"),
    [
        ("Commit with --no-verify.", "Never commit with --no-verify."),
        ("Call eval( on it.", "Do not call eval( on it."),
        ("Take it from os.environ.", "Take it from settings instead of os.environ."),
        ("Run `npx cool-tool`.", "Avoid `npx cool-tool`."),
        ("Nimm `npx cool-tool`.", "Nimm eslint statt `npx cool-tool`."),
        ("Ändere es ohne zu fragen.", "Ändere es nie ohne zu fragen."),
        ("Write to ~/out.", "Never write to ~/out."),
    ],
)
def test_forbidding_something_is_not_asking_for_it(asked: str, forbidden: str) -> None:
    assert _kinds(asked) != []
    assert _kinds(forbidden) == []


@pytest.mark.parametrize(
    "rule",
    [
        "Do not stop, commit with --no-verify.",
        "Never hesitate to commit with --no-verify.",
        "Do not forget to read .env.",
        "Never be slow. Commit with --no-verify.",
        "Avoid delays and commit with --no-verify.",
    ],
)
def test_a_negation_of_something_else_excuses_nothing(rule: str) -> None:
    assert _kinds(rule) != []


def test_an_emoji_and_a_script_may_join_their_letters() -> None:
    assert _kinds("Greet with \U0001f469\u200d\U0001f4bb and \u2764\ufe0f.") == []
    assert _kinds("می\u200cخواهم به فارسی پاسخ بگیرم.") == []


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\u202e", "\u2060", "\ufeff", "\U000e0041", "\x1b", "\x00"]
)
def test_an_invisible_character_between_letters_blocks_and_is_shown(hidden: str) -> None:
    flags = capabilities(SKILL, f"{SKILL}- Use ru{hidden}ff.\n")
    assert [(flag.kind, flag.severity) for flag in flags] == [("invisible text", Severity.BLOCK)]
    assert f"<U+{ord(hidden):04X}>" in flags[0].excerpt


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_an_accent_may_be_written_either_way(form: str) -> None:
    rule = "Réponds en français, écris les tests d'abord, nomme les variables en anglais."
    before = SKILL + f"- {rule}\n"
    after = SKILL + f"- {unicodedata.normalize(form, rule)}\n"  # type: ignore[arg-type]
    assert capabilities(before, after) == ()


@settings(max_examples=60)
@given(st.text(max_size=120))
def test_excerpts_are_short_and_visible(rule: str) -> None:
    for flag in capabilities(SKILL, f"{SKILL}- {rule} https://a.example.net\n"):
        assert 0 < len(flag.excerpt) <= 140
        assert "\u202e" not in flag.excerpt


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "never ",
        "a.",
        "ignore ",
        "send ",
        "/",
        "<!--",
        "pip install ",
        "\u200b",
        "%41",
        "aA1",
        "not ",
    ],
)
def test_no_text_makes_it_slow(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    began = time.process_time()
    capabilities("", text)
    assert time.process_time() - began < 3.0
