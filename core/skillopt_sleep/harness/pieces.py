"""Our parts of a harness's files, each with how it goes in and how it comes out; pure text to text.

An installer is a list of such pieces; see ``Pieces``.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Table

from skillopt_sleep.agents import find_version
from skillopt_sleep.assets import plugin_folder
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.files import read_or_none
from skillopt_sleep.harness import Scope, jsonc
from skillopt_sleep.model.status import Change, InstallPlan
from skillopt_sleep.world import World

HOME = "SKILLOPT_SLEEP_HOME"
_OURS = "skillopt"


NOTE = """\
House rules learned from earlier sessions are in the skill `learned-habits`, where there is one:
read it before you start a task. When the user types `/sleep`, use the skill `sleep`.
"""
"""For memory files, where skills are read too seldom; written only when asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Our part of one file.

    Attributes:
        path: The file.
        what: What it is, for the preview.
        put: Text of now (None for no file) to the text with our part.
        take: Text to the text without our part, blank where the file was ours alone.
    """

    path: Path
    what: str
    put: Callable[[str | None], str]
    take: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """An installer made of pieces.

    Attributes:
        name: Registry name.
        program: Name of the harness's program.
        home: Folder below the home that shows that the harness is used here.
        pieces: What goes where.
        notes: Sentences for the human.
        scopes: Those it has settings for.
        memory: The memory file for each scope, below the home or the project.
    """

    name: str
    program: str
    home: str
    memory: Mapping[Scope, str]
    pieces: Callable[[World, Scope], Sequence[Piece]]
    notes: Callable[[World, Scope], Sequence[str]]
    scopes: tuple[Scope, ...] = ("user", "project")

    def present(self, world: World) -> bool:
        """Return whether the harness is used on this machine; see ``Installer``."""
        return (world.roots.home / self.home).is_dir() or bool(find_version(world, self.program))

    def plan(self, world: World, scope: Scope, *, note: bool = False) -> InstallPlan:
        """Return what installing would change; see ``Installer``."""
        if scope not in self.scopes:
            raise ConfigError(
                f"{self.name!r} keeps no settings for one {scope}; install with --user"
            )
        wanted = [*self.pieces(world, scope), *([self._note(world, scope)] if note else [])]
        changes = _changes(wanted)
        version = find_version(world, self.program)
        absent = f"the program {self.program!r} was not found on the PATH; the files are ready"
        notes = [*self.notes(world, scope), *([] if version else [absent])]
        return InstallPlan(
            harness=self.name,
            version=version,
            changes=changes,
            notes=tuple(notes),
        )

    def without(self, world: World, scope: Scope, path: str, text: str) -> str:
        """Return a file without our part; see ``Installer``."""
        for piece in (*self.pieces(world, scope), self._note(world, scope)):
            if str(piece.path) == path:
                text = piece.take(text)
        return text

    def _note(self, world: World, scope: Scope) -> Piece:
        base = world.roots.home if scope == "user" else world.roots.cwd
        return region(base / self.memory[scope], NOTE, "a note on the learned skill")


def _changes(pieces: Sequence[Piece]) -> tuple[Change, ...]:
    """Return one change a file, pieces of the same file put in one after the other."""
    found: dict[Path, Change] = {}
    for piece in pieces:
        known = found.get(piece.path)
        before = _text(piece.path) if known is None else known.before
        what = piece.what if known is None else f"{known.what}, {piece.what}"
        after = piece.put(before if known is None else known.after)
        found[piece.path] = Change(path=str(piece.path), before=before, after=after, what=what)
    return tuple(one for one in found.values() if one.before != one.after)


def _text(path: Path) -> str | None:
    content = read_or_none(path)
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text; mend it and install again") from error


def whole(path: Path, wanted: str, what: str) -> Piece:
    """Return a file that is ours alone; one of the same name that is not ours is refused."""

    def put(text: str | None) -> str:
        if text is not None and _OURS not in text:
            raise ConfigError(
                f"{str(path)!r} is your own, nothing was changed; give it another name and"
                " install again"
            )
        return wanted

    return Piece(path=path, what=what, put=put, take=lambda _text: "")


def skill(folder: Path) -> Piece:
    """Return the ``sleep`` skill in a harness's folder of skills."""
    wanted = (plugin_folder("claude-code") / "skills/sleep/SKILL.md").read_text(encoding="utf-8")
    return whole(folder / "sleep" / "SKILL.md", wanted, "the skill 'sleep'")


def json_entry(path: Path, keys: Sequence[str], entry: object, what: str) -> Piece:
    """Return one key of a JSON or JSONC file."""
    return Piece(
        path=path,
        what=what,
        put=lambda text: jsonc.put(str(path), text or "", keys, entry),
        take=lambda text: jsonc.drop(str(path), text, keys),
    )


