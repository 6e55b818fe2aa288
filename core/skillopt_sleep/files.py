"""Files written whole or not at all: temporary file beside, fsync, rename; regular files only.

Knows no format and no noun. The only code that writes outside the database.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from skillopt_sleep.errors import StagingError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def read_or_none(path: Path) -> bytes | None:
    """Return the bytes of a regular file, or None where there is nothing.

    Raises:
        StagingError: Something else than a regular file is there.
        OSError: It cannot be read.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        raise StagingError(f"{str(path)!r} is not a regular file; name a file")
    return path.read_bytes()


def write_atomic(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Put ``content`` at ``path`` so that at any moment either the old or the new bytes are there.

    An existing file keeps its permissions unless ``mode`` is given. The temporary file carries a
    fixed name, so that one left by a crash is overwritten by the next try.

    Raises:
        OSError: Disk full, no permission; the old bytes stay.
    """
    if mode is None:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    temporary = temporary_of(path)
    descriptor = _opened(temporary, mode)
    try:
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
    finally:
        sync_folder(path.parent)


def _opened(temporary: Path, mode: int) -> int:
    # Somebody else may have put a link or a pipe there: neither is followed nor waited for.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{str(temporary)!r} is not a regular file; remove it")
    return descriptor


def remove_synced(path: Path) -> None:
    """Remove a file, if it is there, and make that durable."""
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def temporary_of(path: Path) -> Path:
    """Return the name under which ``write_atomic`` prepares ``path``."""
    return path.with_name(f".{path.name}.skillopt-sleep.tmp")


def make_private(folder: Path) -> Path:
    """Return ``folder``, made with mode 0700 where it was not there."""
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    return folder


def make_folders(folder: Path) -> tuple[Path, ...]:
    """Make ``folder`` and what is missing above it; return what was made, topmost first."""
    missing = [folder, *folder.parents]
    made = tuple(reversed([one for one in missing if not one.exists()]))
    folder.mkdir(parents=True, exist_ok=True)
    return made


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
