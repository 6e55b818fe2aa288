"""Harvest: every source's files that are new or grown, read into the archive.

An unchanged file costs one ``stat``. It knows no log format and puts no sessions together.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.errors import SourceError
from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.model.session import HarvestReport, Unreadable
from skillopt_sleep.sources import SOURCES, Source
from skillopt_sleep.sources._excluded import Exclusions
from skillopt_sleep.sources._names import without_secrets
from skillopt_sleep.sources._reading import BATCH
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.files import FileStore, Known, Stamp
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.world import World

Progress = Callable[[str, int, int], None]
"""Called with (source name, files done, files in all)."""
_LEFT_OUT = "excluded: "
_STORES = (".db", ".sqlite")
_FILES_AT_ONCE = 1_000
_BYTES_AT_ONCE = 64 << 20


def harvest(
    world: World,
    database: Database,
    settings: HarvestSettings,
    *,
    only: Sequence[str] = (),
    file: Path | None = None,
    source: str = "",
    progress: Progress | None = None,
) -> HarvestReport:
    """Read what is new in the logs under ``world.roots.home`` into the archive.

    Args:
        world: Folders and clock.
        database: Where the archive is.
        settings: Which sources, and which repositories are left out.
        only: Names of sources to read; empty means those of the settings, or all.
        file: One exported log to read instead.
        source: The source that reads ``file``.
        progress: Told after every file.

    Raises:
        UnknownPluginError: No source has such a name.
        SourceError: ``file`` cannot be read.
    """
    tally = Tally()
    work = Work(world, database, settings, tally)
    if file is not None:
        work.one(SOURCES.factory(source)(), file)
    else:
        for name in only or settings.sources or SOURCES.names():
            work.all_of(SOURCES.factory(name)(), progress)
    if tally.read.get("claude"):
        tally.prompts["claude"] -= work.sessions.drop_told_history()
    return HarvestReport(
        files=dict(tally.files),
        read=dict(tally.read),
        bytes_read=tally.bytes_read,
        sessions=dict(work.sessions.count()),
        new_sessions=tally.new_sessions,
        prompts=dict(tally.prompts),
        unreadable=tuple(tally.unreadable),
        skipped=dict(sorted(tally.skipped.items())),
        excluded=tally.excluded,
        alarms=tuple(tally.alarms),
    )


@dataclass(slots=True)
class Tally:
    """What a harvest has counted so far; see ``HarvestReport`` for the fields."""

    files: Counter[str] = field(default_factory=Counter[str])
    read: Counter[str] = field(default_factory=Counter[str])
    prompts: Counter[str] = field(default_factory=Counter[str])
    skipped: Counter[str] = field(default_factory=Counter[str])
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])
    alarms: list[str] = field(default_factory=list[str])
    bytes_read: int = 0
    new_sessions: int = 0
    excluded: int = 0


@dataclass(slots=True)
class _Silence:
    """Whether new files of a source speak, but no human in them."""

    had_human: bool
    silent: int = 0
    human: int = 0

    def hear(self, *, fresh: bool, human: int, agent: int, unknown: int) -> None:
        if fresh and human:
            self.human += 1
        elif fresh and (agent or unknown):
            self.silent += 1

    def alarm(self, source: str) -> str:
        if not self.silent or self.human or not self.had_human:
            return ""
        return (
            f"{source} had human turns before, and none stands in {self.silent} new files;"
            " its log format may have changed, see 'skillopt-sleep doctor'"
        )


class Work:
    """One harvest under way."""

    def __init__(
        self, world: World, database: Database, settings: HarvestSettings, tally: Tally
    ) -> None:
        self._world = world
        self._database = database
        self._files = FileStore(database)
        self.sessions = SessionStore(database)
        self._excluded = Exclusions(settings.exclude, world.roots.home)
        self._tally = tally

    def one(self, source: Source, path: Path) -> None:
        """Read one file whole, wherever it lies."""
        path = Path(os.path.realpath(path))
        try:
            stamp = _stamp(path)
            self._tally.files[source.name] += 1
            self._read(source, path, stamp, None, _Silence(had_human=False))
        except (OSError, ValueError) as error:
            raise SourceError(
                f"the file {str(path)!r} is no log that {source.name!r} reads: {error}; name"
                " another --source or look at the file"
            ) from error

    def all_of(self, source: Source, progress: Progress | None) -> None:
        """Read the files of one source that are new or changed."""
        name = source.name
        try:
            paths = self._named(source.files(self._world))
        except SourceError as error:
            self._tally.unreadable.append(Unreadable(path=name, reason=str(error)))
            return
        known = self._files.known(name)
        self._tally.files[name] = len(paths)
        silence = _Silence(had_human=bool(paths) and self.sessions.human_turns(name) > 0)
        done = 0
        while done < len(paths):
            # One transaction for many files: each commit costs as much as reading a small file.
            with self._database.transaction():
                began = self._tally.bytes_read
                for path in paths[done : done + _FILES_AT_ONCE]:
                    self._look(source, path, known.get(str(path)), silence)
                    done += 1
                    if progress is not None:
                        progress(name, done, len(paths))
                    if self._tally.bytes_read - began > _BYTES_AT_ONCE:
                        break
        here = {str(path) for path in paths}
        gone = [path for path, file in known.items() if path not in here and not file.gone]
        if gone:
            self._files.gone(gone)
        if alarm := silence.alarm(name):
            self._tally.alarms.append(alarm)

    def _named(self, paths: Iterable[Path]) -> list[Path]:
        """Return the paths that can be stored and told; one that is no UTF-8 is unreadable."""
        good: list[Path] = []
        for path in paths:
            told = os.fsencode(path).decode("utf-8", "backslashreplace")
            if told == str(path):
                good.append(path)
            else:
                reason = "its name is no UTF-8; rename it to have it read"
                self._tally.unreadable.append(Unreadable(path=told, reason=reason))
        return good

    def _look(self, source: Source, path: Path, known: Known | None, silence: _Silence) -> None:
        try:
            stamp = _stamp(path)
            if known is not None and known.stamp == stamp and not self._let_in(known):
                return
            self._read(source, path, stamp, known, silence)
        except (OSError, ValueError) as error:
            self._unreadable(source, path, error)

    def _let_in(self, known: Known) -> bool:
        """Return whether a file was left out for a repository that no longer is."""
        if not known.reason.startswith(_LEFT_OUT):
            return False
        return not self._excluded.covers(known.reason.removeprefix(_LEFT_OUT))

    def _unreadable(self, source: Source, path: Path, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"[:300]
        self._tally.unreadable.append(Unreadable(path=str(path), reason=reason))
        try:
            stamp = _stamp(path)
        except OSError:
            return  # it went away while we looked
        self._files.put(
            source.name, str(path), stamp, cursor=None, at=self._world.now(), reason=reason
        )

    def _read(
        self, source: Source, path: Path, stamp: Stamp, known: Known | None, silence: _Silence
    ) -> None:
        cursor = self._files.cursor(str(path)) if known is not None else None
        if known is not None and (_rewritten(stamp, known, cursor) or self._let_in(known)):
            cursor = None
        reason = ""
        human = agent = unknown = 0
        for reading in _readings(source, path, cursor, stamp.size):
            out = self._excluded.sessions(reading)
            with self._database.transaction():
                if reading.whole and known is not None:
                    self._files.read_again(str(path), self.sessions.told_by(source.name, reading))
                taken = self.sessions.save(source.name, str(path), reading, excluded=frozenset(out))
                reason = f"{_LEFT_OUT}{next(iter(out.values()))}" if out else reason
                self._files.skip(str(path), reading)
                self._files.put(
                    source.name,
                    str(path),
                    stamp,
                    cursor=reading.cursor,
                    at=self._world.now(),
                    reason=reason,
                )
            self._tally.bytes_read += reading.bytes_read
            self._tally.new_sessions += taken.new_sessions
            self._tally.prompts[source.name] += taken.prompts
            self._tally.excluded += taken.left_out
            self._tally.skipped.update(
                {f"{source.name}/{kind}": times for kind, times in reading.skipped.items()}
            )
            human += taken.human_turns
            agent += taken.calls
            unknown += sum(reading.skipped.values())
        self._tally.read[source.name] += 1
        fresh = cursor is None and "subagents" not in path.parts
        silence.hear(fresh=fresh, human=human, agent=agent, unknown=unknown)


def _readings(source: Source, path: Path, cursor: Cursor | None, size: int) -> Iterator[Reading]:
    """Yield the readings of a file, up to the size it had: a long one comes in batches."""
    while True:
        reading = without_secrets(source.read(path, cursor))
        yield reading
        before = cursor.offset if cursor is not None and not reading.whole else 0
        more = before < reading.cursor.offset < size
        if not more or reading.bytes_read < BATCH:
            return
        cursor = reading.cursor


def _rewritten(stamp: Stamp, known: Known, cursor: Cursor | None) -> bool:
    """Return whether a changed file did not grow; a store, whose cursor has no head, need not."""
    return stamp.size <= known.stamp.size and not (cursor is not None and not cursor.head)


def _stamp(path: Path) -> Stamp:
    found = os.stat(path)
    size, changed = found.st_size, found.st_mtime_ns
    if path.suffix in _STORES:
        try:
            log = os.stat(f"{path}-wal")  # what was written last may stand only there
            size, changed = size + log.st_size, max(changed, log.st_mtime_ns)
        except FileNotFoundError:
            pass
    return Stamp(size=size, mtime_ns=changed, inode=found.st_ino)
