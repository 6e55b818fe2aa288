"""Claude Code: the ``sleep`` skill, the MCP entry and three hooks, in its own files.

The skill goes to ``skills/sleep`` since only a skill answers to the bare ``/sleep`` (a command of a
plugin answers to its namespaced name). Observed on 2.1.197 and 2.1.332.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from skillopt_sleep.agents import find_version
from skillopt_sleep.assets import plugin_folder
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.files import read_or_none
from skillopt_sleep.harness import Installer, Scope
from skillopt_sleep.harness.merge import Json, parse, put, render, take
from skillopt_sleep.model.status import Change, InstallPlan
from skillopt_sleep.world import World

SERVER = ("mcpServers", "skillopt")

HOOKS = {
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "UserPromptSubmit": "prompt",
}
"""Claude Code's event to the name of our ``hook`` command."""

_HOME = "SKILLOPT_SLEEP_HOME"
_WAIT_S = 5


class ClaudeCodeInstaller:
    """Plans the changes to ``~/.claude`` and ``~/.claude.json``, or to a project's files."""

    name = "claude-code"

    def plan(self, world: World, scope: Scope) -> InstallPlan:
        """Return what installing would change; see ``Installer``."""
        skill, servers, settings = _places(world, scope)
        changes = [
            _changed(skill, "the /sleep skill", lambda _text: _skill_text()),
            _changed(
                servers, "the MCP server 'skillopt'", lambda text: _served(world, servers, text)
            ),
            _changed(settings, "three hooks", lambda text: _hooked(world, settings, text)),
        ]
        version = find_version(world, "claude")
        notes = ["Claude Code reads these at its next start"]
        if not version:
            notes.append(
                "the program 'claude' was not found on the PATH; the files are ready for it"
            )
        if (world.roots.home / ".claude" / "commands" / "sleep.md").exists():
            notes.append("your own command ~/.claude/commands/sleep.md wins over this /sleep")
        return InstallPlan(
            harness=self.name,
            version=version,
            changes=tuple(one for one in changes if one.before != one.after),
            notes=tuple(notes),
        )

    def without(self, world: World, scope: Scope, path: str, text: str) -> str | None:
        """Return a file without our part; see ``Installer``."""
        skill, servers, settings = _places(world, scope)
        if path == str(skill):
            return None
        tree = parse(path, text)
        if path == str(servers):
            take(tree, SERVER)
        elif path == str(settings):
            _unhook(tree)
        return render(tree, text) if tree else None


def _places(world: World, scope: Scope) -> tuple[Path, Path, Path]:
    home, project = world.roots.home, world.roots.cwd
    if scope == "user":
        folder = home / ".claude"
        return folder / "skills/sleep/SKILL.md", home / ".claude.json", folder / "settings.json"
    folder = project / ".claude"
    return folder / "skills/sleep/SKILL.md", project / ".mcp.json", folder / "settings.json"


def _changed(path: Path, what: str, change: Callable[[str | None], str]) -> Change:
    content = read_or_none(path)
    try:
        before = None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text; mend it and install again") from error
    return Change(path=str(path), before=before, after=change(before), what=what)


def _skill_text() -> str:
    return (plugin_folder("claude-code") / "skills/sleep/SKILL.md").read_text(encoding="utf-8")


def _served(world: World, path: Path, text: str | None) -> str:
    tree = parse(str(path), text)
    entry: Json = {
        "type": "stdio",
        "command": world.program[0],
        "args": [*world.program[1:], "mcp"],
        "env": {_HOME: world.env[_HOME]} if world.env.get(_HOME) else {},
    }
    if cast("Json", tree.get(SERVER[0], {})).get(SERVER[1]) == entry:
        return text or ""
    put(tree, SERVER, entry)
    return render(tree, text)


def _hooked(world: World, path: Path, text: str | None) -> str:
    tree = parse(str(path), text)
    wanted = {event: _hook(world, name) for event, name in HOOKS.items()}
    if all(_present(tree, event, hook) for event, hook in wanted.items()):
        return text or ""
    _unhook(tree)
    for event, hook in wanted.items():
        groups = cast("list[Any]", cast("Json", tree.setdefault("hooks", {})).setdefault(event, []))
        groups.append({"hooks": [hook]})
    return render(tree, text)


def _hook(world: World, name: str) -> Json:
    home = f"{_HOME}={shlex.quote(world.env[_HOME])} " if world.env.get(_HOME) else ""
    return {
        "type": "command",
        "command": f"{home}{shlex.join([*world.program, 'hook', name])}",
        "timeout": _WAIT_S,
    }


def _present(tree: Json, event: str, hook: Json) -> bool:
    groups = cast("Json", tree.get("hooks", {})).get(event, [])
    return {"hooks": [hook]} in groups


def _unhook(tree: Json) -> None:
    hooks = cast("Json", tree.get("hooks", {}))
    for event, name in HOOKS.items():
        groups = hooks.get(event, [])
        kept = [group for group in groups if not _ours(group, name)]
        if kept:
            hooks[event] = kept
        elif event in hooks:
            del hooks[event]
    if "hooks" in tree and not hooks:
        del tree["hooks"]


def _ours(group: object, name: str) -> bool:
    commands = (
        [
            str(cast("Json", hook).get("command", ""))
            for hook in cast("Json", group).get("hooks", [])
            if isinstance(hook, dict)
        ]
        if isinstance(group, dict)
        else []
    )
    return any(one.endswith(f"hook {name}") and "skillopt" in one for one in commands)


_CONFORMS: type[Installer] = ClaudeCodeInstaller
