"""One live file replaced under a written intent, so that a crash at any point can be undone.

Order: backup, intent, new bytes, record, intent removed. ``recover`` looks at what a crash left and
finishes or forgets it. Knows proposals only as numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from skillopt_sleep.codec import decode, encode, text_hash
from skillopt_sleep.errors import BusyError, StagingError
from skillopt_sleep.files import (
    PRIVATE_FILE,
    make_folders,
    make_private,
    read_or_none,
    remove_synced,
    temporary_of,
    write_atomic,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is about to be done to one live file.

    Attributes:
        action: "adopt" or "revert".
        number: The proposal's number.
        target: The live file.
        before_hash: Hash of its bytes now, "" where there is no file.
        after_hash: Hash of the bytes it will have, "" where it will be removed.
        backup: File that holds the bytes of now, "" where there are none.
        made: Folders that had to be made, topmost first.
    """

    action: str
    number: int
    target: str
    before_hash: str
    after_hash: str
    backup: str = ""
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What became of an intent that a crash left behind.

    Attributes:
        intent: The intent.
        done: True if the live file has the new bytes, False if the old ones, None if neither.
    """

    intent: Intent
    done: bool | None


class Transaction:
    """Replaces live files; all state is below one private folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def replace(
        self,
        intent: Intent,
        content: bytes | None,
        record: Callable[[Intent], None],
        *,
        still: Callable[[], None],
    ) -> Intent:
        """Give the live file ``content`` (None removes it), then call ``record``.

        Args:
            intent: What was decided on; ``before_hash`` is the precondition.
            content: The new bytes.
            record: Writes down what was done; called once the live file has its new bytes, and
                again by ``recover`` if a crash came between.
            still: Raises if what was decided does not hold any more; called once nobody else can
                change this file through us.

        Raises:
            StagingError: The live file is not what was reviewed, or cannot be written (disk full,
                no permission); it has its old bytes.
            BusyError: Another process changes this file now.
        """
        target = Path(intent.target)
        with self.alone(target):
            still()
            _must_lie_where_reviewed(target)
            live = read_or_none(target)
            if text_hash(live) != intent.before_hash:
                raise StagingError(
                    f"{intent.target!r} has changed since it was reviewed, so nothing was written;"
                    " run a new night, or put the reviewed text back"
                )
            whole = self._prepare(intent, live, target)
            try:
                self._write_intent(whole)
                if content is None:
                    remove_synced(target)
                else:
                    write_atomic(target, content)
            except OSError as error:
                self._settle(whole, record)
                if text_hash(read_or_none(target)) != intent.after_hash:
                    raise StagingError(
                        f"{intent.target!r} cannot be written and has its old bytes: {error};"
                        " mend that, then try again"
                    ) from error
                return whole
            record(whole)
            self._drop_intent(whole)
        return whole

    def recover(self, record: Callable[[Intent], None]) -> tuple[Recovered, ...]:
        """Finish or forget what a crash left behind; cheap when there is nothing."""
        found: list[Recovered] = []
        folder = self._folder / "intents"
        if not folder.is_dir():
            return ()
        for path in sorted(folder.glob("*.json")):
            intent = _read_intent(path)
            with self.alone(Path(intent.target)):
                if path.exists():
                    found.append(self._settle(intent, record))
        return tuple(found)

    def _settle(self, intent: Intent, record: Callable[[Intent], None]) -> Recovered:
        target = Path(intent.target)
        done = _done(intent, target)
        if done:
            record(intent)
        else:
            _sweep(temporary_of(target))
            if done is False:
                undo_folders(intent.made)
        self._drop_intent(intent)
        return Recovered(intent=intent, done=done)

    def _prepare(self, intent: Intent, live: bytes | None, target: Path) -> Intent:
        backup = ""
        if live is not None:
            path = make_private(self._folder / "backups") / f"{intent.number}-{intent.action}.bak"
            write_atomic(path, live, mode=PRIVATE_FILE)
            backup = str(path)
        made = tuple(str(one) for one in _missing(target.parent))
        return replace(intent, backup=backup, made=made)

    def _write_intent(self, intent: Intent) -> None:
        path = make_private(self._folder / "intents") / f"{intent.number}-{intent.action}.json"
        write_atomic(path, encode(intent).encode(), mode=PRIVATE_FILE)
        make_folders(Path(intent.target).parent)

    def _drop_intent(self, intent: Intent) -> None:
        remove_synced(self._folder / "intents" / f"{intent.number}-{intent.action}.json")

    @contextmanager
    def alone(self, target: Path) -> Generator[None]:
        """Keep every other process from changing ``target`` through us.

        Raises:
            BusyError: Another process changes it now.
        """
        name = text_hash(str(target))[:16]
        lock = FileLock(make_private(self._folder / "locks") / f"{name}.lock")
        try:
            lock.acquire(timeout=10)
        except Timeout:
            raise BusyError(
                f"another process is changing {str(target)!r}; try again when it is done"
            ) from None
        try:
            yield
        finally:
            lock.release()


def _must_lie_where_reviewed(target: Path) -> None:
    real = Path(os.path.realpath(target))
    if real != target:
        raise StagingError(
            f"{str(target)!r} leads to {str(real)!r} by a link that was not there at the review, so"
            " nothing was written; remove the link or run a new night"
        )


def _done(intent: Intent, target: Path) -> bool | None:
    try:
        now = text_hash(read_or_none(target))
    except (StagingError, OSError):
        return None  # a folder, a pipe or a loop of links is there: neither old nor new
    return True if now == intent.after_hash else False if now == intent.before_hash else None


def _sweep(temporary: Path) -> None:
    try:
        temporary.unlink(missing_ok=True)
    except OSError:
        return  # a folder of somebody else's, or one that may not be written any more


def _read_intent(path: Path) -> Intent:
    try:
        return decode(Intent, path.read_bytes())
    except ValidationError as error:
        raise StagingError(
            f"the note {str(path)!r} of an unfinished change cannot be read; compare the skill with"
            " its backup in the folder beside it, then remove the note"
        ) from error


def _missing(folder: Path) -> list[Path]:
    return [one for one in reversed([folder, *folder.parents]) if not one.exists()]


def undo_folders(folders: tuple[str, ...]) -> None:
    """Remove folders that were made for a file which is gone again, where they are empty."""
    for name in reversed(folders):
        folder = Path(name)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
