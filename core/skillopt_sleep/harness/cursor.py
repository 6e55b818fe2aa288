"""Cursor: the ``sleep`` skill and the MCP entry, as its documentation describes them; not run."""

from __future__ import annotations

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import Piece, Pieces, json_entry, skill, stdio_entry
from skillopt_sleep.world import World


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="cursor",
        program="cursor-agent",
        home=".cursor",
        memory={"user": ".cursor/AGENTS.md", "project": "AGENTS.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    folder = (world.roots.home if scope == "user" else world.roots.cwd) / ".cursor"
    return (
        skill(folder / "skills"),
        json_entry(
            folder / "mcp.json",
            ("mcpServers", "skillopt"),
            stdio_entry(world),
            "the MCP server 'skillopt'",
        ),
    )


def _notes(_world: World, _scope: Scope) -> tuple[str, ...]:
    return ("type /sleep in Cursor, and switch the server on under Settings > MCP",)
