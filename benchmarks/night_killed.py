"""A night that is killed again and again, as a real process: it ends as if nothing had happened.

Each night is the command ``skillopt-sleep night`` on the sample logs against a model server on
loopback, killed with SIGKILL at random moments and started again until it ends by itself.

Usage: ``python -m benchmarks.night_killed [--nights 5] [--kills 10] [--seed 0]``. Exits 1 if a
night proposes something else than the night that was left alone, or makes more model calls than
that one and one a worker and kill.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillopt_sleep.codec import plain
from skillopt_sleep.edge import open_engine, real_world
from skillopt_sleep.model.night import NightStatus
from skillopt_sleep.model.proposal import Proposal
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, Asked, ModelServer

WORKERS = 4
LONGEST_S = 120.0
_OF_THE_NIGHT = ("attempts", "guarded")


class Model:
    """Answers by the words of the request alone, and kills a process at a given call."""

    def __init__(self) -> None:
        self.calls = 0
        self._kill: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def kill_at(self, call: int, pid: int) -> None:
        """Have process ``pid`` killed when the call of this number, counted from 1, is made."""
        with self._lock:
            self._kill = (call, pid)

    def __call__(self, asked: Asked) -> str:
        """Return the answer; equal requests get equal answers, so that nights can be compared."""
        with self._lock:
            self.calls += 1
            if self._kill is not None and self.calls >= self._kill[0]:
                os.kill(self._kill[1], signal.SIGKILL)
                self._kill = None
        return SimulatedModel(seed=5)(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a night came to.

    Attributes:
        proposals: Each without what is of one night only, such as ids of attempts.
        calls: Requests that reached the model.
        kills: How often it was killed.
    """

    proposals: tuple[Mapping[str, Any], ...]
    calls: int
    kills: int


def night(root: Path, *, kills: int, rng: random.Random) -> Ended:
    """Run one night in ``root``, killed up to ``kills`` times, to its end.

    Half of the kills come at a model call, half after some time, so that harvest, mining and the
    last transaction are hit too.

    Raises:
        RuntimeError: The night did not end well.
    """
    model = Model()
    home = root / "home"
    project = copy_samples(home, real_world().now())
    killed = 0
    with ModelServer(model) as server:
        while not _over(root, project):
            process = _start(root, project, server.url)
            if killed < kills and _killed(process, model, rng):
                killed += 1
                continue
            if code := process.wait(LONGEST_S):
                raise RuntimeError(f"the night ended with code {code}")
        calls = model.calls
    with open_engine(home=home, project=project, state=root / "state") as engine:
        nights = engine.nights.all()
        proposals = tuple(_lasting(one) for one in engine.review.all())
    if len(nights) != 1:
        raise RuntimeError(f"{len(nights)} nights were begun where one was wanted")
    return Ended(proposals=proposals, calls=calls, kills=killed)


def _over(root: Path, project: Path) -> bool:
    """Return whether the night has ended, as it may have just before a kill."""
    with open_engine(home=root / "home", project=project, state=root / "state") as engine:
        last = engine.nights.last()
    return last is not None and last.status is not NightStatus.RUNNING


def _start(root: Path, project: Path, url: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "skillopt_sleep_server", "night", "--json", "--seed", "1"]
    argv += ["--home", str(root / "home"), "--project", str(project)]
    argv += ["--backend", "openai_compatible", "--model", MODEL, "--base-url", f"{url}/v1"]
    env = {**os.environ, "SKILLOPT_SLEEP_HOME": str(root / "state")}
    return subprocess.Popen(argv, env=env, cwd=project, stdout=subprocess.DEVNULL)


def _killed(process: subprocess.Popen[bytes], model: Model, rng: random.Random) -> bool:
    """Kill at a random moment; return whether the process ended by that."""
    if rng.random() < 0.5:
        model.kill_at(model.calls + rng.randint(1, 20), process.pid)
        moment = LONGEST_S
    else:
        moment = rng.uniform(0.1, 1.5)
    try:
        return process.wait(moment) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait(LONGEST_S) == -signal.SIGKILL


def _lasting(proposal: Proposal) -> Mapping[str, Any]:
    tree = plain(replace(proposal, target=""))
    for name in ("created_at", "night", "project"):
        del tree[name]
    for name in _OF_THE_NIGHT:
        tree["evidence"][name] = len(tree["evidence"][name])
    return dict(tree)


def main() -> None:
    """Print a row a night."""
    parser = argparse.ArgumentParser(description="nights that are killed")
    parser.add_argument("--nights", type=int, default=5)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="night-killed-") as name:
        alone = night(Path(name).resolve() / "alone", kills=0, rng=random.Random(0))
        print(f"left alone: {len(alone.proposals)} proposals, {alone.calls} calls")
        for number in range(asked.nights):
            rng = random.Random(f"{asked.seed}/{number}")
            ended = night(Path(name).resolve() / str(number), kills=asked.kills, rng=rng)
            same = ended.proposals == alone.proposals
            most = alone.calls + WORKERS * ended.kills
            wrong += not same or ended.calls > most
            print(
                f"killed {ended.kills} times: {'the same' if same else 'OTHER'} proposals,"
                f" {ended.calls} calls of {most} allowed",
                flush=True,
            )
    if wrong:
        raise SystemExit(f"{wrong} nights did not end as the one that was left alone")


if __name__ == "__main__":
    main()
