"""Devin's command line: the ``sleep`` skill, the MCP entry and three hooks.

Written after its documentation; Devin cannot be run here, so nothing of this was observed. Hooks
have the form of Claude Code's, without the key above the events in a project's own file.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import (
    Piece,
    Pieces,
    claude_hooks,
    is_our_hook,
    json_entry,
    json_items,
    skill,
    stdio_entry,
)
from skillopt_sleep.world import World

HOOKS = {
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "UserPromptSubmit": "prompt",
}


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="devin",
        program="devin",
        home=".config/devin",
        memory={"user": ".config/devin/AGENTS.md", "project": "AGENTS.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    user = scope == "user"
    folder = world.roots.home / ".config" / "devin" if user else world.roots.cwd / ".devin"
    settings = folder / "config.json"
    above: Sequence[str] = ("hooks",) if user else ()
    hooks = claude_hooks(world, HOOKS, source="devin", above=above)
    return (
        skill(folder / "skills"),
        json_entry(
            settings, ("mcpServers", "skillopt"), stdio_entry(world), "the MCP server 'skillopt'"
        ),
        json_items(
            settings if user else folder / "hooks.v1.json", hooks, is_our_hook, "three hooks"
        ),
    )


def _notes(_world: World, _scope: Scope) -> tuple[str, ...]:
    return (
        "type /sleep in Devin; it reads these at its next start",
        "written after Devin's documentation and never run against Devin itself",
    )
