"""GitHub Copilot CLI: the ``sleep`` skill, the MCP entry and three hooks; VS Code's MCP file too.

Observed on 1.0.102; VS Code's ``mcp.json`` follows its documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import (
    HOOK_S,
    Piece,
    Pieces,
    hook_command,
    is_our_hook,
    json_entry,
    json_items,
    skill,
    stdio_entry,
)
from skillopt_sleep.world import World

HOOKS = {
    "sessionStart": "session-start",
    "sessionEnd": "session-end",
    "userPromptSubmitted": "prompt",
}

TIMEOUT_MS = 300_000

_SERVER = "the MCP server 'skillopt'"


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="copilot",
        program="copilot",
        home=".copilot",
        memory={
            "user": ".copilot/copilot-instructions.md",
            "project": ".github/copilot-instructions.md",
        },
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    if scope == "user":
        entry = {"type": "local", **stdio_entry(world), "tools": ["*"], "timeout": TIMEOUT_MS}
        folder = world.roots.home / ".copilot"
        return (
            skill(folder / "skills"),
            json_entry(folder / "mcp-config.json", ("mcpServers", "skillopt"), entry, _SERVER),
            _hooks(world, folder / "hooks"),
        )
    project = world.roots.cwd
    # Claude Code reads the same .mcp.json, so the entry is the one that it gets.
    entry = {"type": "stdio", **stdio_entry(world)}
    return (
        skill(project / ".github" / "skills"),
        json_entry(project / ".mcp.json", ("mcpServers", "skillopt"), entry, _SERVER),
        json_entry(
            project / ".vscode" / "mcp.json", ("servers", "skillopt"), entry, f"{_SERVER} (VS Code)"
        ),
        _hooks(world, project / ".github" / "hooks"),
    )


def _hooks(world: World, folder: Path) -> Piece:
    wanted: dict[Sequence[str], object] = {
        ("hooks", event): {
            "type": "command",
            "bash": hook_command(world, ours, source="copilot"),
            "timeoutSec": HOOK_S,
        }
        for event, ours in HOOKS.items()
    }
    start = '{\n  "version": 1\n}\n'
    return json_items(
        folder / "skillopt-sleep.json", wanted, is_our_hook, "three hooks", start=start
    )


def _notes(_world: World, scope: Scope) -> tuple[str, ...]:
    notes = ["type /sleep in Copilot; it reads these at its next start"]
    if scope == "project":
        notes.append("Copilot reads a project's .mcp.json only where the folder is trusted")
    return tuple(notes)
