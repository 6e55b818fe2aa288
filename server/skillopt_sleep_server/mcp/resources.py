"""What a client can read without a tool: proposals, the last report, the live skill, a prompt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from pydantic import Field

from skillopt_sleep_server.mcp.place import Place
from skillopt_sleep_server.mcp.views import ProposalView

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillopt_sleep.engine import Engine

_MARKDOWN = "text/markdown"


def register_resources(server: MCPServer[Any], place: Place) -> None:
    """Give the server its resources and the prompt ``sleep``."""

    async def read(question: Callable[[Engine], str]) -> str:
        try:
            return await place.ask(None, question)
        except ToolError as error:
            raise ResourceError(str(error)) from error

    @server.resource("skillopt://proposals", title="Proposals", mime_type="application/json")
    async def proposals() -> str:
        """List all proposals of this project."""
        return await read(
            lambda engine: json.dumps(
                [ProposalView.of(one).model_dump() for one in engine.review.all()]
            )
        )

    @server.resource("skillopt://proposals/{number}", title="One proposal", mime_type=_MARKDOWN)
    async def proposal(number: int) -> str:
        """Show one proposal with its diff and its evidence."""
        return await read(lambda engine: engine.review.report(number))

    @server.resource("skillopt://report", title="The last night's report", mime_type=_MARKDOWN)
    async def report() -> str:
        """Show the report of this project's newest night."""

        def look(engine: Engine) -> str:
            night = engine.nights.last()
            return engine.nights.report(night) if night else "There was no night yet.\n"

        return await read(look)

    @server.resource("skillopt://skill", title="The live skill", mime_type=_MARKDOWN)
    async def skill() -> str:
        """Show the live skill document that nights work on."""
        return await read(lambda engine: engine.skill_text() or "There is no skill yet.\n")

    @server.prompt(name="sleep", title="/sleep")
    async def sleep(
        request: Annotated[str, Field(description="Such as: status, run, show 3, adopt 3")] = "",
    ) -> str:
        """Run and review the nightly learning of skillopt-sleep."""
        text = await place.ask(None, lambda engine: engine.installs.sleep_skill())
        return text.replace("$ARGUMENTS", request or "status")
