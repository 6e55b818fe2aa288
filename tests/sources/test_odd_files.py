"""Files that are no logs though named so: pipes, links, folders, names that are no text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.sources.archive import Archive

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.errors import SourceError
from skillopt_sleep.sources._lines import document, lines, regular
from skillopt_sleep.sources._sqlite import opened
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.testing import fake_world

PLACES = {
    "claude": ".claude/projects/-p/a.jsonl",
    "codex": ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-a.jsonl",
    "copilot": ".copilot/session-state/x/events.jsonl",
    "cursor": ".cursor/projects/p/agent-transcripts/s/s.jsonl",
    "devin": ".local/share/devin/cli/transcripts/a.json",
    "openclaw": ".openclaw/agents/main/agent/openclaw-agent.sqlite",
    "opencode": ".local/share/opencode/opencode.db",
    "pi": ".pi/agent/sessions/p/a.jsonl",
    "vscode": ".config/Code/User/workspaceStorage/a/chatSessions/a.json",
}
PROMPT = {
    "type": "user",
    "sessionId": "s",
    "uuid": "u",
    "timestamp": "2025-12-31T10:00:00Z",
    "message": {"role": "user", "content": "hello"},
}


@pytest.mark.parametrize("name", PLACES)
def test_a_pipe_at_the_place_of_a_log_is_not_waited_for(archive: Archive, name: str) -> None:
    pipe = archive.home / PLACES[name]
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    assert archive.harvest(name).files == {name: 0}


@pytest.mark.parametrize("name", PLACES)
def test_a_link_at_the_place_of_a_log_is_not_followed(archive: Archive, name: str) -> None:
    outside = archive.root / "outside"
    outside.write_text(json.dumps(PROMPT) + "\n", encoding="utf-8")
    link = archive.home / PLACES[name]
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    assert archive.harvest(name).files == {name: 0}


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_a_log_was_swapped_for_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/etc/hosts")
    refused = r"regular file|symbolic links|Is a directory"
    with pytest.raises(OSError, match=refused):
        regular(path)
    with pytest.raises(OSError, match=refused):
        document(path)
    with pytest.raises(OSError, match=refused):
        list(lines(path, None))
    with pytest.raises(OSError, match=refused), opened(path):
        pass


def test_a_pipe_beside_a_log_is_not_waited_for(archive: Archive) -> None:
    log = archive.home / PLACES["copilot"]
    log.parent.mkdir(parents=True)
    log.touch()
    os.mkfifo(log.with_name("workspace.yaml"))
    assert archive.harvest("copilot").read == {"copilot": 1}


def test_a_name_that_is_no_text_is_told_and_the_others_are_read(archive: Archive) -> None:
    log = archive.put(PLACES["claude"], [PROMPT])
    odd = log.with_name(os.fsdecode(b"bad\xffname.jsonl"))
    odd.write_bytes(log.read_bytes())
    report = archive.harvest("claude")
    (unreadable,) = report.unreadable
    assert unreadable.path.endswith(r"/bad\xffname.jsonl")
    assert report.prompts == {"claude": 1}


def test_one_named_log_may_be_a_link_and_not_a_pipe(archive: Archive) -> None:
    log = archive.root / "export.jsonl"
    log.write_text(json.dumps(PROMPT) + "\n", encoding="utf-8")
    link, pipe = archive.root / "link.jsonl", archive.root / "pipe.jsonl"
    link.symlink_to(log)
    os.mkfifo(pipe)
    world = fake_world(archive.root)
    found = harvest(world, archive.database, HarvestSettings(), file=link, source="claude")
    assert found.prompts == {"claude": 1}
    with pytest.raises(SourceError, match="no regular file"):
        harvest(world, archive.database, HarvestSettings(), file=pipe, source="claude")
