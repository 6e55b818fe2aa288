"""Five nights in a row with a noisy model, many times: what is adopted, and what never should be.

Each run is the real engine on its own database: tasks imported, nights run, everything adopted
that reached E >= 20 m, whether or not a human asked for it, so that the gate alone is judged. The
optimizer suggests a rule worth 28 points, one that does nothing and one that costs 14 points, all
three as soon as it sees a failure.

Usage: ``python -m benchmarks.gate_loopback [--runs 200] [--members 1 2 3 5] [--seed 0]``. Exits 1
if, with so many members as ``--must`` says, more than 4 runs of 200 adopt the null edit, any
adopts the harmful one, or fewer than 150 adopt the helpful one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.noise import NAME, RULES, announce, task_lines

from skillopt_sleep.config import load
from skillopt_sleep.edge import real_world
from skillopt_sleep.engine import Engine
from skillopt_sleep.model.night import NightOptions, NightStatus
from skillopt_sleep.model.proposal import ProposalStatus
from skillopt_sleep.world import World

NIGHTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What five nights came to.

    Attributes:
        adopted: Names of the rules in the live skill after any night, sorted.
        live: The live skill at the end, "" for none.
        calls: Model calls, the journal's aside.
        rivals: Candidates that reached the test together, one number per night with a test.
    """

    adopted: tuple[str, ...]
    live: str
    calls: int
    rivals: tuple[int, ...]


def run(seed: int, root: Path, *, members: int, workers: int = 1) -> Run:
    """Run five nights in ``root``.

    Args:
        seed: Equal seeds give equal runs, whatever ``workers``.
        root: An empty folder.
        members: Held-out members of each of the 20 clusters; 1 is 20 held-out tasks in all,
            5 are 20 fresh ones every night.
        workers: Attempts under way at once.
    """
    announce(root / "plugins")
    begun = real_world().now().replace(year=2026, month=1, day=1, hour=3)
    adopted: set[str] = set()
    rivals: list[int] = []
    calls, live = 0, ""
    for night in range(NIGHTS):
        world = _world(root, night=timedelta(days=night))
        with Engine(world, load(world, _flags(seed, workers))) as engine:
            if night == 0:
                engine.tasks.load(task_lines(seed, members=members, at=begun - timedelta(days=40)))
            ended = engine.nights.run(NightOptions(seed=seed * NIGHTS + night, harvest=False))
            if ended.status not in (NightStatus.DONE, NightStatus.NOTHING):
                raise RuntimeError(f"run {seed} night {night}: {ended.status} {ended.reason}")
            calls += sum(used.calls for used in ended.usage.values())
            seen = [engine.review.get(number) for number in ended.proposals]
            rivals += [max(one.evidence.rivals for one in seen)] if seen else []
            for one in seen:
                strong = one.extra.get("strong") == "yes"
                if one.status is ProposalStatus.SUPPORTED and strong:
                    live = engine.review.adopt(one.number, human="benchmark").after
                elif one.status is ProposalStatus.ADOPTED:
                    live = one.after
            adopted |= {name for name, text in RULES.items() if text in live}
    return Run(adopted=tuple(sorted(adopted)), live=live, calls=calls, rivals=tuple(rivals))


def _world(root: Path, *, night: timedelta) -> World:
    real = real_world()
    names = ("home", "data", "config", "cache", "cwd")
    folders = {name: root.resolve() / name for name in names}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    at = real.now().replace(year=2026, month=1, day=1, hour=3, minute=0, second=0, microsecond=0)
    return replace(
        real, now=lambda: at + night, rng=Random, env={}, roots=replace(real.roots, **folders)
    )


def _flags(seed: int, workers: int) -> dict[str, object]:
    return {
        "target.name": NAME,
        "target.model": str(seed),
        "target.base_url": "http://127.0.0.1:9",
        "target.workers": workers,
        "gate.auto_adopt": True,
        "budget.calls": 0,
    }


def one(seed: int, members: int) -> Run:
    """Run five nights in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="gate-loopback-") as folder:
        return run(seed, Path(folder), members=members)


def counts(runs: Sequence[Run]) -> Counter[str]:
    """Return in how many runs each rule was adopted."""
    return Counter(name for each in runs for name in each.adopted)


def main() -> None:
    """Print a row per layout."""
    parser = argparse.ArgumentParser(description="five nights with a noisy model")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--members", type=int, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("--must", type=int, default=1, help="the layout that the promise is for")
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.runs)
    print("members helpful null harmful calls/run rivals")
    broken: list[str] = []
    with ProcessPoolExecutor() as pool:
        for members in asked.members:
            runs = list(pool.map(partial(one, members=members), seeds, chunksize=5))
            found = counts(runs)
            calls = sum(each.calls for each in runs) / len(runs)
            rivals = [number for each in runs for number in each.rivals]
            print(
                f"{members:7} {found['helpful']:7} {found['null']:4} {found['harmful']:7}"
                f" {calls:9.0f} {sum(rivals) / max(1, len(rivals)):6.2f}",
                flush=True,
            )
            for name in ("null", "harmful"):
                wrong = [n for n, each in zip(seeds, runs, strict=True) if name in each.adopted]
                if wrong:
                    print(f"        {name} in the runs {', '.join(map(str, wrong))}", flush=True)
            if members == asked.must:
                broken = _broken(found, asked.runs)
    if broken:
        raise SystemExit("; ".join(broken))


def _broken(found: Counter[str], runs: int) -> list[str]:
    return [
        *(["the null edit is adopted too often"] if found["null"] > 4 * runs / 200 else []),
        *(["a harmful edit is adopted"] if found["harmful"] else []),
        *(["the helpful edit is found too seldom"] if found["helpful"] < 150 * runs / 200 else []),
    ]


if __name__ == "__main__":
    main()
