"""A file of requests is read whole or refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.errors import TaskFileError
from skillopt_sleep.mine.prompts import read_prompts


def test_requests_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text('{"id": "b", "text": "zwei", "label": null}\n\n{"id": 1, "text": "一"}\n')
    assert read_prompts(path) == [("b", "zwei"), ("1", "一")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 2 has no JSON"),
        ("[1]", "line 2 has no object"),
        ('{"id": "b"}', "line 2 has no object with 'id' and 'text'"),
        ('{"id": "b", "text": 3}', "line 2 has no object"),
        ('{"id": true, "text": "x"}', "line 2 has no object"),
        ('{"id": "a", "text": "x"}', "line 2 has the id 'a' for the second time"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text('{"id": "a", "text": "one"}\n' + line + "\n")
    with pytest.raises(TaskFileError) as caught:
        read_prompts(path)
    assert caught.value.line == 2
    assert str(caught.value).startswith(said)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="cannot be read") as caught:
        read_prompts(tmp_path / "none.jsonl")
    assert caught.value.line == 0
