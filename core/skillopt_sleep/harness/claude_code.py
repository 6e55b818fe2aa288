"""Claude Code: the ``sleep`` skill, the MCP entry and three hooks, in its own files.

The skill goes to ``skills/sleep`` since only a skill answers to the bare ``/sleep`` (a command of a
plugin answers to its namespaced name). Observed on 2.1.197 and 2.1.332.
"""

from __future__ import annotations

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
"""Claude Code's event to the name of our ``hook`` command."""


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="claude-code",
        program="claude",
        home=".claude",
        memory={"user": ".claude/CLAUDE.md", "project": "CLAUDE.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    user = scope == "user"
    base = world.roots.home if user else world.roots.cwd
    folder = base / ".claude"
    servers = base / (".claude.json" if user else ".mcp.json")
    entry = {"type": "stdio", **stdio_entry(world)}
    return (
        skill(folder / "skills"),
        json_entry(servers, ("mcpServers", "skillopt"), entry, "the MCP server 'skillopt'"),
        json_items(
            folder / "settings.json", claude_hooks(world, HOOKS), is_our_hook, "three hooks"
        ),
    )


def _notes(world: World, _scope: Scope) -> tuple[str, ...]:
    notes = ["Claude Code reads these at its next start"]
    if (world.roots.home / ".claude" / "commands" / "sleep.md").exists():
        notes.append("your own command ~/.claude/commands/sleep.md wins over this /sleep")
    return tuple(notes)
