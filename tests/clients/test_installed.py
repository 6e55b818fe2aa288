"""The published clients themselves: installed into, listing, calling, learning, and cleaned up."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.clients.agent_server import AgentServer, Call, Heard, Say, Tool, Turn, agent_server
from tests.clients.scratch import CLIENTS, Scratch, need, prepare

from skillopt_sleep.edge import open_engine
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import ModelServer

DESCRIPTION = "House rules learned from this project"


class Steps:
    """A mind that calls these tools one after the other and then ends its turn."""

    def __init__(self) -> None:
        self.calls: Sequence[tuple[str, dict[str, Any]]] = ()

    def __call__(self, heard: Heard) -> Turn:
        done = len(heard.results)
        if done >= len(self.calls):
            return Say("All done.")
        name, arguments = self.calls[done]
        tool = find(heard, name)
        return Call(tool, arguments) if tool else Say("All done.")


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
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    return found


def texts(paths: Sequence[str]) -> dict[str, bytes | None]:
    return {path: Path(path).read_bytes() if Path(path).exists() else None for path in paths}


def end_of(scratch: Scratch, job: str) -> None:
    """Follow a job from another process than the client's until it has ended."""
    with open_engine(home=scratch.home, project=scratch.project, state=scratch.state) as engine:
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
        (plan,) = json.loads(scratch.sleep("install", name, "--dry-run", "--json"))["plans"]
        paths = [change["path"] for change in plan["changes"]]
        before = texts(paths)
        scratch.sleep("install", name)
        assert plan["version"]
        installed = texts(paths)

        mind.calls = [("skillopt_status", {}), ("skillopt_consolidate", {"wait_s": 0})]
        client.ask(scratch, "How does it stand? Then start a night.", server.url)
        assert {"status", "consolidate", "adopt", "show"} <= offered(server)
        last = server.heard[-1]
        assert answer(last, 0)["project"] == str(scratch.project)
        job = answer(last, 1)["job"]
        end_of(scratch, job)

        with open_engine(home=scratch.home, project=scratch.project, state=scratch.state) as engine:
            engine.archive.harvest()
            called = [
                call.name for session in engine.archive.sessions() for call in session.calls
            ]
            assert any(plain(one).endswith("skillopt_status") for one in called), called
            engine.review.approve(1, "adopt", how="terminal")
            engine.review.adopt(1, unproven=True)

        mind.calls = [("skillopt_status", {"job": job})]
        client.ask(scratch, "How did the night end?", server.url)
        (found,) = answer(server.heard[-1], 0)["jobs"]
        assert found["state"] == "ended"
        assert found["night"]["proposals"] == [1]
        seen = json.dumps(server.heard[-1].body)
        assert "learned-habits" in seen
        assert DESCRIPTION in seen

        now = texts(paths)
        scratch.sleep("uninstall", name)
        after = texts(paths)
        for path in paths:
            if now[path] == installed[path]:
                assert after[path] == before[path], path
            else:
                assert b"skillopt" not in (after[path] or b""), path
