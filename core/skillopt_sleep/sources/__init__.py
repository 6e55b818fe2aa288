"""Plugin point 1: sources read one harness's logs each; ``harvest`` goes over them.

A source decides from fields what a record is. It keeps no order between files, opens nothing for
writing and follows no link out of its roots; the store puts sessions together.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.registry import Registry
from skillopt_sleep.world import World


class Source(Protocol):
    """Reads the logs of one harness."""

    @property
    def name(self) -> str:
        """Registry name, the harness of its sessions."""
        ...

    def files(self, world: World) -> Iterator[Path]:
        """Yield every log file under ``world.roots.home``, sorted; none if never installed.

        Raises:
            SourceError: Logs exist but none can be reached.
        """
        ...

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read ``path`` from ``cursor`` on, or from its start.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not a log of this format at all.
        """
        ...


SOURCES: Registry[Source] = Registry(
    kind="transcript source",
    group="skillopt_sleep.sources",
    builtin={
        "claude": "skillopt_sleep.sources.claude:ClaudeSource",
        "codex": "skillopt_sleep.sources.codex:CodexSource",
        "copilot": "skillopt_sleep.sources.copilot:CopilotSource",
        "vscode": "skillopt_sleep.sources.vscode:VscodeSource",
        "devin": "skillopt_sleep.sources.devin:DevinSource",
        "openclaw": "skillopt_sleep.sources.openclaw:OpenclawSource",
        "cursor": "skillopt_sleep.sources.cursor:CursorSource",
        "opencode": "skillopt_sleep.sources.opencode:OpencodeSource",
        "pi": "skillopt_sleep.sources.pi:PiSource",
    },
)
"""Factories take nothing."""
