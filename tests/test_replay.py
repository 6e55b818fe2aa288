"""Rollouts to attempts: order, repetition, resuming, failures, cancelling, handoff."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.loopback import Answer, Ask, Response, Status, model_server

from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.build import build
from skillopt_sleep.backends.handoff import give_answer, waiting
from skillopt_sleep.config import BackendSettings, BudgetSettings, Settings
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.prompt import PromptEnvironment
from skillopt_sleep.errors import (
    AnswersWantedError,
    BackendError,
    BudgetSpentError,
    CancelledError,
    Fault,
)
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.progress import Tick
from skillopt_sleep.model.task import Task
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay, Rollout
from skillopt_sleep.store.attempts import AttemptStore
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import fake_world

WORKERS = 4
CHECKS = (Check(id="a", operator=Operator.CONTAINS, value="pnpm"),)


def task(number: int) -> Task:
    return Task(id=f"t{number}", cluster="c", prompt=f"task {number}.", checks=CHECKS)


def rollouts(count: int, *, skill: str = "s", draws: int = 1) -> list[Rollout]:
    return [
        Rollout(task=task(n), skill=skill, draw=draw) for n in range(count) for draw in range(draws)
    ]


class Night:
    """One run of one night against a model server or the handoff folder."""

    def __init__(
        self, root: Path, url: str = "", *, night: str = "n1", budget: int = 0, name: str = "vllm"
    ) -> None:
        world = fake_world(root)
        database = Database(root / "data" / "db.sqlite")
        target = BackendSettings(name=name, model="m-1", base_url=url, retries=0)
        settings = Settings(target=target)
        self.cancel = Cancel()
        self.ticks: list[Tick] = []
        calls = CallStore(database)
        self.meter = Meter(BudgetSettings(calls=budget), calls, world, night=night)
        backend = build(
            target, world, calls=calls, night=night, meter=self.meter, cancel=self.cancel
        )
        judges = all_judges(world, None)
        self.environment = PromptEnvironment(
            Bench(world=world, settings=settings, target=backend, judges=judges, run=night)
        )
        self.attempts = AttemptStore(database)
        self.replay = Replay(
            self.environment,
            self.attempts,
            night=night,
            workers=WORKERS,
            cancel=self.cancel,
            progress=self.ticks.append,
        )


@contextmanager
def night(root: Path, answer: Answer) -> Generator[Night]:
    with model_server(answer) as server:
        yield Night(root, server.url)


def echo(ask: Ask) -> Response:
    return f"I use pnpm for {ask.text}"


def texts(attempts: tuple[Attempt, ...]) -> list[str]:
    return [one.outcome.answer if one.outcome else "" for one in attempts]


def test_attempts_come_in_the_order_they_were_wanted(tmp_path: Path) -> None:
    with night(tmp_path, echo) as one:
        wanted = rollouts(12)[::-1]
        made = one.replay(wanted)
    assert [attempt.task for attempt in made] == [rollout.task.id for rollout in wanted]
    assert all(attempt.score and attempt.score.hard == 1.0 for attempt in made)


def test_the_order_of_completion_changes_nothing(tmp_path: Path) -> None:
    rng = fake_world(tmp_path).rng("latency")
    pause = threading.Event()

    def lagging(ask: Ask) -> Response:
        pause.wait(rng.random() * 0.02)
        return echo(ask)

    made: list[list[Attempt]] = []
    with model_server(lagging) as server:
        for folder in ("one", "two"):
            attempts = Night(tmp_path / folder, server.url).replay(rollouts(6, draws=2))
            made.append([replace(attempt, seconds=0.0) for attempt in attempts])
    assert made[0] == made[1]


def test_equal_rollouts_run_once(tmp_path: Path) -> None:
    with model_server(echo) as server:
        made = Night(tmp_path, server.url).replay(rollouts(2) * 5)
        assert server.count == 2
    assert len(made) == 10
    assert made[:2] == made[2:4]


def test_a_night_that_was_cut_off_goes_on_without_paying_again(tmp_path: Path) -> None:
    with model_server(echo) as server:
        first = Night(tmp_path, server.url).replay(rollouts(5))
        again = Night(tmp_path, server.url)
        made = again.replay(rollouts(8))
        assert server.count == 8
    assert made[:5] == first
    assert again.ticks[0].done == 5
    assert (again.ticks[-1].done, again.ticks[-1].total) == (8, 8)


def test_a_paid_answer_survives_a_kill_before_it_was_judged(tmp_path: Path) -> None:
    with model_server(echo) as server:
        one = Night(tmp_path, server.url)
        one.environment.attempt(task(0), "s", 0)
        assert one.attempts.of_night("n1") == ()
        Night(tmp_path, server.url).replay(rollouts(1))
        assert server.count == 1


def test_another_night_draws_anew(tmp_path: Path) -> None:
    with model_server(echo) as server:
        Night(tmp_path, server.url, night="n1").replay(rollouts(3))
        Night(tmp_path, server.url, night="n2").replay(rollouts(3))
        assert server.count == 6


def test_a_failure_is_counted_and_tried_again_and_never_kept(tmp_path: Path) -> None:
    broken = threading.Event()
    broken.set()

    def answer(ask: Ask) -> Response:
        return Status(code=400) if broken.is_set() and "task 1" in ask.text else echo(ask)

    with night(tmp_path, answer) as one:
        made = one.replay(rollouts(4))
        assert [attempt.failure is not None for attempt in made] == [False, True, False, False]
        assert made[1].score is None
        assert (one.replay.failure_share, one.replay.failures) == (0.25, 1)
        assert len(one.attempts.of_night("n1")) == 3
        broken.clear()
        assert one.replay(rollouts(4))[1].failure is None
        assert one.replay.failure_share == 0.0


def test_a_failed_attempt_cannot_be_kept(tmp_path: Path) -> None:
    with night(tmp_path, lambda _ask: Status(code=400)) as one:
        (failed,) = one.replay(rollouts(1))
        with pytest.raises(ValueError, match="failed"):
            one.attempts.save(failed, night="n1")


def test_a_bad_key_stops_the_night_within_one_call_per_worker(tmp_path: Path) -> None:
    with model_server(lambda _ask: Status(code=401)) as server:
        with pytest.raises(BackendError) as caught:
            Night(tmp_path, server.url).replay(rollouts(40))
        assert caught.value.fault is Fault.AUTH
        assert server.count <= WORKERS


def test_a_spent_budget_stops_the_night_and_keeps_what_is_done(tmp_path: Path) -> None:
    with model_server(echo) as server:
        one = Night(tmp_path, server.url, budget=7)
        with pytest.raises(BudgetSpentError):
            one.replay(rollouts(40))
        assert server.count == 7
    assert len(one.attempts.of_night("n1")) == 7


def test_cancelling_starts_nothing_further_and_keeps_what_is_done(tmp_path: Path) -> None:
    one: list[Night] = []

    def answer(ask: Ask) -> Response:
        if ask.number == 3:
            one[0].cancel.request()
        return echo(ask)

    with model_server(answer) as server:
        one.append(Night(tmp_path, server.url))
        with pytest.raises(CancelledError):
            one[0].replay(rollouts(40))
        assert server.count <= 4 + WORKERS
        assert len(one[0].attempts.of_night("n1")) == server.count


def test_all_prompts_of_a_batch_are_handed_off_before_the_night_waits(tmp_path: Path) -> None:
    with pytest.raises(AnswersWantedError) as caught:
        Night(tmp_path, name="handoff").replay(rollouts(10))
    assert caught.value.waiting == 10
    folder = Path(caught.value.folder)
    for prompt in waiting(folder)[:6]:
        give_answer(folder, prompt.key, "I used pnpm for it.")
    with pytest.raises(AnswersWantedError, match="4 prompts"):
        Night(tmp_path, name="handoff").replay(rollouts(10))
    for prompt in waiting(folder):
        give_answer(folder, prompt.key, "I used pnpm for it.")
    last = Night(tmp_path, name="handoff")
    assert len(texts(last.replay(rollouts(10)))) == 10
    assert last.meter.total.calls == 10


def test_attempts_come_back_from_the_store_as_they_went_in(tmp_path: Path) -> None:
    with night(tmp_path, echo) as one:
        made = one.replay(rollouts(2, draws=2))
    assert one.attempts.of_task("t1") == made[2:]
    assert one.attempts.get(made[0].id) == made[0]
    assert one.attempts.get("nothing") is None
