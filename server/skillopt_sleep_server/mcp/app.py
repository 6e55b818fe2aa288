"""Builds the server: names, spelling, refusals; what the tools do is in ``tools``."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult

from skillopt_sleep import __version__
from skillopt_sleep.edge import real_world
from skillopt_sleep_server.mcp.tools import Place, register

INSTRUCTIONS = (
    "skillopt learns house rules from the user's own agent sessions and proposes them as small,"
    " tested edits to a skill. Start with skillopt.status. skillopt.consolidate runs a night in the"
    " background and returns a job; follow it with skillopt.status. Adopting, rejecting and"
    " reverting need the user's own word: call them only when the user named the proposal."
)

_PROJECT = "CLAUDE_PROJECT_DIR"


class SkilloptServer(MCPServer[Any]):
    """Accepts both spellings of a tool's name and refuses arguments that it does not know."""

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


def build(place: Place) -> SkilloptServer:
    """Return the server for clients that work in ``place``."""
    server = SkilloptServer(
        "skillopt", title="skillopt-sleep", instructions=INSTRUCTIONS, version=__version__
    )
    register(server, place)
    return server


def serve(project: Path | None) -> None:
    """Serve on stdio until the client goes."""
    world = real_world()
    named = world.env.get(_PROJECT, "")
    folder = project or (Path(named) if named else world.roots.cwd)
    build(Place(project=folder.resolve())).run("stdio")
