"""What each version of Codex's rollouts says, over a corpus of our own making."""

from __future__ import annotations

import shutil

from tests.sources.archive import Archive

from skillopt_sleep.model.session import Origin, TurnKind


def test_rollouts_without_envelopes_tell_prompts_and_folder(archive: Archive) -> None:
    archive.lay_out("codex/0.2.0", ".codex")
    archive.harvest("codex")
    (only,) = archive.sessions()
    assert [turn.text for turn in only.prompts] == ["add a stock column"]
    assert (only.cwd, only.commit) == ("/srv/shop", "c0ffee")
    assert [(c.command, c.error, c.exit_code) for c in only.calls] == [("ls", True, 2)]


def test_a_prompt_told_twice_counts_once_without_its_ide_context(archive: Archive) -> None:
    archive.lay_out("codex/0.40.0", ".codex")
    archive.harvest("codex")
    (only,) = archive.sessions()
    assert [(turn.kind, turn.text) for turn in only.turns if turn.kind != "assistant"] == [
        (TurnKind.PROMPT, "explain cart.ts"),
        (TurnKind.INTERRUPT, ""),
        (TurnKind.PROMPT, "ja, kürzer bitte"),
    ]
    assert [turn.language for turn in only.prompts] == ["", "de"]
    shell, patch = only.calls
    assert (shell.error, shell.exit_code, shell.refused) == (True, 1, False)
    assert (patch.error, patch.refused, patch.files) == (True, True, ("src/cart.ts",))


def test_cumulative_counters_told_twice_add_up_once(archive: Archive) -> None:
    archive.lay_out("codex/0.40.0", ".codex")
    archive.harvest("codex")
    (use,) = archive.sessions()[0].usage
    assert (use.input_tokens, use.cache_read_tokens, use.output_tokens) == (210, 90, 25)
    assert (use.day, use.model) == ("2026-02-03", "gpt-5-codex")


def test_exec_and_subagent_rollouts_are_told_by_their_first_record(archive: Archive) -> None:
    archive.lay_out("codex/0.171.0", ".codex")
    archive.harvest("codex")
    main, subagent = archive.sessions()
    assert main.origin is Origin.HEADLESS
    assert [turn.text for turn in main.prompts] == ["count the orders"]
    assert [(c.name, c.error, c.exit_code) for c in main.calls] == [
        ("exec_command", True, 3),
        ("mcp__skillopt__skillopt_consolidate", False, None),
    ]
    assert (subagent.origin, subagent.parent) == (Origin.SUBAGENT, main.id)
    assert subagent.prompts == ()


def test_an_archived_rollout_is_the_same_session(archive: Archive) -> None:
    codex = archive.lay_out("codex/0.40.0", ".codex")
    archive.harvest("codex")
    before = archive.sessions()
    (live,) = (codex / "sessions").rglob("*.jsonl")
    (codex / "archived_sessions").mkdir()
    shutil.move(live, codex / "archived_sessions" / live.name)
    report = archive.harvest("codex")
    (after,) = archive.sessions()
    assert (report.new_sessions, report.prompts) == (0, {"codex": 0})
    assert [t.text for t in after.turns] == [t.text for t in before[0].turns]
    assert after.usage == before[0].usage
