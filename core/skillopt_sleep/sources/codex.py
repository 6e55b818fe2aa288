"""Source: Codex rollouts, live (``sessions/``) and archived (``archived_sessions/``).

Read from versions 0.2 to 0.171. A rollout is dated by its creation and grows for weeks; a moved
one is the same session. It puts no sessions together across files; the store does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._codex_records import Rollout
from skillopt_sleep.sources._reading import Notes, lines, walk
from skillopt_sleep.world import World


class CodexSource:
    """Reads ``~/.codex/{sessions,archived_sessions}/**/rollout-*.jsonl``."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "codex"

    def files(self, world: World) -> Iterator[Path]:
        """Yield rollouts, sorted in each folder; none if Codex was never used here.

        Raises:
            SourceError: A folder may not be listed.
        """
        root = _root(world)
        for folder in ("archived_sessions", "sessions"):
            yield from walk(root / folder, ".jsonl")

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read ``path`` from ``cursor`` on.

        Raises:
            OSError: The file cannot be read.
        """
        return Rollout(path, lines(path, cursor), Notes()).read()


def _root(world: World) -> Path:
    home = world.roots.home
    moved = world.env.get("CODEX_HOME", "")
    # A home named on the command line is another machine's: its logs lie at the default place.
    if moved and world.env.get("HOME") == str(home):
        return Path(moved)
    return home / ".codex"


_CONFORMS: type[Source] = CodexSource
