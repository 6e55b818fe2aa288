"""The only threads of the engine: bounded, ordered results, cancellable.

It knows nothing of what it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from skillopt_sleep.errors import CancelledError

T = TypeVar("T")
R = TypeVar("R")

GRACE_S = 2.0
"""How long work that is under way may go on after somebody asked to stop."""

_LOOK_S = 0.1


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

    At most ``workers`` run at once. The first error stops the start of further items; those under
    way are waited for, then it is raised. When somebody asks to stop, those under way get
    ``GRACE_S`` to finish and are then left behind; they do not keep the process alive.
    ``on_done`` is called in the calling thread with (finished, total).

    Raises:
        CancelledError: Somebody asked to stop.
        Exception: Whatever ``work`` raised first, in item order among those that ran.
    """
    todo = list(items)
    following = iter(enumerate(todo))
    finished: SimpleQueue[_Ended[R]] = SimpleQueue()
    outcome: dict[int, R] = {}
    errors: dict[int, BaseException] = {}
    running = 0
    while True:
        stopping = cancel.requested or bool(errors)
        for index, item in () if stopping else islice(following, max(1, workers) - running):
            _start(work, index, item, finished)
            running += 1
        if not running:
            break
        ended = _next(finished, cancel)
        running -= 1
        if isinstance(ended, _Failed):
            errors[ended.index] = ended.error
        else:
            outcome[ended.index] = ended.value
        if on_done is not None:
            on_done(len(outcome), len(todo))
    if errors:
        raise errors[min(errors)]
    if len(outcome) < len(todo):
        cancel.check()
    return [outcome[index] for index in range(len(todo))]


@dataclass(frozen=True, slots=True)
class _Done(Generic[R]):
    index: int
    value: R


@dataclass(frozen=True, slots=True)
class _Failed:
    index: int
    error: BaseException


_Ended = _Done[R] | _Failed


def _start(work: Callable[[T], R], index: int, item: T, finished: SimpleQueue[_Ended[R]]) -> None:
    def run() -> None:
        try:
            ended: _Ended[R] = _Done(index, work(item))
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            ended = _Failed(index, error)
        finished.put(ended)

    # A daemon, so that a call nobody waits for any more does not hold up the end of the process.
    threading.Thread(target=run, daemon=True, name=f"pool-{index}").start()


def _next(finished: SimpleQueue[_Ended[R]], cancel: Cancel) -> _Ended[R]:
    while not cancel.requested:
        try:
            return finished.get(timeout=_LOOK_S)
        except Empty:
            continue
    try:
        return finished.get(timeout=GRACE_S)
    except Empty:
        cancel.check()
        raise
