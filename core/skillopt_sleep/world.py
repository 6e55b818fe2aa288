"""The ports through which the engine touches the world: clock, processes, folders, environment.

Only protocols and plain values; ``edge.py`` builds the real ones and ``testing.py`` the fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Protocol

__all__ = ["Finished", "Random", "Roots", "Run", "Spawn", "World"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a process left behind.

    Attributes:
        code: Exit code; negative for the signal that ended it.
        stdout: Decoded output, cut at ``output_cap`` bytes.
        stderr: Decoded error output, cut likewise.
        timed_out: Whether it was killed at its deadline.
        seconds: Wall time.
    """

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    seconds: float = 0.0


class Run(Protocol):
    """Runs a process in a group of its own and waits for it, at most ``timeout_s`` seconds."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: str = "",
        timeout_s: float = 60.0,
        output_cap: int = 1_000_000,
    ) -> Finished:
        """Run ``argv`` without a shell; the environment is ``env`` and nothing else.

        Raises:
            FileNotFoundError: There is no such program.
        """
        ...


class Spawn(Protocol):
    """Starts a process that outlives this one and all its clients."""

    def __call__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> None:
        """Start ``argv`` in a session of its own, its output in files of mode 0600.

        Raises:
            FileNotFoundError: There is no such program.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """The folders that everything lives under.

    Attributes:
        home: The user's home, under which harnesses keep their logs and skills.
        data: Our database, proposals, backups, run folders (mode 0700).
        config: Our ``config.toml``.
        cache: What can be thrown away.
        cwd: The folder the user stands in, the project unless another is named.
    """

    home: Path
    data: Path
    config: Path
    cache: Path
    cwd: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything outside the process, as values and ports.

    Attributes:
        now: The present instant, timezone-aware, UTC.
        monotonic: Seconds of a clock that never goes back.
        sleep: Waits so many seconds.
        run: Runs a process.
        spawn: Starts a process that outlives this one.
        rng: A generator seeded by any text or number; equal seeds give equal streams.
        env: The environment as it was at start; it holds keys, so no text shows it.
        roots: The folders.
        program: How to start this program again, such as ("/usr/bin/python3", "-m", "...").
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    run: Run
    spawn: Spawn
    rng: Callable[[str | int], Random]
    env: Mapping[str, str] = field(repr=False)
    roots: Roots
    program: tuple[str, ...] = ("skillopt-sleep",)

    def at_home(self, home: Path) -> World:
        """Return this world with harness logs looked for under ``home``."""
        return replace(self, roots=replace(self.roots, home=home))

    def in_project(self, project: Path) -> World:
        """Return this world with ``project`` as the folder the user stands in."""
        return replace(self, roots=replace(self.roots, cwd=project))
