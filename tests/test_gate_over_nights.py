"""The gate over five nights, with noise, through the real engine: what is let in and what is not.

Twenty seeded runs here; ``benchmarks/gate_loopback.py`` makes two hundred.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.gate_loopback import counts, one, run
from benchmarks.noise import CLUSTERS, HARMFUL, HELPFUL, NULL, Truth

from skillopt_sleep.config import load
from skillopt_sleep.edge import real_world
from skillopt_sleep.engine import Engine

RUNS = 20


def test_five_nights_adopt_the_helpful_rule_and_neither_the_idle_nor_the_harmful_one() -> None:
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        runs = list(pool.map(partial(one, members=1), range(1000, 1000 + RUNS), chunksize=5))
    found = counts(runs)
    assert found["helpful"] >= 15
    assert found["null"] <= 1
    assert found["harmful"] == 0


def test_five_nights_are_the_same_whatever_the_number_of_workers(tmp_path: Path) -> None:
    alone, many = (run(7, tmp_path / str(n), members=2, workers=n) for n in (1, 8))
    assert alone == many


def test_the_simulated_rules_are_worth_what_the_promise_speaks_of() -> None:
    truth = Truth(3)
    assert truth.worth(HELPFUL) >= 0.25
    assert truth.worth(NULL) == 0.0
    assert truth.worth(HARMFUL) <= -0.10


def test_evidence_of_several_looks_is_recomputed_from_the_stored_attempts(tmp_path: Path) -> None:
    run(101, tmp_path, members=1)
    world = real_world()
    roots = replace(world.roots, data=tmp_path / "data", cwd=tmp_path.resolve() / "cwd")
    world = replace(world, roots=roots, env={})
    with Engine(world, load(world)) as engine:
        judged = [one for one in engine.review.all() if one.evidence.tasks]
        assert max(one.evidence.nights for one in judged) > 1
        assert max(one.evidence.tasks for one in judged) > CLUSTERS
        for one in judged:
            explained = engine.gate.explain(one.number)
            assert explained["disagreements"] == []
            assert explained["missing"] == []
