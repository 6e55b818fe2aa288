"""What stands in the user's place and what of it a human typed, marker by marker."""

from __future__ import annotations

import pytest

from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.sources._claude_words import answers, of_record, of_text, words_of_rejection
from skillopt_sleep.sources._codex_words import output_of, typed

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you"
    " how to proceed, the user said:\n"
)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("fix it", TurnKind.PROMPT, "fix it"),
        ("[Request interrupted by user]", TurnKind.INTERRUPT, ""),
        ("[Request interrupted by user]\nuse the other one", TurnKind.PROMPT, "use the other one"),
        ("<task-notification>\n<id>1</id>\n</task-notification>\nRead the file", None, ""),
        ("<system-reminder>x</system-reminder>", None, ""),
        ("<system-reminder>x</system-reminder>\n\nfix it", TurnKind.PROMPT, "fix it"),
        ("<ide_selection>a\nb</ide_selection>why?", TurnKind.PROMPT, "why?"),
        ("<bash-input>ls -l</bash-input>", TurnKind.COMMAND, "! ls -l"),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", None, ""),
        ("<command-name>/pr</command-name>", TurnKind.COMMAND, "/pr"),
        ("<user-memory-input>use uv</user-memory-input>", TurnKind.REMARK, "use uv"),
        ("a <b>bold</b> heading please", TurnKind.PROMPT, "a <b>bold</b> heading please"),
        ("  ", None, ""),
    ],
)
def test_claudes_markers(text: str, kind: TurnKind | None, said: str) -> None:
    found = of_text(text)
    assert (found.kind, found.text) == (kind, said)


@pytest.mark.parametrize(
    ("fields", "human"),
    [
        ({}, True),
        ({"origin": {"kind": "human"}}, True),
        ({"origin": {"kind": "coordinator"}}, False),
        ({"promptSource": "system"}, False),
        ({"promptSource": "typed"}, True),
        ({"isMeta": True}, False),
        ({"isVisibleInTranscriptOnly": True}, False),
    ],
)
def test_fields_decide_who_speaks(fields: dict[str, object], human: bool) -> None:
    assert (of_record(fields, "fix it").kind is TurnKind.PROMPT) is human


def test_a_human_may_quote_the_harness() -> None:
    text = "Operation stopped by hook: what does that mean?"
    assert of_record({"permissionMode": "default"}, text).kind is TurnKind.PROMPT
    assert of_record({}, text).kind is None


def test_the_words_of_a_refusal_end_before_the_harness_goes_on() -> None:
    hint = "\n\nNote: The user's next message may contain a correction or preference. Look."
    assert words_of_rejection(f"{REFUSED}not so{hint}") == "not so"
    assert words_of_rejection("cat: the user said:\nhello") == ""


def test_answers_of_every_shape_are_words() -> None:
    asked = {"answers": {"a": ["x", "y"], "b": "z"}, "annotations": {"b": {"notes": "soon"}}}
    assert answers(asked) == "x, y\nz\nsoon"
    assert answers("no") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Context from my IDE setup:\n\n## My request for Codex:\nwhy?\n", "why?"),
        ("# Context from my IDE setup:\n\nnothing", ""),
        ("<environment_context>\n</environment_context>", ""),
        ("# Plan\n\n## User Input\n\n```text\nadd login\n```\n\nYou must.", "add login"),
        ("look <image name=[Image #1]>\n</image>", "look"),
    ],
)
def test_codexs_wrappers_come_off(text: str, said: str) -> None:
    assert typed(text) == said


@pytest.mark.parametrize(
    ("output", "failed", "code"),
    [
        ('{"output":"a","metadata":{"exit_code":2,"duration_seconds":0.1}}', True, 2),
        ('{"output":"a","metadata":{"exit_code":0}}', False, 0),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\n", True, 1),
        ("Chunk ID: a\nWall time: 1.5 seconds\nProcess exited with code 0\nOutput:\n", False, 0),
        ("failed in sandbox X with execution error: sandbox denied, exit code: 7", True, 7),
        ("exec command rejected by user", True, None),
        ({"content": "no", "success": False}, True, None),
        ([{"type": "input_text", "text": "fine"}], None, None),
        ("a page that says Process exited", None, None),
        (None, None, None),
    ],
)
def test_failures_in_every_spelling(output: object, failed: bool | None, code: int | None) -> None:
    found = output_of(output)
    assert (found.failed, found.code) == (failed, code)
