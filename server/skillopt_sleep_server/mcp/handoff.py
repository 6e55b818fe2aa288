"""The handoff over MCP: prompts of a waiting night out, answers in; so a night needs no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from skillopt_sleep_server.mcp.place import Place
from skillopt_sleep_server.mcp.views import AnsweredView, PromptsView, PromptView

if TYPE_CHECKING:
    from skillopt_sleep.engine import Engine

MOST = 20

_GIVE = "answer each page in a fresh subagent that sees that page alone, then skillopt.answer"
_GO_ON = "call skillopt.consolidate; the night goes on with the answers"
_NONE = "no prompt waits; 'status' says what to do next"

Project = Annotated[
    str | None, Field(description="Project folder; the client's working folder if left out")
]


def register_handoff(server: MCPServer[Any], place: Place) -> None:
    """Give the server ``prompts`` and ``answer``."""

    @server.tool(
        name="skillopt.prompts",
        title="Prompts that wait for an answer",
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
    async def prompts(
        project: Project = None,
        most: Annotated[int, Field(ge=1, le=MOST, description="How many pages to return")] = 5,
    ) -> PromptsView:
        """Return pages of a waiting night, each to be answered in a fresh context of its own."""

        def look(engine: Engine) -> PromptsView:
            waiting = engine.handoff.prompts()
            return PromptsView(
                prompts=[PromptView(key=one.key, page=one.page) for one in waiting[:most]],
                waiting=len(waiting),
                next_step=_GIVE if waiting else _NONE,
            )

        return await place.ask(project, look)

    @server.tool(
        name="skillopt.answer",
        title="Answer a prompt",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
    async def answer(
        key: Annotated[str, Field(description="The prompt's key")],
        text: Annotated[str, Field(min_length=1, description="The answer, and nothing else")],
        project: Project = None,
    ) -> AnsweredView:
        """Hand in the answer to one prompt, as the fresh context gave it."""

        def give(engine: Engine) -> AnsweredView:
            left = engine.handoff.answer(key, text)
            return AnsweredView(waiting=left, next_step=_GIVE if left else _GO_ON)

        return await place.ask(project, give)
