"""Which repositories are left out: named in the settings, or marked by a file in their folder."""

from __future__ import annotations

from pathlib import Path, PurePath

from skillopt_sleep.model.record import Reading, SessionSeen

MARK = ".skillopt-sleep-ignore"


class Exclusions:
    """Says of a folder whether its sessions are left out; looks at each folder once."""

    def __init__(self, folders: tuple[str, ...], home: Path) -> None:
        self._folders = tuple(_expand(folder, home) for folder in folders)
        self._known: dict[str, bool] = {}

    def covers(self, cwd: str) -> bool:
        """Return whether sessions in ``cwd`` are left out."""
        if not cwd:
            return False
        found = self._known.get(cwd)
        if found is None:
            found = self._known[cwd] = self._look(PurePath(cwd))
        return found

    def sessions(self, reading: Reading) -> dict[str, str]:
        """Return the sessions of a reading that are left out, each with its folder."""
        return {
            record.session: record.cwd
            for record in reading.records
            if isinstance(record, SessionSeen) and self.covers(record.cwd)
        }

    def _look(self, folder: PurePath) -> bool:
        places = (folder, *folder.parents)
        if any(place == named for place in places for named in self._folders):
            return True
        return any(_marked(Path(place)) for place in places)


def _marked(folder: Path) -> bool:
    try:
        return (folder / MARK).is_file()
    except (OSError, ValueError):
        return False


def _expand(folder: str, home: Path) -> PurePath:
    return home / folder[2:] if folder.startswith(("~/", "~\\")) else PurePath(folder)
