"""OpenCode: the ``sleep`` skill, a ``/sleep`` command and the MCP entry.

Observed on 1.18.33.
"""

from __future__ import annotations

from pathlib import Path

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import Piece, Pieces, json_entry, server_env, skill, whole
from skillopt_sleep.world import World

TIMEOUT_MS = 300_000

_COMMAND = """---
description: Run and review the nightly learning of skillopt-sleep
---

Use the skill `sleep`. The user asked: `/sleep $ARGUMENTS`
"""


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="opencode",
        program="opencode",
        home=".config/opencode",
        memory={"user": ".config/opencode/AGENTS.md", "project": "AGENTS.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    if scope == "user":
        folder = world.roots.home / ".config" / "opencode"
        settings = _settings(folder)
    else:
        folder = world.roots.cwd / ".opencode"
        settings = _settings(world.roots.cwd)
    entry = {
        "type": "local",
        "command": [*world.program, "mcp"],
        "environment": server_env(world),
        "enabled": True,
        "timeout": TIMEOUT_MS,
    }
    return (
        skill(folder / "skills"),
        whole(folder / "commands" / "sleep.md", _COMMAND, "the command /sleep"),
        json_entry(settings, ("mcp", "skillopt"), entry, "the MCP server 'skillopt'"),
    )


def _settings(folder: Path) -> Path:
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _notes(_world: World, _scope: Scope) -> tuple[str, ...]:
    return (
        "type /sleep in OpenCode; it reads these at its next start",
        "OpenCode cannot show a hook your own words, so adopt with"
        " 'skillopt-sleep adopt N' in a terminal",
    )
