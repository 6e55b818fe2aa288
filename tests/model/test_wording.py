"""When two rules say the same, when one says more, when they disagree."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.model.wording import alike, contradicts, covers, estimate_tokens, says_same

COMPATIBLE = (
    "Run the full test suite before every commit.",
    "Do not push to main without asking.",
    "Push only to feature branches.",
    "Keep commit subjects below 72 characters.",
    "Wrap commit bodies at 72 characters.",
    "Answer in German when the user writes German.",
    "Do not explain what the code does unless asked.",
    "Explain the root cause of a bug before proposing the fix.",
    "Use type hints on all public functions.",
    "Do not use Any in type hints.",
    "Do not mock the database in tests.",
    "Use the real database in integration tests.",
    "Update the changelog with each user-visible change.",
    "Do not update the changelog for refactorings.",
    "Use tabs for indentation in Go files.",
    "Use two spaces for indentation in YAML files.",
    "Do not edit existing migrations; add a new one.",
    "Start every SQL migration with a comment on why it is needed.",
    "Use snake_case for Python names.",
    "Use camelCase for TypeScript names.",
    "End the answer with a list of changed files.",
    "Do not end the answer with an offer to help.",
)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Use tabs", "Don't use tabs"),
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("Use tabs.", "Use spaces."),
        ("Use pnpm instead of npm", "Use npm"),
        ("Use pnpm instead of npm", "Use yarn instead of pnpm"),
        ("Do not use npm, use pnpm", "Use npm for installs"),
        ("Keep subject lines below 50 characters", "Keep subject lines below 72 characters"),
        ("Run the tests before every commit", "Run the tests after every commit"),
        ("Always answer in German.", "Never answer in German."),
        ("Answer in German.", "Answer in English."),
        ("Be brief. Show a diff first.", "Do not show a diff."),
        ("Skip the tests for docs changes.", "Run the tests for docs changes."),
    ],
)
def test_rules_that_cannot_both_be_followed_contradict(one: str, two: str) -> None:
    assert contradicts(one, two)
    assert contradicts(two, one)
    assert not says_same(one, two)


def test_rules_about_different_cases_neither_contradict_nor_repeat_each_other() -> None:
    pairs = list(combinations(COMPATIBLE, 2))
    assert [pair for pair in pairs if contradicts(*pair)] == []
    assert [pair for pair in pairs if says_same(*pair)] == []
    assert [pair for pair in pairs if covers(*pair) or covers(*reversed(pair))] == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_is_symmetric_and_whole_for_equal_texts(one: str, two: str) -> None:
    assert alike(one, two) == alike(two, one)
    assert contradicts(one, two) == contradicts(two, one)
    assert alike(one, one) == 1.0
    assert not contradicts(one, one)


def test_the_same_in_other_case_and_order_of_small_words_is_the_same() -> None:
    assert says_same("Always run `make lint`.", "run `make lint` always")
    assert not says_same("Keep it below 50 characters", "Keep it below 72 characters")


def test_a_longer_rule_covers_the_one_it_includes() -> None:
    assert covers(
        "Run make lint and make test before committing", "Run make lint before committing"
    )
    assert not covers("Run make lint before committing", "Run make lint before committing")


def test_tokens_are_estimated_from_bytes() -> None:
    assert [estimate_tokens(text) for text in ("", "abcd", "abcde", "日本語")] == [0, 1, 2, 3]