def json_items(
    path: Path,
    wanted: Mapping[Sequence[str], object],
    ours: Callable[[Any], bool],
    what: str,
    *,
    start: str = "",
) -> Piece:
    """Return one item in each of several arrays of a JSON file.

    Args:
        path: The file.
        wanted: Keys of the array to the item.
        ours: Whether an item is one of ours, of this or an earlier version.
        what: For the preview.
        start: Text of the file where there is none.
    """

    def put(text: str | None) -> str:
        text = text or start
        for keys, item in wanted.items():
            held: list[Any] = jsonc.get(str(path), text, keys) or []
            if item not in held or sum(map(ours, held)) > 1:
                text = jsonc.drop_items(str(path), text, keys, ours)
                text = jsonc.append(str(path), text, keys, item)
        return text

    def take(text: str) -> str:
        for keys in wanted:
            text = jsonc.drop_items(str(path), text, keys, ours)
        return "" if text.split() == start.split() else text

    return Piece(path=path, what=what, put=put, take=take)


def toml_entry(path: Path, keys: tuple[str, str], entry: Mapping[str, object], what: str) -> Piece:
    """Return one table ``[keys]`` of a TOML file."""

    def put(text: str | None) -> str:
        tree = _toml(path, text or "")
        if keys[0] not in tree:
            tree.append(keys[0], tomlkit.table(is_super_table=True))
        above = tree[keys[0]]
        if not isinstance(above, AbstractTable):
            raise ConfigError(f"{str(path)!r} holds no table {keys[0]!r} that can be added to")
        if above.unwrap().get(keys[1]) == entry:
            return text or ""
        above[keys[1]] = _table(entry)
        return tomlkit.dumps(tree)

    def take(text: str) -> str:
        tree = _toml(path, text)
        above = cast("object", tree.get(keys[0]))  # pyright: ignore[reportUnknownMemberType]
        if isinstance(above, AbstractTable) and keys[1] in above:
            above.remove(keys[1])
            if not above:
                tree.remove(keys[0])
        return tomlkit.dumps(tree)

    return Piece(path=path, what=what, put=put, take=take)


def region(path: Path, body: str, what: str) -> Piece:
    """Return a marked region of a Markdown file, at its end."""
    begin, end = "<!-- skillopt-sleep: begin -->", "<!-- skillopt-sleep: end -->"

    def take(text: str) -> str:
        head, opened, rest = text.partition(begin)
        _body, closed, tail = rest.partition(end)
        if not opened:
            return text
        if not closed:
            raise ConfigError(f"{str(path)!r} holds {begin!r} and no {end!r}; mend it by hand")
        return head.rstrip("\n") + ("\n" if head.strip() else "") + tail.removeprefix("\n")

    def put(text: str | None) -> str:
        block = f"{begin}\n{body.strip()}\n{end}\n"
        if text and block in text:
            return text
        rest = take(text or "")
        return f"{rest.rstrip()}\n\n{block}" if rest.strip() else block

    return Piece(path=path, what=what, put=put, take=take)


def stdio_entry(world: World) -> dict[str, Any]:
    """Return ``command``, ``args`` and ``env`` of our MCP server, as most clients spell them."""
    return {
        "command": world.program[0],
        "args": [*world.program[1:], "mcp"],
        "env": server_env(world),
    }


def server_env(world: World) -> dict[str, str]:
    """Return what our server must be told where a client keeps the environment from it."""
    return {HOME: world.env[HOME]} if world.env.get(HOME) else {}


def hook_command(world: World, event: str, *, source: str = "") -> str:
    """Return the shell command for one of our hooks.

    Args:
        world: Where our program is.
        event: Name of our ``hook`` command's event.
        source: Format of this harness's logs, if it is not Claude Code's.
    """
    moved = f"{HOME}={shlex.quote(world.env[HOME])} " if world.env.get(HOME) else ""
    named = ["--source", source] if source else []
    return moved + shlex.join([*world.program, "hook", event, *named])


def is_our_hook(item: object) -> bool:
    """Return whether an item of a hook list calls our program."""
    if not isinstance(item, dict):
        return False
    tree = cast("dict[str, Any]", item)
    commands = [str(tree.get(name, "")) for name in ("command", "bash")]
    return any(_OURS in one and " hook " in one for one in commands) or any(
        is_our_hook(inner) for inner in tree.get("hooks", [])
    )


def claude_hooks(
    world: World, events: Mapping[str, str], *, source: str = "", above: Sequence[str] = ("hooks",)
) -> dict[Sequence[str], object]:
    """Return hooks in the form of Claude Code, which others took over.

    Args:
        world: Where our program is.
        events: The harness's event to ours.
        source: Format of this harness's logs, if it is not Claude Code's.
        above: Keys above the events.
    """
    return {
        (*above, event): {
            "hooks": [
                {
                    "type": "command",
                    "command": hook_command(world, ours, source=source),
                    "timeout": HOOK_S,
                }
            ]
        }
        for event, ours in events.items()
    }


HOOK_S = 5
"""Seconds a hook of ours may take; it needs about one."""


def _toml(path: Path, text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(
            f"{str(path)!r} is not TOML ({error}), nothing was changed; mend it and install again"
        ) from error


def _table(entry: Mapping[str, object]) -> Table:
    table = tomlkit.table()
    for key, value in entry.items():
        if isinstance(value, dict):
            inner = tomlkit.inline_table()
            for name, text in cast("dict[str, Any]", value).items():
                inner.append(name, text)
            table.append(key, inner)
        else:
            table.append(key, value)
    return table
