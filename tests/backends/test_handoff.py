"""Prompts to files, answers from files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.backends.handoff import HandoffBackend, give_answer, prompt_key, waiting
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import AnswersWantedError, BackendError
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.testing import fake_world

PROMPT = Prompt(
    stage=Stage.ATTEMPT,
    system="Follow the skill.",
    messages=(Message(role="user", text="Run the tests."),),
)


def handoff(root: Path) -> HandoffBackend:
    folder = str(root / "handoff")
    return HandoffBackend(BackendSettings(name="handoff", folder=folder), fake_world(root))


def ask(root: Path, prompt: Prompt = PROMPT) -> AnswersWantedError:
    with pytest.raises(AnswersWantedError) as caught:
        handoff(root).complete(prompt)
    return caught.value


def test_a_prompt_waits_as_a_page_that_says_where_its_answer_goes(tmp_path: Path) -> None:
    error = ask(tmp_path)
    folder = tmp_path / "handoff"
    key = prompt_key(PROMPT)
    page = (folder / f"{key}.prompt.md").read_text()
    assert (error.folder, error.waiting) == (str(folder), 1)
    for part in ("Follow the skill.", "Run the tests.", f"{key}.answer.md", "fresh context"):
        assert part in page
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_an_answer_is_found_by_the_next_run(tmp_path: Path) -> None:
    ask(tmp_path)
    (tmp_path / "handoff" / f"{prompt_key(PROMPT)}.answer.md").write_text("\nAll green.\n")
    reply = handoff(tmp_path).complete(PROMPT)
    assert (reply.text, reply.usage.calls, reply.usage.tokens) == ("All green.", 1, 0)
    assert waiting(tmp_path / "handoff") == ()


def test_an_empty_answer_is_none_yet(tmp_path: Path) -> None:
    ask(tmp_path)
    (tmp_path / "handoff" / f"{prompt_key(PROMPT)}.answer.md").write_text(" \n")
    ask(tmp_path)


def test_what_waits_can_be_listed_and_answered_by_key(tmp_path: Path) -> None:
    ask(tmp_path)
    folder = tmp_path / "handoff"
    (one,) = waiting(folder)
    assert one.prompt == PROMPT
    give_answer(folder, one.key, "All green.")
    assert handoff(tmp_path).complete(PROMPT).text == "All green."


@pytest.mark.parametrize(("key", "text"), [("nope", "x"), ("../../etc/x", "x"), ("", "x")])
def test_an_answer_to_a_prompt_that_does_not_wait_is_refused(
    key: str, text: str, tmp_path: Path
) -> None:
    ask(tmp_path)
    with pytest.raises(BackendError, match=prompt_key(PROMPT)):
        give_answer(tmp_path / "handoff", key, text)


def test_draws_of_one_prompt_wait_apart(tmp_path: Path) -> None:
    ask(tmp_path)
    ask(tmp_path, Prompt(stage=Stage.ATTEMPT, messages=PROMPT.messages, draw=1))
    assert len(waiting(tmp_path / "handoff")) == 2


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "handoff").write_text("a file")
    with pytest.raises(BackendError, match="handoff"):
        handoff(tmp_path).complete(PROMPT)


def test_a_page_about_a_held_out_task_says_who_may_not_answer_it_and_goes_once_answered(
    tmp_path: Path,
) -> None:
    held_out = replace(PROMPT, blind=True)
    ask(tmp_path, held_out)
    folder = tmp_path / "handoff"
    (one,) = waiting(folder)
    assert "must not also answer pages" in one.page
    give_answer(folder, one.key, "All green.")
    assert [handoff(tmp_path).complete(held_out).text for _ in range(2)] == ["All green."] * 2
    assert [path.name for path in folder.iterdir()] == [f"{one.key}.answer.md"]


def test_a_page_about_a_train_task_is_open_to_all_and_stays(tmp_path: Path) -> None:
    ask(tmp_path)
    (one,) = waiting(tmp_path / "handoff")
    assert "must not also answer" not in one.page
    give_answer(tmp_path / "handoff", one.key, "All green.")
    handoff(tmp_path).complete(PROMPT)
    assert "Run the tests." in (tmp_path / "handoff" / f"{one.key}.prompt.md").read_text()
