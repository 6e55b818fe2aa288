"""Corrections, measured on labelled turns and told by where they stand.

``turns.jsonl`` holds turns in six parts. ``tune`` and ``held_out`` were written before the
patterns, the others after them. The documentation of mining says what the
first run on each reached, which is the figure to quote; the bounds here keep what there is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.mine.tree import asked, event, ran, remarked, replied, session

from skillopt_sleep.mine.signals import (
    Moment,
    accepts,
    complains,
    continues,
    corrections,
    corrects,
)
from skillopt_sleep.model.session import Session, ToolCall, Turn, TurnKind

TURNS = Path(__file__).parent / "turns.jsonl"


@dataclass(frozen=True)
class Rates:
    precision: float
    recall: float


def labelled(part: str) -> Iterator[tuple[Turn, Moment, bool]]:
    for line in TURNS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["half"] == part:
            moment = Moment(
                earlier=(row.get("request", "the request"),),
                agent=row["agent"],
                event=TurnKind(row["event"]) if row["event"] else None,
            )
            yield Turn(index=3, kind=TurnKind.PROMPT, text=row["text"]), moment, row["correction"]


def rates(part: str) -> Rates:
    hits = false = missed = 0
    for turn, moment, wanted in labelled(part):
        got = corrects(turn, moment)
        hits += got and wanted
        false += got and not wanted
        missed += wanted and not got
    return Rates(precision=hits / (hits + false), recall=hits / (hits + missed))


def test_the_labelled_turns_are_many_and_of_many_languages() -> None:
    rows = [json.loads(line) for line in TURNS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 150
    assert len({row["language"] for row in rows}) >= 14
    assert 0.3 < sum(row["correction"] for row in rows) / len(rows) < 0.7


@pytest.mark.parametrize(
    ("part", "precision", "recall"),
    [
        ("tune", 0.98, 0.98),
        ("held_out", 0.95, 0.95),
        ("late", 0.95, 0.85),
        ("last", 0.95, 0.85),
        ("final", 0.9, 0.75),
        ("blind", 0.95, 0.75),
    ],
)
def test_corrections_are_found_and_little_else(part: str, precision: float, recall: float) -> None:
    found = rates(part)
    assert found.precision >= precision
    assert found.recall >= recall


@pytest.mark.parametrize(
    "text",
    [
        "this computes the greatest common divisor",
        "the Goodyear report",
        "undoubtedly",
        "stopwatch",
    ],
)
def test_words_are_told_by_whole_tokens(text: str) -> None:
    assert not accepts(text)
    assert not complains(text)


@pytest.mark.parametrize(
    "text", ["no problem", "No worries!", "kein Problem", "pas de souci", "没问题", "問題ないです"]
)
def test_no_problem_is_no_refusal(text: str) -> None:
    assert not complains(text, after="Done.")
    assert accepts(text)


def test_a_bare_no_to_a_question_of_the_agent_is_an_answer() -> None:
    assert not complains("no", after="Shall I commit?")
    assert complains("no, use the other file", after="Shall I commit?")


def test_the_first_words_of_a_session_correct_nothing() -> None:
    assert corrections(session("a", asked("no, use uv instead of pip"), replied("Fine."))) == ()


def test_words_right_after_an_interrupt_correct_unless_they_only_go_on() -> None:
    def after_interrupt(text: str) -> tuple[Turn, ...]:
        cut = event(TurnKind.INTERRUPT)
        return corrections(
            session("a", asked("move the button"), replied("I start."), cut, asked(text))
        )

    assert len(after_interrupt("completely outside of the bar")) == 1
    assert after_interrupt("continue") == ()
    assert after_interrupt("how long will this take?") == ()
    assert after_interrupt("thanks!") == ()


def test_the_same_words_again_after_an_interrupt_correct_nothing() -> None:
    cut = event(TurnKind.INTERRUPT)
    again = session("a", asked("fix tests"), replied("I start."), cut, asked("Fix tests!"))
    assert corrections(again) == ()


def test_an_answer_given_elsewhere_than_in_a_prompt_is_no_correction() -> None:
    answer = session("a", asked("add a page"), replied("Two ways."), remarked("no"))
    assert corrections(answer) == ()


def test_a_remark_inside_a_refused_call_corrects() -> None:
    refused = ToolCall(id="1", name="Bash", command="rm -rf build", after=1, refused=True)
    turns = (
        Turn(index=0, kind=TurnKind.PROMPT, text="clean up"),
        Turn(index=1, kind=TurnKind.ASSISTANT, text="I remove the folder."),
        Turn(index=2, kind=TurnKind.REMARK, text="leave the build folder where it is"),
    )
    made = Session(id="s", harness="claude", session_id="s", path="", turns=turns, calls=(refused,))
    assert [turn.index for turn in corrections(made)] == [2]


def test_a_request_that_is_made_again_with_more_words_corrects() -> None:
    first = "write the query for the archive table"
    again = "write the query for the archive table with a limit"
    assert len(corrections(session("a", asked(first), replied("Done."), asked(again)))) == 1


def test_the_same_request_for_another_thing_does_not_correct() -> None:
    one, two = "fix the linter warnings in the web folder", "fix the tests in the core folder"
    assert corrections(session("a", asked(one), replied("Done."), asked(two))) == ()


def test_the_same_words_twice_without_work_between_do_not_correct() -> None:
    assert corrections(session("a", asked("fix tests"), asked("fix tests"), replied("."))) == ()


def test_only_humans_correct() -> None:
    made = session(
        "a",
        asked("install httpx"),
        ran("cat README", output="no, use curl instead of pip"),
        replied("That's wrong. No, use uv instead of pip."),
        remarked("thanks"),
    )
    assert corrections(made) == ()


def test_a_question_is_no_complaint_but_a_complaint_may_end_in_a_question() -> None:
    assert not complains("is the cache still broken?", after="Done.")
    assert complains("no, not the link, the note! where did you open it?", after="Done.")


@pytest.mark.parametrize("text", ["continue", "go on", "weiter", "继续", "続けて", "yes"])
def test_going_on_is_recognised(text: str) -> None:
    assert continues(text)


LOGS = Path(__file__).parents[3] / "shared" / "transcripts"


@pytest.mark.skipif(not LOGS.is_dir(), reason="the shared logs are not on this machine")
def test_nine_labelled_corrections_of_real_logs_are_found(tmp_path: Path) -> None:
    from tests.mine.real_logs import compare  # noqa: PLC0415 - only where the logs are

    found, missed, false = compare(LOGS, tmp_path)
    assert found >= 8, missed
    assert len(false) <= 1
