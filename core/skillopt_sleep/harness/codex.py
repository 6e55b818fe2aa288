"""Codex: the ``sleep`` skill, the MCP table in ``config.toml`` and three hooks.

Codex keeps its environment from MCP servers, cuts a call at 300 s and, when headless, refuses
tools that are neither read-only nor closed-world; the entry says what it needs for each. Hooks do
not run until the user has trusted them. Observed on 0.171.0.
"""

from __future__ import annotations

from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.pieces import (
    Piece,
    Pieces,
    claude_hooks,
    is_our_hook,
    json_items,
    server_env,
    skill,
    toml_entry,
)
from skillopt_sleep.world import World

HOOKS = {
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "UserPromptSubmit": "prompt",
}

TIMEOUT_S = 300

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""Variables that a night may need and that Codex would keep from the server."""


def installer() -> Installer:
    """Return the installer."""
    return Pieces(
        name="codex",
        program="codex",
        home=".codex",
        memory={"user": ".codex/AGENTS.md", "project": "AGENTS.md"},
        pieces=_pieces,
        notes=_notes,
    )


def _pieces(world: World, scope: Scope) -> tuple[Piece, ...]:
    folder = (world.roots.home if scope == "user" else world.roots.cwd) / ".codex"
    entry: dict[str, object] = {
        "command": world.program[0],
        "args": [*world.program[1:], "mcp"],
        "env_vars": list(KEYS),
        "startup_timeout_sec": 30,
        "tool_timeout_sec": TIMEOUT_S,
        "default_tools_approval_mode": "approve",
    }
    if env := server_env(world):
        entry["env"] = env
    hooks = claude_hooks(world, HOOKS, source="codex")
    return (
        skill(folder / "skills"),
        toml_entry(
            folder / "config.toml", ("mcp_servers", "skillopt"), entry, "the MCP server 'skillopt'"
        ),
        json_items(folder / "hooks.json", hooks, is_our_hook, "three hooks"),
    )


def _notes(_world: World, scope: Scope) -> tuple[str, ...]:
    notes = [
        "say '$sleep status' in Codex; it reads these at its next start",
        "Codex runs no hook until you trust it: open Codex, type /hooks and trust the three of"
        " skillopt-sleep (they record '$sleep adopt N' as your word and read ended sessions)",
    ]
    if scope == "project":
        notes.append("Codex reads a project's .codex folder only where the project is trusted")
    return tuple(notes)
