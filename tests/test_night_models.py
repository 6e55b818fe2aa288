"""Whole nights against a model server that takes batches, and against one that misbehaves."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.loopback import Ask, Hang, Raw, Reset, Response, Said, Status, model_server

from skillopt_sleep.codec import decode
from skillopt_sleep.config import load
from skillopt_sleep.edge import real_world
from skillopt_sleep.engine import Engine
from skillopt_sleep.errors import Fault
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.night import NightOptions, NightStatus
from skillopt_sleep.model.prompt import Reply
from skillopt_sleep.testing import fake_world
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import Asked

SDKS = ("anthropic", "openai")
ATTEMPT = "You are the user's coding agent"
POISON = "POISON-9c1f"

FAULTS: dict[str, tuple[Response, Fault]] = {
    "hang": (Hang(), Fault.TIMEOUT),
    "reset": (Reset(), Fault.UNREACHABLE),
    "401": (Status(code=401, message=POISON), Fault.AUTH),
    "429": (Status(code=429, message=POISON, headers={"Retry-After": "1"}), Fault.RATE),
    "500": (Status(code=500, message=POISON), Fault.SERVER),
    "529": (Status(code=529, message=POISON), Fault.OVERLOADED),
    "truncated": (Raw(body=b'{"model": "m-1", "' + POISON.encode(), short_by=3), Fault.MALFORMED),
    "prose": (Raw(body=f"Sorry: {POISON}".encode()), Fault.MALFORMED),
    "wrong model": (Said(text=POISON, model="m-2"), Fault.MALFORMED),
}


@dataclass(slots=True)
class Mind:
    """The simulated model, whose answers to some attempts are a fault; one in ``every``."""

    fault: Response | None = None
    every: int = 1
    model: SimulatedModel = field(default_factory=SimulatedModel)
    attempts: int = 0
    faults: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, ask: Ask) -> Response:
        if self.fault is not None and ATTEMPT in ask.system:
            with self.lock:
                self.attempts += 1
                hit = self.attempts % self.every == 0
                self.faults += hit
            if hit:
                return self.fault
        return self.model(Asked(system=ask.system, user=ask.text))


@contextmanager
def nightly(root: Path, backend: str, url: str, **flags: object) -> Generator[Engine]:
    """Yield an engine on the sample logs, whose clock stands still but for waits."""
    fake = fake_world(root.resolve())
    world = fake.in_project(copy_samples(fake.roots.home, real_world().now()))
    settings: dict[str, object] = {
        "target.name": backend,
        "target.model": "m-1",
        "target.base_url": url if backend == "anthropic" else f"{url}/v1",
        "target.key": "k",
        "target.retries": 0,
        "target.workers": 8,
        **flags,
    }
    with Engine(world, load(world, settings)) as engine:
        yield engine


def attempts(engine: Engine) -> list[Attempt]:
    rows = engine.database.rows("SELECT doc FROM attempts", ())
    return [decode(Attempt, row["doc"]) for row in rows]


def replies(engine: Engine) -> list[Reply]:
    rows = engine.database.rows("SELECT doc FROM calls", ())
    return [decode(Reply, row["doc"]) for row in rows]


@pytest.mark.parametrize("backend", SDKS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_provider_that_always_fails_voids_the_night_and_scores_nothing(
    fault: str, backend: str, tmp_path: Path
) -> None:
    mind = Mind(fault=FAULTS[fault][0])
    with (
        model_server(mind) as server,
        nightly(tmp_path, backend, server.url, **{"target.timeout_s": 0.3}) as engine,
    ):
        night = engine.nights.run(NightOptions(seed=1))
        report = engine.nights.report(night)
        assert mind.faults
        assert night.proposals == ()
        assert attempts(engine) == []
        assert not [one for one in replies(engine) if POISON in one.text]
    if FAULTS[fault][1] is Fault.AUTH:
        assert night.status is NightStatus.FAILED
        assert "was refused" in night.reason
        assert mind.faults <= 8
    else:
        assert night.status is NightStatus.VOID, night.reason
        assert "100% of the attempts failed" in night.reason
        assert FAULTS[fault][1].value in report
    assert POISON not in night.reason


@pytest.mark.parametrize(
    ("fault", "backend"),
    [
        ("500", "anthropic"),
        ("truncated", "openai"),
        ("prose", "anthropic"),
        ("wrong model", "openai"),
    ],
)
def test_what_fails_now_and_then_is_left_out_and_counted(
    fault: str, backend: str, tmp_path: Path
) -> None:
    mind = Mind(fault=FAULTS[fault][0], every=12)
    with model_server(mind) as server, nightly(tmp_path, backend, server.url) as engine:
        night = engine.nights.run(NightOptions(seed=1))
        assert night.status in (NightStatus.DONE, NightStatus.NOTHING), night.reason
        assert mind.faults
        kept = attempts(engine)
        assert all(one.score is not None and one.failure is None for one in kept)
        assert not [one for one in kept if one.outcome and POISON in one.outcome.answer]
        assert not [one for one in replies(engine) if POISON in one.text]
        report = engine.nights.report(night)
    assert FAULTS[fault][1].value in report


@pytest.mark.parametrize("backend", SDKS)
def test_a_night_in_batches_ends_as_one_without_and_pays_half(backend: str, tmp_path: Path) -> None:
    prices: dict[str, object] = {"target.price_input": 10.0, "target.price_output": 20.0}
    found: list[tuple[tuple[int, ...], list[str], float, float, int]] = []
    for batch in (False, True):
        mind = Mind()
        with (
            model_server(mind) as server,
            nightly(
                tmp_path / str(batch), backend, server.url, **prices, **{"target.batch": batch}
            ) as engine,
        ):
            night = engine.nights.run(NightOptions(seed=1))
            assert night.status is NightStatus.DONE, night.reason
            texts = [engine.review.get(number).after for number in night.proposals]
            attempt = night.usage["attempt"]
            found.append((night.proposals, texts, attempt.dollars, attempt.saved, attempt.calls))
            if batch:
                assert 1 < len(server.shop.batches) < 12
                assert "saved by the provider's cache and by batches" in engine.nights.report(night)
    direct, batched = found
    assert direct[:2] == batched[:2]
    assert direct[4] == batched[4]
    assert batched[2] == pytest.approx(direct[2] / 2)
    assert batched[3] == pytest.approx(direct[2] / 2)
