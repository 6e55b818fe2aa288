"""The jobs desk: nights in detached processes that outlive the client that asked for them.

A job is a folder of small files: what was asked, how far it is, what came out. No process handle
is kept, so any process of the user can follow or cancel it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from skillopt_sleep.codec import decode, encode, plain
from skillopt_sleep.errors import StoreError
from skillopt_sleep.files import PRIVATE_FILE, make_private, read_or_none, write_atomic
from skillopt_sleep.model.night import Night
from skillopt_sleep.model.progress import Progress, Tick
from skillopt_sleep.model.status import Job
from skillopt_sleep.pool import Cancel
from skillopt_sleep.world import World

_GRACE = timedelta(seconds=20)
"""A worker that holds no lock yet is taken for starting up for so long."""

_LISTEN_S = 0.5


@dataclass(frozen=True, slots=True)
class Jobs:
    """Starts, follows and cancels nights in processes of their own."""

    world: World

    def start(self, arguments: Sequence[str]) -> Job:
        """Start a night.

        Args:
            arguments: Options of the command ``night``.
        """
        now = self.world.now()
        name = now.strftime("%Y%m%dT%H%M%S%f")
        folder = make_private(self._folder(name))
        asked = Job(id=name, project=str(self.world.roots.cwd), started_at=now, state="running")
        write_atomic(folder / "job.json", encode(asked).encode(), mode=PRIVATE_FILE)
        roots = self.world.roots
        where = ["--json", "--job", name, "--home", str(roots.home), "--project", str(roots.cwd)]
        self.world.spawn(
            [*self.world.program, "night", *where, *arguments],
            cwd=roots.cwd,
            env=self.world.env,
            out=folder / "out",
            err=folder / "err",
        )
        return asked

    def get(self, name: str) -> Job:
        """Return how a job stands.

        Raises:
            StoreError: There is no such job.
        """
        folder = self._folder(name)
        content = read_or_none(folder / "job.json") if folder.is_dir() else None
        if content is None:
            known = ", ".join(job.id for job in self.all()[-3:])
            there = f"the newest are {known}" if known else "there is none yet"
            raise StoreError(f"no job is called {name!r}; {there}")
        asked = decode(Job, content)
        if (ended := _ended(folder)) is not None:
            return replace(asked, state="ended", **ended)
        if self._alive(folder, asked.started_at):
            return replace(asked, **_progress(folder))
        # It may have come to its end between the first look and the second.
        if (ended := _ended(folder)) is not None:
            return replace(asked, state="ended", **ended)
        trouble = (read_or_none(folder / "err") or b"").decode(errors="replace").strip()
        words = trouble.splitlines()[-1] if trouble else "its process was ended from outside"
        return replace(asked, state="died", reason=f"{words}; start it again to go on")

    def all(self) -> tuple[Job, ...]:
        """Return this project's jobs, oldest first."""
        folder = self.world.roots.data / "jobs"
        names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
        jobs = [self.get(name) for name in names if (folder / name / "job.json").exists()]
        return tuple(job for job in jobs if job.project == str(self.world.roots.cwd))

    def running(self) -> Job | None:
        """Return this project's running job, or None."""
        return next((job for job in reversed(self.all()) if job.state == "running"), None)

    def cancel(self, name: str) -> Job:
        """Ask a job to stop; it does within seconds, and what it finished is kept.

        Raises:
            StoreError: There is no such job.
        """
        job = self.get(name)
        if job.state == "running":
            write_atomic(self._folder(name) / "cancel", b"", mode=PRIVATE_FILE)
        return job

    @contextmanager
    def working(self, name: str, cancel: Cancel) -> Generator[Progress]:
        """Be a job's worker: hold its lock, pass a cancel on, yield where to tell how far it is."""
        folder = make_private(self._folder(name))
        done = threading.Event()

        def listen() -> None:
            while not done.wait(_LISTEN_S):
                if (folder / "cancel").exists():
                    cancel.request()
                    return

        def tell(tick: Tick) -> None:
            write_atomic(folder / "tick", json.dumps(plain(tick)).encode(), mode=PRIVATE_FILE)

        listener = threading.Thread(target=listen, daemon=True)
        with FileLock(folder / "lock"):
            listener.start()
            try:
                yield tell
            finally:
                done.set()
                listener.join()

    def _folder(self, name: str) -> Path:
        if not name.isalnum():
            raise StoreError(f"{name!r} is no job id; 'skillopt.status' lists them")
        return self.world.roots.data / "jobs" / name

    def _alive(self, folder: Path, started_at: datetime) -> bool:
        lock = FileLock(folder / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        quiet = not (folder / "tick").exists() and not (read_or_none(folder / "err") or b"")
        return quiet and self.world.now() - started_at < _GRACE


def _ended(folder: Path) -> dict[str, Any] | None:
    try:
        tree = json.loads(read_or_none(folder / "out") or b"")
    except ValueError:
        # Empty or half-written: the worker has not come to its end.
        return None
    if "error" in tree:
        return {"reason": str(tree["error"]["message"])}
    try:
        return {"night": decode(Night, json.dumps(tree["night"]))}
    except (KeyError, ValidationError) as error:
        raise StoreError(
            f"the outcome of the job in {str(folder)!r} cannot be read: {error}"
        ) from error


def _progress(folder: Path) -> dict[str, Any]:
    content = read_or_none(folder / "tick")
    if content is None:
        return {}
    tick = json.loads(content)
    return {"stage": tick["stage"], "done": tick["done"], "total": tick["total"]}
