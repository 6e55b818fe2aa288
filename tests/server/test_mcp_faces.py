"""The server's other faces: handoff, install, resources, the prompt, spelling and start."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    TextContent,
    TextResourceContents,
)

from skillopt_sleep.edge import open_engine
from skillopt_sleep.model.night import NightOptions, NightStatus
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import build_proposal
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.mcp.app import build, refuses_dots
from skillopt_sleep_server.mcp.place import Place

Script = Callable[[Client], Awaitable[None]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path.resolve()
    with open_engine(state=root / "state") as engine:
        project = copy_samples(root / "home", engine.world.now())
    return Place(project=project, home=root / "home", state=root / "state")


def drive(place: Place, script: Script, **options: Any) -> None:  # noqa: ANN401 - handed on
    async def run() -> None:
        async with Client(build(place), **options) as client:
            await script(client)

    anyio.run(run)


def structured(outcome: CallToolResult) -> dict[str, Any]:
    assert not outcome.is_error, words(outcome)
    return cast("dict[str, Any]", outcome.structured_content)


def words(outcome: CallToolResult) -> str:
    return "\n".join(one.text for one in outcome.content if isinstance(one, TextContent))


async def text_of(client: Client, uri: str) -> str:
    (found,) = (await client.read_resource(uri)).contents
    assert isinstance(found, TextResourceContents)
    return found.text


def test_a_waiting_night_hands_its_prompts_out_and_takes_the_answers(place: Place) -> None:
    assert place.state is not None
    config = place.state / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[target]\nname = "handoff"\n[consent]\nhosts = ["handoff"]\n')
    with open_engine(home=place.home, project=place.project, state=place.state) as engine:
        assert engine.nights.run(NightOptions()).status is NightStatus.WAITING

    async def script(client: Client) -> None:
        found = structured(await client.call_tool("skillopt.prompts", {"most": 1}))
        (one,) = found["prompts"]
        assert found["waiting"] >= 1
        assert "held" not in one["page"].partition("---")[0]
        answer = {"key": one["key"], "text": "Use uv."}
        left = structured(await client.call_tool("skillopt.answer", answer))
        assert left["waiting"] == found["waiting"] - 1
        refused = await client.call_tool("skillopt.answer", {"key": "nothing", "text": "x"})
        assert refused.is_error
        again = structured(await client.call_tool("skillopt.prompts", {}))
        assert one["key"] not in [prompt["key"] for prompt in again["prompts"]]

    drive(place, script)


def test_without_a_waiting_night_there_is_no_prompt_and_no_answer(place: Place) -> None:
    async def script(client: Client) -> None:
        found = structured(await client.call_tool("skillopt.prompts", {}))
        assert found["prompts"] == []
        refused = await client.call_tool("skillopt.answer", {"key": "k", "text": "x"})
        assert "no night of this project waits for answers" in words(refused)

    drive(place, script)


@pytest.mark.parametrize("agree", [True, False])
def test_an_install_is_previewed_freely_and_done_on_the_humans_yes(
    place: Place, *, agree: bool
) -> None:
    assert place.home is not None
    settings = place.home / ".cursor" / "mcp.json"
    asked: list[str] = []

    async def answer(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"agree": agree})

    async def script(client: Client) -> None:
        arguments = {"harness": "cursor", "dry_run": True}
        planned = structured(await client.call_tool("skillopt.install", arguments))
        assert not planned["applied"]
        assert any(str(settings) in change for change in planned["changes"])
        assert not settings.exists()
        assert asked == []
        outcome = await client.call_tool("skillopt.install", {"harness": "cursor"})
        assert outcome.is_error is not agree

    drive(place, script, elicitation_callback=answer)
    assert len(asked) == 1
    assert str(settings) in asked[0]
    assert settings.exists() is agree


def test_where_nobody_can_be_asked_an_install_names_the_terminal(place: Place) -> None:
    async def script(client: Client) -> None:
        outcome = await client.call_tool("skillopt.install", {"harness": "cursor"})
        assert "run 'skillopt-sleep install cursor' in a terminal" in words(outcome)
        outcome = await client.call_tool("skillopt.install", {"harness": "emacs", "dry_run": True})
        assert "no harness to install into is called 'emacs'" in words(outcome)

    drive(place, script)


def test_proposals_the_report_and_the_skill_can_be_read(place: Place) -> None:
    assert place.project is not None
    target = place.project / ".claude" / "skills" / "learned-habits" / "SKILL.md"
    target.parent.mkdir(parents=True)
    target.write_text("old\n")
    with open_engine(project=place.project, state=place.state) as engine:
        proposal = build_proposal(target)
        ProposalStore(engine.database).add(proposal)

    async def script(client: Client) -> None:
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        assert listed == {"skillopt://proposals", "skillopt://report", "skillopt://skill"}
        assert "+new" in await text_of(client, "skillopt://proposals/1")
        assert await text_of(client, "skillopt://skill") == "old\n"
        assert "no night yet" in await text_of(client, "skillopt://report")
        assert json.loads(await text_of(client, "skillopt://proposals")) == []
        with pytest.raises(MCPError, match="no proposal has the number 7"):
            await client.read_resource("skillopt://proposals/7")

    drive(place, script)


def test_the_prompt_sleep_is_the_skill_with_the_users_words_in_it(place: Place) -> None:
    async def script(client: Client) -> None:
        (listed,) = (await client.list_prompts()).prompts
        assert listed.name == "sleep"
        got = await client.get_prompt("sleep", {"request": "show 3"})
        text = got.messages[0].content
        assert isinstance(text, TextContent)
        assert "show 3" in text.text
        assert "skillopt.show" in text.text
        assert "$ARGUMENTS" not in text.text

    drive(place, script)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("name", "dotted"), [("claude-ai", False), ("claude-code", True), ("codex-mcp-client", True)]
)
def test_a_client_that_refuses_dots_is_shown_underscores(
    place: Place, mode: str, name: str, *, dotted: bool
) -> None:
    async def script(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert ("skillopt.status" in names) is dotted
        assert ("skillopt_status" in names) is not dotted
        assert not (await client.call_tool("skillopt_status", {})).is_error
        assert not (await client.call_tool("skillopt.status", {})).is_error

    info = Implementation(name=name, version="1")
    drive(place, script, mode=mode, client_info=info)


def test_clients_are_known_by_a_part_of_their_name() -> None:
    assert refuses_dots("GitHub Copilot for IntelliJ")
    assert not refuses_dots("github-copilot-cli")


def test_at_start_neither_providers_nor_the_engine_are_imported(tmp_path: Path) -> None:
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "skillopt_sleep_server", "mcp"],
        input="".join(json.dumps(one) + "\n" for one in asked),
        env={"HOME": str(tmp_path), "SKILLOPT_SLEEP_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    listed = json.loads(finished.stdout.splitlines()[-1])
    assert len(listed["result"]["tools"]) > 10
    loaded = set(re.findall(r"\|\s+([\w.]+)$", finished.stderr, re.MULTILINE))
    assert "skillopt_sleep_server.mcp.tools" in loaded
    heavy = {"anthropic", "openai", "numpy", "sqlite_utils", "skillopt_sleep.engine"}
    assert loaded & heavy == set()
    assert not (tmp_path / "state").exists()
