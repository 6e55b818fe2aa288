"""Equality and shared words after normalisation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.judges.exact import ExactJudge, f1, normal
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import fake_world

TASK = Task(id="t", cluster="c", prompt="p")
words = st.lists(st.sampled_from(["red", "green", "blue", "one", "two"]), max_size=6).map(" ".join)


def verdict(root: Path, operator: Operator, value: str, answer: str) -> Verdict:
    check = Check(id="x", operator=operator, value=value)
    return ExactJudge(fake_world(root)).verdict(check, TASK, Outcome(answer=answer))


@pytest.mark.parametrize(
    ("right", "answer"),
    [
        ("The Eiffel Tower", "eiffel tower."),
        ("1000", "1,000"),
        ("3.5", "3.5"),
        ("Paris", "It took a while.\n\nAnswer: Paris"),
        ("Paris", "I think so. <answer>\nParis\n</answer>"),
        ("Paris", "**Final answer: Paris**"),
        ('["Paris", "Lutetia"]', "lutetia"),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_what_does_not_matter_does_not_count(right: str, answer: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, Operator.EQUALS, right, answer).passed


@pytest.mark.parametrize(
    ("right", "answer"),
    [("3.5", "35"), ("-5", "5"), ("Paris", "Paris, France"), ("a", ""), ("the", "a")],
)
def test_what_matters_counts(right: str, answer: str, tmp_path: Path) -> None:
    found = verdict(tmp_path, Operator.EQUALS, right, answer)
    assert (found.passed, found.share) == (False, 0.0)


def test_f1_passes_on_equality_alone_and_shares_by_words(tmp_path: Path) -> None:
    half = verdict(tmp_path, Operator.F1, "red green", "red blue")
    assert (half.passed, half.share) == (False, 0.5)
    whole = verdict(tmp_path, Operator.F1, "red green", "the red, green")
    assert (whole.passed, whole.share) == (True, 1.0)


@settings(max_examples=60, deadline=None)
@given(words, words)
def test_f1_is_symmetric_and_one_only_for_the_same_words(one: str, two: str) -> None:
    assert f1(one, two) == f1(two, one)
    assert 0 <= f1(one, two) <= 1
    assert (f1(one, two) == 1.0) == (sorted(one.split()) == sorted(two.split()) != [])


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normal(normal(text)) == normal(text)
