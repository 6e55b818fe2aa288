"""What each version of Claude Code's transcripts says, over a corpus of our own making."""

from __future__ import annotations

from tests.sources.archive import Archive

from skillopt_sleep.model.session import Origin, Session, TurnKind


def story(session: Session) -> list[tuple[str, str]]:
    """What the human did, in log order."""
    return [
        (turn.kind.value, turn.text)
        for turn in session.turns
        if turn.kind is not TurnKind.ASSISTANT
    ]


def test_an_inline_sidechain_is_a_session_of_its_own_without_a_human(archive: Archive) -> None:
    archive.lay_out("claude/1.0.108", ".claude")
    archive.harvest("claude")
    main, side = archive.sessions()
    assert story(main) == [
        ("command", "/audit the price table"),
        ("prompt", "then make it from prices.xlsx"),
    ]
    assert [(call.name, call.error, call.seconds) for call in main.calls] == [("Task", False, 5.1)]
    assert (side.origin, side.parent) == (Origin.SUBAGENT, main.id)
    assert side.path == f"{main.path}#sidechain"
    assert side.prompts == ()
    assert [(call.name, call.error) for call in side.calls] == [("Read", True)]


def test_the_humans_words_in_tool_results_are_remarks_and_the_rest_is_not(
    archive: Archive,
) -> None:
    archive.lay_out("claude/2.0.26", ".claude")
    archive.harvest("claude")
    main, subagent = archive.sessions()
    assert story(main) == [
        ("command", "/clear"),
        ("prompt", "round the cart total to cents"),
        ("interrupt", ""),
        ("prompt", "not in the template, in cart.ts"),
        ("remark", "half even, as the bank does"),
        ("rejection", ""),
        ("remark", "keep the old function too"),
    ]
    assert [(c.name, c.error, c.refused, c.exit_code) for c in main.calls] == [
        ("AskUserQuestion", False, False, None),
        ("Edit", True, True, None),
        ("Bash", True, False, 2),
    ]
    assert main.calls[1].files == ("/srv/shop/cart.ts",)
    assert main.calls[2].command == "npm test"
    assert (subagent.origin, subagent.parent) == (Origin.SUBAGENT, main.id)
    assert subagent.prompts == ()


def test_a_resume_and_a_fork_repeat_nothing_and_are_one_conversation(archive: Archive) -> None:
    archive.lay_out("claude/2.1.14", ".claude")
    report = archive.harvest("claude")
    (only,) = archive.sessions()
    assert story(only) == [
        ("prompt", "list the open orders"),
        ("prompt", "yes"),
        ("prompt", "yes"),
        ("prompt", "now only the unpaid ones"),
    ]
    assert [call.command for call in only.calls] == ["orders --open", "orders --unpaid"]
    assert only.calls[0].seconds == 60.0
    assert report.prompts == {"claude": 4}
    # The second "yes" was typed after the resume, and keeps its own line.
    assert only.turns[-3].line > 6


def test_queued_prompts_count_once_and_not_when_taken_back(archive: Archive) -> None:
    archive.lay_out("claude/2.1.30", ".claude")
    archive.harvest("claude")
    (only,) = archive.sessions()
    assert [turn.text for turn in only.prompts] == [
        "ship it",
        "ship it",
        "to staging only",
        "now tag it",
        "and announce it in the changelog",
    ]


def test_origins_and_harness_text_are_decided_from_fields(archive: Archive) -> None:
    archive.lay_out("claude/2.1.332", ".claude")
    archive.harvest("claude")
    by_name = {session.session_id: session for session in archive.sessions()}
    assert {name[:8] + name[36:]: session.origin.value for name, session in by_name.items()} == {
        "aaaa0004": "human",
        "aaaa0004:a77": "subagent",
        "aaaa0005": "headless",
        "aaaa0006": "own",
        "aaaa0099": "human",
    }
    main = by_name["aaaa0004-1111-4111-8111-111111111111"]
    assert story(main) == [
        ("prompt", "why is checkout slow?"),
        ("prompt", "use one join"),
        ("compaction", ""),
    ]
    subagent = by_name["aaaa0004-1111-4111-8111-111111111111:a77"]
    assert (subagent.origin, subagent.parent) == (Origin.SUBAGENT, main.id)
    assert subagent.calls[0].exit_code == 127


def test_usage_counts_each_message_once_at_its_highest(archive: Archive) -> None:
    archive.lay_out("claude/2.1.332", ".claude")
    archive.harvest("claude")
    main = archive.store.session("aaaa0004-1111-4111-8111-111111111111")
    (use,) = main.usage
    # Three messages: one in three records that count up to 60, two of 20.
    assert (use.input_tokens, use.output_tokens, use.cache_read_tokens) == (30, 100, 300)
    assert sum(day.output_tokens for day in archive.store.usage()) == 100 + 20 + 20 + 20


def test_the_history_tells_of_deleted_sessions_only(archive: Archive) -> None:
    archive.lay_out("claude/2.1.332", ".claude")
    archive.harvest("claude")
    gone = archive.store.session("aaaa0099-1111-4111-8111-111111111111")
    assert [(turn.text, turn.pasted) for turn in gone.prompts] == [
        ("what did we deploy in spring?", ("v1\nv2",))
    ]
    kept = archive.store.session("aaaa0004-1111-4111-8111-111111111111")
    assert [turn.text for turn in kept.prompts].count("why is checkout slow?") == 1
    assert not kept.path.endswith("history")


def test_a_history_whose_sessions_are_all_there_adds_no_prompt(archive: Archive) -> None:
    name = "aaaa0050-1111-4111-8111-111111111111"
    at = "2026-12-01T05:36:30.158Z"
    row = {
        "type": "user",
        "uuid": "u1",
        "sessionId": name,
        "cwd": "/srv/shop",
        "version": "2.1.197",
        "timestamp": at,
        "message": {"role": "user", "content": "install the requests library"},
    }
    archive.put(f".claude/projects/-srv-shop/{name}.jsonl", [row])
    told: dict[str, object] = {
        "display": "install the requests library",
        "pastedContents": {},
        "timestamp": 1796103390158,
        "project": "/srv/shop",
        "sessionId": name,
    }
    archive.put(".claude/history.jsonl", [told])
    report = archive.harvest("claude")
    assert report.prompts == {"claude": 1}
    (session,) = archive.store.sessions()
    assert [turn.text for turn in session.prompts] == ["install the requests library"]


def test_a_long_second_copy_of_an_output_changes_nothing_that_is_kept(archive: Archive) -> None:
    body = 'a "toolUseResult": b\\n' * 2_000
    told: dict[str, object] = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": body,
        "is_error": True,
    }
    rows: list[object] = [
        {"type": "assistant", "sessionId": "s", "message": {"id": "m", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"toolUseResult": body}}]}},
        {"type": "user", "sessionId": "s", "message": {"content": [told]}, "toolUseResult": body},
    ]  # fmt: skip
    archive.put(".claude/projects/p/s.jsonl", rows)
    assert archive.harvest("claude").skipped == {}
    (call,) = archive.sessions()[0].calls
    assert (call.name, call.error) == ("Bash", True)
    assert call.arguments.startswith('{"toolUseResult":"a ')
    assert call.output.startswith('a "toolUseResult": b')
