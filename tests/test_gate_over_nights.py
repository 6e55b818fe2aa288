"""The gate over five nights, with noise, through the real engine: what is let in and what is not.

Twenty seeded runs here; ``benchmarks/gate_loopback.py`` makes two hundred.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.gate_loopback import counts, one, run
from benchmarks.noise import HARMFUL, HELPFUL, NULL, Truth

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
