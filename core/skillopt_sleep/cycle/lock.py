"""One night at a time on a project, across processes; a dead process keeps no lock."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from skillopt_sleep.codec import text_hash
from skillopt_sleep.errors import BusyError
from skillopt_sleep.files import make_private
from skillopt_sleep.world import World


@contextmanager
def project_lock(world: World) -> Generator[None]:
    """Hold the lock of the project the user stands in.

    Raises:
        BusyError: Another process holds it.
    """
    lock = _lock(world)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BusyError(
            f"a night is running on {str(world.roots.cwd)!r} already; follow it with"
            " 'skillopt-sleep status', or wait until it has ended"
        ) from None
    try:
        yield
    finally:
        lock.release()


def is_locked(world: World) -> bool:
    """Return whether some process runs a night on this project now."""
    return _held(_lock(world))


def some_night_runs(world: World) -> bool:
    """Return whether some process runs a night on any project now."""
    folder = world.roots.data / "locks"
    return any(_held(FileLock(path)) for path in sorted(folder.glob("night-*.lock")))


def _held(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _lock(world: World) -> FileLock:
    name = text_hash(str(world.roots.cwd))[:16]
    return FileLock(make_private(world.roots.data / "locks") / f"night-{name}.lock")
