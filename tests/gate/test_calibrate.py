"""Fewer trials than the table has; each bound is one that a true rate at the promised one passes.

``benchmarks/gate_table.py`` runs the full table.
"""

from __future__ import annotations

from random import Random

import pytest

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.calibrate import Calibration, calibrate, calibrate_own
from skillopt_sleep.gate.interval import at_least
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.score import Score

TRIALS = 1000
RARE = 0.001


@pytest.fixture(scope="module")
def simulated() -> Calibration:
    return calibrate(trials=TRIALS, seed=11)


def hits(calibration: Calibration, tasks: int, effect: str) -> int:
    return round(calibration.cells[tasks, effect].evidence.rate * TRIALS)


@pytest.mark.parametrize(
    ("tasks", "effect", "most"),
    [
        (10, "null", 0.01),
        (20, "null", 0.01),
        (40, "null", 0.02),
        (10, "harm", 0.01),
        (20, "harm", 0.01),
        (40, "harm", 0.01),
    ],
)
def test_false_accepts_stay_below_the_promise(
    simulated: Calibration, tasks: int, effect: str, most: float
) -> None:
    assert at_least(hits(simulated, tasks, effect), TRIALS, most) > RARE


@pytest.mark.parametrize(
    ("tasks", "effect", "least"),
    [
        (20, "fix0.2", 0.01),
        (40, "fix0.2", 0.11),
        (20, "fix0.4", 0.13),
        (40, "fix0.4", 0.44),
        (10, "fix0.7", 0.05),
        (20, "fix0.7", 0.50),
        (40, "fix0.7", 0.88),
    ],
)
def test_power_reaches_the_promise(
    simulated: Calibration, tasks: int, effect: str, least: float
) -> None:
    missed = TRIALS - hits(simulated, tasks, effect)
    assert at_least(missed, TRIALS, 1 - least) > RARE


def test_the_guard_seldom_vetoes_what_breaks_nothing(simulated: Calibration) -> None:
    for (_, effect), cell in simulated.cells.items():
        if effect != "harm":
            assert cell.veto.low <= 0.01


def test_the_strict_policy_lets_in_a_third_of_idle_edits(simulated: Calibration) -> None:
    assert all(simulated.cells[n, "null"].strict.low > 0.25 for n in (10, 20, 40))


def test_idle_edits_cost_the_rollouts_of_the_table(simulated: Calibration) -> None:
    seen = [simulated.cells[n, "null"].rollouts for n in (10, 20, 40)]
    assert seen == pytest.approx([39, 78, 118], rel=0.03)


def test_the_json_has_policies_tasks_effects_and_intervals() -> None:
    shown = calibrate(tasks=(10,), trials=50, seed=0).as_json()
    assert set(shown["policies"]) == {"evidence", "strict"}
    cells = shown["policies"]["evidence"]["n"]["10"]
    assert list(cells) == ["null", "harm", "fix0.2", "fix0.4", "fix0.7"]
    assert set(cells["null"]) == {"rate", "low", "high"}


def test_equal_seeds_give_equal_numbers() -> None:
    one, two = (calibrate(tasks=(10,), trials=50, seed=3) for _ in range(2))
    assert one == two


def attempts(rate: float, *, tasks: int = 12, draws: int = 10) -> list[Attempt]:
    rng = Random(7)
    return [
        Attempt(
            id=f"{task}-{draw}",
            task=f"t{task}",
            cluster=f"t{task}",
            skill_hash="live",
            draw=draw,
            score=Score(hard=passed, soft=passed),
        )
        for task in range(tasks)
        for draw in range(draws)
        for passed in [float(rng.random() < rate)]
    ]


def test_the_users_own_attempts_against_themselves_are_hardly_ever_supported() -> None:
    seen = calibrate_own(attempts(0.5), settings=GateSettings(), trials=300, rng=Random(1))
    assert seen is not None
    assert seen.clusters == 12
    assert seen.supported.low <= 0.1
    assert seen.strict.rate > 0.3


def test_attempts_that_never_vary_are_never_supported() -> None:
    seen = calibrate_own(attempts(1.0), settings=GateSettings(), trials=50, rng=Random(1))
    assert seen is not None
    assert (seen.supported.rate, seen.strict.rate) == (0.0, 0.0)


def test_single_attempts_say_nothing_of_noise() -> None:
    once = attempts(0.5, draws=1)
    assert calibrate_own(once, settings=GateSettings(), trials=10, rng=Random(1)) is None
