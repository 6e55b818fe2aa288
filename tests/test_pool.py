"""The pool: ordered, bounded, cancellable."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import CancelledError
from skillopt_sleep.pool import Cancel, run_all


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers()), st.integers(1, 5))
def test_answers_come_in_the_order_of_the_items(items: list[int], workers: int) -> None:
    assert run_all(lambda x: x * 2, items, workers=workers, cancel=Cancel()) == [
        x * 2 for x in items
    ]


def test_never_more_than_the_workers_run_at_once() -> None:
    lock = threading.Lock()
    now = most = 0
    gate = threading.Barrier(3, timeout=10)

    def work(_item: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        gate.wait()
        with lock:
            now -= 1

    run_all(work, range(9), workers=3, cancel=Cancel())
    assert most == 3


def test_the_first_error_stops_what_has_not_begun() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 1:
            raise ValueError("one")
        return item

    with pytest.raises(ValueError, match="one"):
        run_all(work, range(100), workers=1, cancel=Cancel())
    assert begun == [0, 1]


def test_a_cancelled_run_starts_nothing_more_and_says_so() -> None:
    cancel = Cancel()
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        cancel.request()

    with pytest.raises(CancelledError):
        run_all(work, range(5), workers=1, cancel=cancel)
    assert begun == [0]


def test_progress_is_told_after_each_item() -> None:
    seen: list[tuple[int, int]] = []
    run_all(
        lambda x: x,
        range(3),
        workers=1,
        cancel=Cancel(),
        on_done=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_work_that_hangs_does_not_hold_up_who_cancels() -> None:
    cancel = Cancel()
    never = threading.Event()
    begun = threading.Barrier(3, timeout=10)

    def work(_item: int) -> None:
        begun.wait()
        never.wait(60)

    def stop() -> None:
        begun.wait()
        cancel.request()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(CancelledError):
        run_all(work, range(2), workers=2, cancel=cancel)
    stopper.join()
    assert not never.is_set()
    never.set()
