"""Task files: what is written is read back, and a wrong line is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import TaskFileError
from skillopt_sleep.mine.taskfile import export_tasks, import_tasks
from skillopt_sleep.model.check import Check, Evidence, Operator, Validity
from skillopt_sleep.model.task import Split, Task

PROVEN = Check(
    id="c1",
    operator=Operator.COMMAND_RAN,
    value="uv",
    validity=Validity.PROVEN,
    evidence=(Evidence(session="s", turn=3, quote="use uv"),),
)
TASK = Task(
    id="t1",
    cluster="k",
    prompt="add httpx",
    checks=(PROVEN,),
    split=Split.HELD_OUT,
    session="claude:1",
    at=datetime(2025, 12, 1, tzinfo=UTC),
)

words = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
tasks = st.builds(
    Task,
    id=words,
    cluster=words,
    prompt=words,
    context=st.text(max_size=40),
    split=st.sampled_from(Split),
    score=st.floats(0, 100),
    checks=st.just((PROVEN,)),
)


@given(st.lists(tasks, max_size=4, unique_by=lambda task: task.id))
@settings(max_examples=50, deadline=None)
def test_what_is_exported_is_imported(some: list[Task]) -> None:
    assert import_tasks(export_tasks(some)) == tuple(some)


def test_what_a_person_sends_back_counts_as_reviewed() -> None:
    doubtful = replace(PROVEN, validity=Validity.UNPROVEN)
    (back,) = import_tasks(export_tasks([replace(TASK, checks=(doubtful,))]))
    assert back.checks[0].validity is Validity.REVIEWED


def test_a_new_task_needs_little() -> None:
    line = (
        '{"id": "mine", "prompt": "add rich", "checks": [{"operator": "contains", "value": "a"}]}'
    )
    (task,) = import_tasks(f"# a comment\n\n{line}\n")
    assert (task.id, task.cluster, task.checks[0].validity) == ("mine", "mine", Validity.REVIEWED)
    assert task.checks[0].id


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "no JSON"),
        ("[]", "'list'"),
        ('{"id": "a"}', "prompt"),
        ('{"id": "a", "prompt": " "}', "empty id or prompt"),
        ('{"id": "a", "promt": "x"}', "'promt'; wanted 'prompt'"),
        ('{"id": "a", "prompt": "x", "split": "test"}', "split"),
        ('{"id": "a", "prompt": "x", "checks": [{"operator": "has", "value": "y"}]}', "checks.0"),
        (
            '{"id": "a", "prompt": "x", "checks": [{"operator": "contains", "value": ""}]}',
            "no value",
        ),
        (
            '{"id": "a", "prompt": "x", "checks": [{"operator": "max_words", "value": "few"}]}',
            "whole number",
        ),
        (
            '{"id": "a", "prompt": "x", "checks": [{"operator": "regex", "value": "("}]}',
            "regular expression",
        ),
        ('{"id": "t1", "prompt": "x"}', "second time"),
        ('{"id": "b", "prompt": "x", "session": "claude:1", "split": "train"}', "'held_out' above"),
    ],
)
def test_a_wrong_line_refuses_the_file_and_is_named(line: str, words: str) -> None:
    text = export_tasks([TASK])
    number = text.count("\n") + 1
    with pytest.raises(TaskFileError) as caught:
        import_tasks(f"{text}{line}\n")
    assert caught.value.line == number
    assert f"line {number}" in str(caught.value)
    assert words in str(caught.value)


def test_odd_line_separators_inside_a_text_do_not_part_it() -> None:
    odd = replace(TASK, prompt="one\u2028two\x85three")
    assert import_tasks(export_tasks([odd])) == (odd,)
