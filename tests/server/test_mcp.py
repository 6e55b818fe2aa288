"""The MCP server, driven by the SDK's own client, in memory and as a process."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from skillopt_sleep.edge import open_engine
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import build_proposal
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, ModelServer
from skillopt_sleep_server.mcp.app import build
from skillopt_sleep_server.mcp.place import Place

TOOLS = {
    "skillopt.status",
    "skillopt.harvest",
    "skillopt.tasks",
    "skillopt.consolidate",
    "skillopt.cancel",
    "skillopt.proposals",
    "skillopt.show",
    "skillopt.adopt",
    "skillopt.reject",
    "skillopt.revert",
    "skillopt.prompts",
    "skillopt.answer",
    "skillopt.install",
}

Mode = Literal["legacy", "auto"]
MODES: tuple[Mode, ...] = ("legacy", "auto")


@dataclass(frozen=True)
class Scratch:
    """A project with sample logs and a database of its own."""

    root: Path

    @property
    def place(self) -> Place:
        return Place(project=self.project, home=self.root / "home", state=self.root / "state")

    @property
    def project(self) -> Path:
        return self.root / "home" / "code" / "harbor"

    def stage(self) -> Path:
        """Stage proposal 1 on a live skill and return that skill."""
        target = self.project / "SKILL.md"
        target.write_text("old\n")
        with open_engine(project=self.project, state=self.root / "state") as engine:
            staged = replace(build_proposal(target), project=str(self.project))
            ProposalStore(engine.database).add(staged)
        return target


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    found = Scratch(tmp_path.resolve())
    with open_engine(state=found.root / "state") as engine:
        copy_samples(found.root / "home", engine.world.now())
    return found


def drive(
    scratch: Scratch,
    script: Callable[[Client], Awaitable[None]],
    **options: Any,  # noqa: ANN401 - handed on to the client
) -> None:
    async def run() -> None:
        async with Client(build(scratch.place), **options) as client:
            await script(client)

    anyio.run(run)


def structured(outcome: CallToolResult) -> dict[str, Any]:
    assert not outcome.is_error, words(outcome)
    return cast("dict[str, Any]", outcome.structured_content)


def words(outcome: CallToolResult) -> str:
    return "\n".join(one.text for one in outcome.content if isinstance(one, TextContent))


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_is_listed_with_types_and_annotations(scratch: Scratch, mode: Mode) -> None:
    async def script(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        for tool in listed:
            assert tool.output_schema is not None, tool.name
            assert tool.annotations is not None, tool.name
            assert tool.annotations.read_only_hint is not None, tool.name
            assert "word" not in tool.input_schema["properties"], tool.name
            assert "context" not in tool.input_schema["properties"], tool.name

    drive(scratch, script, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_harvest_tasks_and_status_answer_with_structured_content(
    scratch: Scratch, mode: Mode
) -> None:
    async def script(client: Client) -> None:
        seen = structured(await client.call_tool("skillopt.harvest", {}))
        assert seen["sessions"] == {"claude": 36, "codex": 16}
        tasks = structured(await client.call_tool("skillopt_tasks", {}))
        assert len(tasks["tasks"]) >= 2
        assert all(task["sessions"] >= 2 for task in tasks["tasks"])
        status = structured(await client.call_tool("skillopt.status", {}))
        assert status["project"] == str(scratch.project)
        assert status["tasks"]["held_out"] >= 2
        assert status["open_proposals"] == []

    drive(scratch, script, mode=mode)


def test_unknown_tools_and_arguments_are_refused_with_the_nearest_name(scratch: Scratch) -> None:
    async def script(client: Client) -> None:
        outcome = await client.call_tool("skillopt.statsu", {})
        assert outcome.is_error
        assert "did you mean 'skillopt.status'" in words(outcome)
        outcome = await client.call_tool("skillopt.status", {"projekt": "/x"})
        assert outcome.is_error
        assert "takes no argument 'projekt'; did you mean 'project'" in words(outcome)
        outcome = await client.call_tool("skillopt.show", {"number": 0})
        assert outcome.is_error

    drive(scratch, script)


def test_a_night_without_a_model_says_what_to_do(scratch: Scratch) -> None:
    async def script(client: Client) -> None:
        outcome = await client.call_tool("skillopt.consolidate", {})
        assert outcome.is_error
        assert "run 'skillopt-sleep setup'" in words(outcome)

    drive(scratch, script)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_adopted_without_the_humans_word(scratch: Scratch, mode: Mode) -> None:
    target = scratch.stage()

    async def script(client: Client) -> None:
        outcome = await client.call_tool("skillopt.adopt", {"number": 1})
        assert outcome.is_error
        assert "/sleep adopt 1" in words(outcome)

    drive(scratch, script, mode=mode)
    assert target.read_text() == "old\n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("action", "agree"), [("accept", True), ("accept", False), ("decline", True), ("cancel", True)]
)
def test_only_an_accepted_question_that_was_agreed_to_adopts(
    scratch: Scratch, mode: Mode, action: Literal["accept", "decline", "cancel"], *, agree: bool
) -> None:
    target = scratch.stage()
    asked: list[str] = []

    async def answer(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action, content={"agree": agree} if action == "accept" else None)

    async def script(client: Client) -> None:
        outcome = await client.call_tool("skillopt.adopt", {"number": 1})
        assert outcome.is_error is not (action == "accept" and agree)

    drive(scratch, script, mode=mode, elicitation_callback=answer)
    assert len(asked) == 1
    assert "+new" in asked[0]
    assert target.read_text() == ("new\n" if action == "accept" and agree else "old\n")


def test_words_typed_in_the_agent_let_it_adopt_show_and_revert(scratch: Scratch) -> None:
    target = scratch.stage()
    state = scratch.root / "state"

    def typed(action: str) -> None:
        with open_engine(project=scratch.project, state=state) as engine:
            engine.review.approve(1, action, how="prompt")

    async def script(client: Client) -> None:
        shown = structured(await client.call_tool("skillopt.show", {"number": 1}))
        assert "+new" in shown["diff"]
        typed("adopt")
        adopted = structured(await client.call_tool("skillopt.adopt", {"number": 1}))
        assert adopted["status"] == "adopted"
        assert target.read_text() == "new\n"
        again = await client.call_tool("skillopt.revert", {"number": 1})
        assert again.is_error
        typed("revert")
        reverted = structured(await client.call_tool("skillopt.revert", {"number": 1}))
        assert reverted["status"] == "reverted"
        assert target.read_text() == "old\n"

    drive(scratch, script)


def test_rejecting_needs_the_word_too_and_keeps_the_reason(scratch: Scratch) -> None:
    target = scratch.stage()

    async def yes(_context: ClientRequestContext, _params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept", content={"agree": True})

    async def script(client: Client) -> None:
        arguments = {"number": 1, "reason": "too broad"}
        assert structured(await client.call_tool("skillopt.reject", arguments))["status"] == (
            "rejected"
        )
        listed = structured(await client.call_tool("skillopt.proposals", {}))
        assert listed["proposals"] == []

    drive(scratch, script, elicitation_callback=yes)
    assert target.read_text() == "old\n"


def test_as_a_process_a_night_runs_in_the_background_and_is_followed_by_another_client(
    scratch: Scratch,
) -> None:
    with ModelServer(SimulatedModel()) as model:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "skillopt_sleep_server", "mcp", "--project", str(scratch.project)],
            env={
                "HOME": str(scratch.root / "home"),
                "SKILLOPT_SLEEP_HOME": str(scratch.root / "state"),
                "SKILLOPT_SLEEP_TARGET__NAME": "openai_compatible",
                "SKILLOPT_SLEEP_TARGET__MODEL": MODEL,
                "SKILLOPT_SLEEP_TARGET__BASE_URL": f"{model.url}/v1",
            },
        )

        async def start() -> str:
            async with Client(server) as client:
                planned = structured(
                    await client.call_tool("skillopt.consolidate", {"dry_run": True})
                )
                assert planned["night"]["forecast"]["calls"] > 0
                assert model.calls == 0
                job = structured(await client.call_tool("skillopt.consolidate", {"wait_s": 0}))
                assert job["state"] == "running"
                return str(job["job"])

        async def follow(name: str) -> dict[str, Any]:
            async with Client(server) as client:
                with anyio.fail_after(60):
                    while True:
                        found = structured(await client.call_tool("skillopt.status", {"job": name}))
                        (job,) = found["jobs"]
                        if job["state"] != "running":
                            assert found["open_proposals"] == [1]
                            return cast("dict[str, Any]", job)
                        await anyio.sleep(0.2)

        job = anyio.run(follow, anyio.run(start))
    assert job["state"] == "ended", job["reason"]
    assert job["night"]["status"] == "done"
    assert job["night"]["proposals"] == [1]
