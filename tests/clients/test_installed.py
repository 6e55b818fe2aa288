"""The published clients themselves: installed into, listing, calling, learning, and cleaned up."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.clients.agent_server import AgentServer, Call, Heard, Say, Tool, Turn, agent_server
from tests.clients.scratch import CLAUDE, CLIENTS, OPENCLAW, Client, Scratch, need, prepare

from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import build_proposal
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import ModelServer

TRIES = 3
"""Codex begins without a server that is not there in time, as on a machine under load."""

DESCRIPTION = "House rules learned from this project"


class Steps:
    """A mind that calls these tools one after the other and then ends its turn."""

    def __init__(self) -> None:
        self.calls: Sequence[tuple[str, dict[str, Any]]] = ()
        self.earlier = 0

    def __call__(self, heard: Heard) -> Turn:
        done = len(heard.results) - self.earlier
        if done >= len(self.calls):
            return Say("All done.")
        name, arguments = self.calls[done]
        if tool := find(heard, f"skillopt_{name}"):
            return Call(tool, arguments)
        if tool := find(heard, "tool_call"):
            # OpenClaw keeps MCP tools behind one of its own.
            return Call(tool, {"id": f"skillopt__skillopt-{name}", "args": arguments})
        return Say("All done.")


def find(heard: Heard, name: str) -> Tool | None:
    """Return the offered tool that is ours of this name, however the client spells it."""
    return next((t for t in heard.tools if plain(t.namespace + "_" + t.name).endswith(name)), None)


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name)


def offered(server: AgentServer) -> set[str]:
    names = {plain(tool.name) for heard in server.heard for tool in heard.tools}
    return {name.rpartition("skillopt_")[2] for name in names if "skillopt" in name}


def answer(heard: Heard, at: int) -> dict[str, Any]:
    """Return what our tool said, out of whatever the client wrote around it."""
    text = heard.results[at]
    for begin in re.finditer(r"\{", text):
        try:
            found = json.JSONDecoder().raw_decode(text, begin.start())[0]
        except ValueError:
            continue
        # OpenClaw wraps it once more.
        return cast(
            "dict[str, Any]",
            found.get("result", {}).get("details", {}).get("structuredContent", found),
        )
    raise AssertionError(f"no JSON in {text!r}")


def texts(plan: dict[str, Any]) -> dict[str, str | None]:
    """Return what stands in the files of an install now."""
    paths = [Path(change["path"]) for change in plan["changes"]]
    return {str(path): path.read_text() if path.exists() else None for path in paths}


def asked(
    client: Client, scratch: Scratch, prompt: str, server: AgentServer
) -> tuple[Heard, list[dict[str, Any]]]:
    """Give the client a prompt; return its last request and what our tools said this time."""
    before = len(server.heard[-1].results) if server.heard and client is OPENCLAW else 0
    cast("Steps", server.mind).earlier = before
    for _ in range(TRIES):
        client.ask(scratch, prompt, server.url)
        if len(server.heard[-1].results) > before:
            break
    found = server.heard[-1]
    return found, [answer(found, at) for at in range(before, len(found.results))]


def end_of(scratch: Scratch, job: str) -> None:
    """Follow a job from another process than the client's until it has ended."""
    with scratch.engine() as engine:
        for _ in range(600):
            found = engine.jobs.get(job)
            if found.state != "running":
                assert found.state == "ended", found.reason
                return
            engine.world.sleep(0.1)
    raise AssertionError(f"{job} has not ended")


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_lists_calls_learns_and_unlearns(tmp_path: Path, name: str) -> None:
    client, mind = CLIENTS[name], Steps()
    need(client)
    with ModelServer(SimulatedModel()) as nightly, agent_server(mind) as server:
        scratch = prepare(tmp_path, client, server.url)
        scratch.use_model(nightly.url)
        told = scratch.sleep("install", name, "--json", programs=client.programs)
        (plan,) = json.loads(told)["plans"]
        assert plan["version"]
        installed = texts(plan)

        mind.calls = [("status", {}), ("consolidate", {"wait_s": 0})]
        _, (status, started) = asked(client, scratch, "How is it? Then start a night.", server)
        assert status["project"] == str(scratch.project)
        job = started["job"]
        end_of(scratch, job)
        if client is not OPENCLAW:
            assert {"status", "consolidate", "adopt", "show"} <= offered(server)

        with scratch.engine() as engine:
            engine.archive.harvest()
            calls = [call for one in engine.archive.sessions() for call in one.calls]
            called = [plain(f"{call.name} {call.arguments}") for call in calls]
            assert any("skillopt_status" in one for one in called), called
            engine.review.approve(1, "adopt", how="terminal")
            engine.review.adopt(1, unproven=True)

        mind.calls = [("status", {"job": job})]
        last, (status,) = asked(client, scratch, "How did the night end?", server)
        (found,) = status["jobs"]
        assert found["state"] == "ended"
        assert found["night"]["proposals"] == [1]
        seen = json.dumps(last.body)
        assert "learned-habits" in seen
        assert DESCRIPTION in seen

        now = texts(plan)
        scratch.sleep("uninstall", name)
        after = texts(plan)
        for change in plan["changes"]:
            path = change["path"]
            if now[path] == installed[path]:
                assert after[path] == change["before"], path
            else:
                # The client itself has written to its settings; they are its own again.
                assert "skillopt" not in (after[path] or ""), path


def test_in_claude_code_a_typed_word_is_heard_by_the_hooks_and_adopts(tmp_path: Path) -> None:
    need(CLAUDE)
    mind = Steps()
    with agent_server(mind) as server:
        scratch = prepare(tmp_path, CLAUDE, server.url)
        scratch.sleep("install", "claude-code")
        live = scratch.project / ".claude" / "skills" / "learned-habits" / "SKILL.md"
        with scratch.engine() as engine:
            proposal = build_proposal(live, before=None)
            ProposalStore(engine.database).add(
                replace(proposal, project=str(scratch.project), skill_name=live.parent.name)
            )

        mind.calls = [("adopt", {"number": 1})]
        CLAUDE.ask(scratch, "Adopt proposal 1, I said so.", server.url)
        assert "no human has said to adopt proposal 1" in server.heard[-1].results[0]
        assert "proposals wait for you (1)" in json.dumps(server.heard[0].body)
        assert not live.exists()

        CLAUDE.ask(scratch, "/sleep adopt 1", server.url)
        assert "call `skillopt.adopt`" in server.heard[-1].prompt
        assert answer(server.heard[-1], 0)["status"] == "adopted"
        assert live.read_text() == "new\n"
        assert (scratch.project / ".agents/skills/learned-habits/SKILL.md").read_text() == "new\n"

        with scratch.engine() as engine:
            words = [turn.text for one in engine.archive.sessions() for turn in one.turns]
        assert any("Adopt proposal 1, I said so." in text for text in words)


def test_in_claude_code_sleep_status_answers(tmp_path: Path) -> None:
    need(CLAUDE)
    mind = Steps()
    with agent_server(mind) as server:
        scratch = prepare(tmp_path, CLAUDE, server.url)
        scratch.sleep("install", "claude-code", "--project")
        mind.calls = [("status", {})]
        told = json.loads(CLAUDE.ask(scratch, "/sleep status", server.url))
        assert told["permission_denials"] == []
        assert "The user asked: `/sleep status`" in server.heard[-1].prompt
        assert answer(server.heard[-1], 0)["project"] == str(scratch.project)
