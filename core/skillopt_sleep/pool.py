"""The only threads of the engine: bounded, ordered results, cancellable.

It knows nothing of what it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from skillopt_sleep.errors import CancelledError

T = TypeVar("T")
R = TypeVar("R")


class Cancel:
    """A flag that one thread raises and others look at."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def request(self) -> None:
        """Ask for the work to stop; safe from any thread and from signal handlers."""
        self._event.set()

    @property
    def requested(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()

    def check(self) -> None:
        """Return if nobody asked to stop.

        Raises:
            CancelledError: Somebody did.
        """
        if self._event.is_set():
            raise CancelledError("cancelled: nothing further was started; run again to resume")

    def pause(self, seconds: float) -> None:
        """Wait so many seconds, or until somebody asks to stop.

        Raises:
            CancelledError: Somebody did.
        """
        self._event.wait(seconds)
        self.check()


def run_all(
    work: Callable[[T], R],
    items: Iterable[T],
    *,
    workers: int,
    cancel: Cancel,
    on_done: Callable[[int, int], None] | None = None,
) -> list[R]:
    """Return ``work(item)`` for every item, in the items' order.

    At most ``workers`` run at once. The first error stops the submission of further items; those
    under way are waited for, then it is raised. ``on_done`` is called in the calling thread with
    (finished, total).

    Raises:
        CancelledError: Somebody asked to stop.
        Exception: Whatever ``work`` raised first, in item order among those that ran.
    """
    todo = list(items)
    if not todo:
        return []
    following = iter(enumerate(todo))
    outcome: dict[int, R] = {}
    errors: dict[int, BaseException] = {}
    running: dict[Future[R], int] = {}
    with ThreadPoolExecutor(max_workers=max(1, workers)) as executor:
        while True:
            room = max(1, workers) - len(running)
            stopping = cancel.requested or bool(errors)
            for index, item in () if stopping else islice(following, room):
                running[executor.submit(work, item)] = index
            if not running:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                _settle(future, running.pop(future), outcome, errors)
                if on_done is not None:
                    on_done(len(outcome), len(todo))
    if errors:
        raise errors[min(errors)]
    if len(outcome) < len(todo):
        cancel.check()
    return [outcome[index] for index in range(len(todo))]


def _settle(
    future: Future[R], index: int, outcome: dict[int, R], errors: dict[int, BaseException]
) -> None:
    error = future.exception()
    if error is None:
        outcome[index] = future.result()
    else:
        errors[index] = error
