"""Builds the server: names, spelling, refusals; what the tools do is in ``tools``."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ListToolsResult, PaginatedRequestParams

from skillopt_sleep import __version__
from skillopt_sleep_server.mcp.place import Place
from skillopt_sleep_server.mcp.resources import register_resources
from skillopt_sleep_server.mcp.tools import register

INSTRUCTIONS = (
    "skillopt learns house rules from the user's own agent sessions and proposes them as small,"
    " tested edits to a skill. Start with skillopt.status. skillopt.consolidate runs a night in the"
    " background and returns a job; follow it with skillopt.status. Adopting, rejecting and"
    " reverting need the user's own word: call them only when the user named the proposal."
)

WITHOUT_DOTS = ("claude-ai", "claude desktop", "claude-desktop", "intellij", "jetbrains")
"""Parts of the names of clients that refuse a tool for the dot in its name, in small letters.

Those that rewrite it themselves (Claude Code, Codex, Copilot CLI, OpenClaw, OpenCode) are not here.
"""


class SkilloptServer(MCPServer[Any]):
    """Accepts both spellings of a tool's name and refuses arguments that it does not know."""

    async def _handle_list_tools(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        listed = await super()._handle_list_tools(ctx, params)
        client = ctx.session.client_params
        if client is None or not refuses_dots(client.client_info.name):
            return listed
        tools = [
            one.model_copy(update={"name": one.name.replace(".", "_")}) for one in listed.tools
        ]
        return listed.model_copy(update={"tools": tools})

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, named ``skillopt.status`` or ``skillopt_status``."""
        known = {tool.name: tool for tool in await self.list_tools()}
        dotted = name if name in known else name.replace("_", ".", 1)
        if dotted not in known:
            near = difflib.get_close_matches(dotted, known, n=1)
            hint = f"did you mean {near[0]!r}" if near else f"known: {', '.join(known)}"
            raise ToolError(f"no tool is called {name!r}; {hint}")
        wanted = list(known[dotted].input_schema.get("properties", {}))
        for argument in arguments:
            if argument not in wanted:
                near = difflib.get_close_matches(argument, wanted, n=1)
                hint = f"did you mean {near[0]!r}" if near else f"it takes {', '.join(wanted)}"
                raise ToolError(f"{dotted} takes no argument {argument!r}; {hint}")
        return await super().call_tool(dotted, arguments, context)


def refuses_dots(client: str) -> bool:
    """Return whether a client, by the name it gives itself, must be shown underscores."""
    return any(part in client.lower() for part in WITHOUT_DOTS)


def build(place: Place) -> SkilloptServer:
    """Return the server for clients that work in ``place``."""
    server = SkilloptServer(
        "skillopt", title="skillopt-sleep", instructions=INSTRUCTIONS, version=__version__
    )
    register(server, place)
    register_resources(server, place)
    return server


def serve(project: Path | None) -> None:
    """Serve on stdio until the client goes."""
    build(Place(project=project.resolve() if project else None)).run("stdio")
