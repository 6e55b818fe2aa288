"""OpenClaw: the ``sleep`` skill and the MCP entry in its one settings file.

OpenClaw keeps settings for the user only. Its file is JSON5; comments stay. Observed on 2026.9.6.
"""

from __future__ import annotations

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import Piece, Pieces, json_entry, skill, stdio_entry
from skillopt_sleep.world import World


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="openclaw",
        program="openclaw",
        home=".openclaw",
        scopes=("user",),
        memory={"user": ".openclaw/workspace/AGENTS.md", "project": "AGENTS.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, _scope: Scope) -> tuple[Piece, ...]:
    folder = world.roots.home / ".openclaw"
    return (
        skill(folder / "skills"),
        json_entry(
            folder / "openclaw.json",
            ("mcp", "servers", "skillopt"),
            stdio_entry(world),
            "the MCP server 'skillopt'",
        ),
    )


def _notes(_world: World, _scope: Scope) -> tuple[str, ...]:
    return (
        "ask OpenClaw for 'sleep status'; a running gateway reads these when it is restarted",
        "OpenClaw has no hook that shows your own words, so adopt with"
        " 'skillopt-sleep adopt N' in a terminal",
    )
