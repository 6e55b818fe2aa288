"""Source: Claude Code's transcripts, its subagents' and the history of prompts that outlives both.

Read from versions 1.0.98 to 2.1.332. It puts no sessions together across files; the store does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._claude_history import read_history
from skillopt_sleep.sources._claude_records import Transcript
from skillopt_sleep.sources._reading import Notes, lines, walk
from skillopt_sleep.world import World

_HISTORY = "history.jsonl"


class ClaudeSource:
    """Reads ``~/.claude/projects/**/*.jsonl`` and ``~/.claude/history.jsonl``."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "claude"

    def files(self, world: World) -> Iterator[Path]:
        """Yield transcripts, sorted, then the history; none if Claude Code was never used here.

        Raises:
            SourceError: The projects folder may not be listed.
        """
        for root in _roots(world):
            yield from walk(root / "projects", ".jsonl")
            history = root / _HISTORY
            if history.is_file() and not history.is_symlink():
                yield history

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read ``path`` from ``cursor`` on.

        Raises:
            OSError: The file cannot be read.
        """
        log = lines(path, cursor)
        notes = Notes()
        if (
            path.name == _HISTORY
            and path.parent.name != "projects"
            and "projects" not in path.parts
        ):
            return read_history(log, notes)
        return Transcript(path, log, notes).read()


def _roots(world: World) -> tuple[Path, ...]:
    home = world.roots.home
    moved = world.env.get("CLAUDE_CONFIG_DIR", "")
    # A home named on the command line is another machine's: its logs lie at the default place.
    if moved and world.env.get("HOME") == str(home):
        return (Path(moved),)
    return (home / ".claude", home / ".config" / "claude")


_CONFORMS: type[Source] = ClaudeSource
