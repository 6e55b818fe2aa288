"""How much longer a night takes than it has to, and what it costs beside its forecast.

A night of 40 tasks, 20 of them held out, against a model server on loopback that takes 200 ms a
call. The ideal is what so many workers need if nothing but the model took time: each batch that a
stage asks for together takes as many rounds as it has calls for each worker, and a stage waits
for the one before it.

Usage: ``python -m benchmarks.night [--workers 4] [--latency 0.2] [--most 1.3]``. Exits 1 if the
night took more than ``--most`` times the ideal.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.noise import NoisyBackend, task_lines

from skillopt_sleep.config import BackendSettings
from skillopt_sleep.edge import open_engine, real_world
from skillopt_sleep.model.night import Night, NightOptions
from skillopt_sleep.model.progress import Tick
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep_server.demo.wire import MODEL, Asked, ModelServer

SEED = 1
_AGENT = "You are the user's coding agent"
_TOGETHER = ("reflect",)


class Slow:
    """The noisy model behind HTTP, each answer after a while."""

    def __init__(self, latency_s: float) -> None:
        world = real_world()
        self._inner = NoisyBackend(BackendSettings(name="noisy", model=str(SEED)), world)
        self._latency_s = latency_s
        self._asked: Counter[Asked] = Counter()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> str:
        """Return an answer; the n-th equal question is draw n."""
        with self._lock:
            draw = self._asked[asked]
            self._asked[asked] += 1
        time.sleep(self._latency_s)
        stage = Stage.ATTEMPT if asked.system.startswith(_AGENT) else Stage.REFLECT
        said = (Message(role="user", text=asked.user),)
        prompt = Prompt(stage=stage, system=asked.system, messages=said, draw=draw)
        return self._inner.complete(prompt).text


@dataclass(slots=True)
class Batches:
    """How many calls each batch of rollouts needed, read off the progress."""

    sizes: list[int] = field(default_factory=list[int])
    _done: int = -1

    def __call__(self, tick: Tick) -> None:
        """Note the beginning of a batch."""
        if tick.stage != "rollout":
            return
        if self._done < 0:
            self.sizes.append(tick.total - tick.done)
        self._done = tick.done if tick.done < tick.total else -1


def ideal_s(night: Night, batches: Batches, *, workers: int, latency_s: float) -> float:
    """Return the least time the night's calls can take, in seconds."""
    rounds = sum(math.ceil(size / workers) for size in batches.sizes)
    for stage, used in night.usage.items():
        if stage != Stage.ATTEMPT:
            rounds += math.ceil(used.calls / workers) if stage in _TOGETHER else used.calls
    return rounds * latency_s


def main() -> None:
    """Print the figures of one night."""
    parser = argparse.ArgumentParser(description="a night against the clock")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--most", type=float, default=1.3)
    asked = parser.parse_args()
    batches = Batches()
    with (
        tempfile.TemporaryDirectory(prefix="night-") as name,
        ModelServer(Slow(asked.latency)) as server,
    ):
        root = Path(name).resolve()
        (root / "project").mkdir()
        flags: dict[str, object] = {
            "target.name": "openai_compatible",
            "target.model": MODEL,
            "target.base_url": f"{server.url}/v1",
            "target.workers": asked.workers,
            "target.price_input": 1.0,
            "target.price_output": 5.0,
        }
        with open_engine(
            home=root, project=root / "project", flags=flags, state=root / "state"
        ) as engine:
            engine.tasks.load(task_lines(SEED, members=1, at=engine.world.now()))
            options = NightOptions(seed=SEED, harvest=False)
            forecast = engine.nights.forecast(options).forecast
            begun = time.monotonic()
            night = engine.nights.run(options, progress=batches)
            took = time.monotonic() - begun
    ideal = ideal_s(night, batches, workers=asked.workers, latency_s=asked.latency)
    _print(night, forecast, batches)
    print(f"wall {took:.2f} s, ideal {ideal:.2f} s, ratio {took / ideal:.2f}")
    if took > asked.most * ideal:
        raise SystemExit(f"the night took more than {asked.most:g} times the ideal")


def _print(night: Night, forecast: Mapping[str, float], batches: Batches) -> None:
    print(f"the night ended as {night.status}; batches of rollouts: {batches.sizes}")
    for stage, used in night.usage.items():
        print(f"  {stage:<10} {used.calls:4} calls {used.tokens:7} tokens {used.dollars:8.4f} USD")
    spent = {
        "calls": float(sum(used.calls for used in night.usage.values())),
        "tokens": float(sum(used.tokens for used in night.usage.values())),
        "dollars": sum(used.dollars for used in night.usage.values()),
    }
    for kind, figure in spent.items():
        if forecast.get(kind):
            print(f"{kind}: {figure:.4g}, {figure / forecast[kind]:.2f} of the forecast")


if __name__ == "__main__":
    main()
