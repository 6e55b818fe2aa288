"""Finds log files by pattern without following links; knows no harness."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from skillopt_sleep.errors import SourceError
from skillopt_sleep.world import World


def globbed(root: Path, *patterns: str) -> Iterator[Path]:
    """Yield the files below ``root`` that match a pattern, sorted; no link below it is followed.

    Raises:
        SourceError: The folder exists and may not be listed.
    """
    if not root.is_dir():
        return
    try:
        os.scandir(root).close()
    except OSError as error:
        raise SourceError(f"the folder {str(root)!r} may not be listed: {error}") from error
    real = {root: True}

    def within(folder: Path) -> bool:
        if folder not in real:
            real[folder] = within(folder.parent) and not folder.is_symlink()
        return real[folder]

    found = {path for pattern in patterns for path in root.glob(pattern)}
    yield from (path for path in sorted(found) if within(path.parent) and _is_file(path))


def _is_file(path: Path) -> bool:
    return not path.is_symlink() and path.is_file()


def moved(world: World, variable: str, usual: str) -> Path:
    """Return the folder that an environment variable names, else ``usual`` below the home.

    A home named on the command line is another machine's: its logs lie at the usual place.
    """
    named, home = world.env.get(variable, ""), world.roots.home
    return Path(named) if named and world.env.get("HOME") == str(home) else home / usual
