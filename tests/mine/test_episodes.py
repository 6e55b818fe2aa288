"""Episodes: where one request ends and the next begins, and the signals between."""

from __future__ import annotations

import json

from tests.mine.tree import Said, asked, event, ran, replied, session, wrote

from skillopt_sleep.mine.commands import landed, reverted, verifies, verifying_part
from skillopt_sleep.mine.episodes import episodes
from skillopt_sleep.mine.outcomes import bad_outcome, good_outcome, written
from skillopt_sleep.model.episode import Episode, SignalKind
from skillopt_sleep.model.session import ToolCall, TurnKind


def texts(found: tuple[Episode, ...]) -> list[str]:
    return [episode.text for episode in found]


def kinds(episode: Episode) -> list[SignalKind]:
    return [signal.kind for signal in episode.signals]


def test_a_correction_belongs_to_the_request_it_corrects() -> None:
    found = episodes(
        session(
            "a",
            asked("add httpx to the project"),
            replied("Installed with pip."),
            asked("no, use uv instead of pip"),
            replied("Added with uv."),
            asked("now write a changelog entry"),
            replied("Written."),
        )
    )
    assert texts(found) == ["add httpx to the project", "now write a changelog entry"]
    assert [turn.text for turn in found[0].followups] == ["no, use uv instead of pip"]
    assert kinds(found[0]) == [SignalKind.CORRECTION]
    assert found[0].friction
    assert not found[1].friction


def test_answers_praise_and_going_on_open_no_episode() -> None:
    found = episodes(
        session(
            "a",
            asked("draw the diagram"),
            replied("With or without the queue?"),
            asked("with the queue"),
            replied("Here it is."),
            asked("great, thanks"),
            asked("continue"),
        )
    )
    assert texts(found) == ["draw the diagram"]
    assert kinds(found[0]) == [SignalKind.ACCEPTANCE]


def test_a_slash_command_asks_with_its_words_and_clear_ends_the_talk() -> None:
    def command(text: str) -> Said:
        return Said(kind=TurnKind.COMMAND, text=text)

    found = episodes(
        session(
            "a",
            command("/plan a page with a chart"),
            replied("Planned."),
            command("/clear"),
            command("/model"),
            command("! git status"),
        )
    )
    assert texts(found) == ["a page with a chart"]


def test_red_to_green_commit_and_revert_are_seen() -> None:
    found = episodes(
        session(
            "a",
            asked("fix the tests"),
            ran("cd web && npm test 2>&1 | tail -5", failed=True),
            ran("cd web && npm test"),
            ran("git add -A && git commit -m 'fix'"),
            ran("git reset --hard HEAD~1"),
            replied("Done."),
        )
    )
    assert kinds(found[0]) == [
        SignalKind.FAILED_COMMAND,
        SignalKind.RED_TO_GREEN,
        SignalKind.COMMIT,
        SignalKind.REVERT,
    ]


def test_an_interrupt_is_friction() -> None:
    cut = session("a", asked("write it"), replied("I begin."), event(TurnKind.INTERRUPT))
    assert kinds(episodes(cut)[0]) == [SignalKind.INTERRUPT]
    assert good_outcome(episodes(cut)[0]) is None


def test_earlier_words_are_context_but_corrections_are_not() -> None:
    found = episodes(
        session(
            "a",
            asked("read the billing module"),
            replied("Read."),
            asked("no, the other one"),
            replied("Read that."),
            asked("rename the class in it"),
        )
    )
    assert found[1].context == "read the billing module"


def test_outcomes_hold_words_files_and_commands_before_and_after_the_correction() -> None:
    found = episodes(
        session(
            "a",
            asked("list the files"),
            wrote("import os.path"),
            replied("Written with os.path."),
            asked("use pathlib, not os.path"),
            wrote("from pathlib import Path"),
            ran("ruff check"),
            replied("Rewritten."),
        )
    )
    bad, good = bad_outcome(found[0], 1), good_outcome(found[0])
    assert bad is not None
    assert good is not None
    assert "import os.path" in bad.answer
    assert "from pathlib" in good.answer
    assert "os.path" not in good.answer
    assert good.commands == ("ruff check",)


def test_of_a_patch_only_the_added_lines_were_written() -> None:
    patch = json.dumps({"patch": "--- a\n+++ b\n-old\n+new\n kept"})
    assert list(written(ToolCall(id="1", name="apply_patch", arguments=patch))) == ["new"]


def test_ids_do_not_depend_on_where_the_log_lies() -> None:
    def made(*before: Said) -> str:
        return episodes(session("a", *before, asked("draw a diagram")))[-1].id

    assert made() == made(replied("Hello."))


def test_commands_are_read_for_what_they_are_for() -> None:
    assert verifies("cd core && uv run pytest -q 2>&1 | tail -3") == "pytest"
    assert verifies("python -m pytest tests") == "pytest"
    assert verifies("npm run build") == "npm run build"
    assert verifies("echo pytest") == ""
    assert verifies("cat 'unclosed") == ""
    assert verifies("mise run test -- ./core/...") == "mise run test"
    assert verifies("yarn lint:fix") == "yarn lint:fix"
    assert verifies("make install") == ""
    assert landed("git commit -m \"$(cat <<'EOF'\nfix: the sum\nEOF\n)\"")
    assert verifying_part("cd core && pytest -q 2>&1 | tail -3") == "pytest -q"
    assert landed("git add . && git commit -m x")
    assert not landed("git log")
    assert reverted("git checkout -- a.py")
    assert not reverted("git checkout main")
