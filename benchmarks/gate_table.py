"""The gate at 4,000 trials: false accepts, power, the guard and rollouts per number of tasks.

Usage: ``python benchmarks/gate_table.py [--trials 4000] [--seed 0]``. Exits 1 if a promise of
docs/gate.md is broken by more than chance allows.
"""

from __future__ import annotations

import argparse

from skillopt_sleep.gate.calibrate import Calibration, calibrate

MOST = {
    (10, "null"): 0.01,
    (20, "null"): 0.01,
    (40, "null"): 0.02,
    (10, "harm"): 0.01,
    (20, "harm"): 0.01,
    (40, "harm"): 0.01,
}
LEAST = {
    (20, "fix0.2"): 0.01,
    (40, "fix0.2"): 0.11,
    (20, "fix0.4"): 0.13,
    (40, "fix0.4"): 0.44,
    (10, "fix0.7"): 0.05,
    (20, "fix0.7"): 0.50,
    (40, "fix0.7"): 0.88,
}
VETO = 0.01


def broken(seen: Calibration) -> list[str]:
    """Return the promises whose bound lies outside the 95 % interval on the wrong side."""
    found = [
        f"{key} is let in too often"
        for key, most in MOST.items()
        if seen.cells[key].evidence.low > most
    ]
    found += [
        f"{key} is found too seldom"
        for key, least in LEAST.items()
        if seen.cells[key].evidence.high < least
    ]
    found += [
        f"{key} is vetoed too often"
        for key, cell in seen.cells.items()
        if key[1] != "harm" and cell.veto.low > VETO
    ]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="the gate's table")
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seen = calibrate(trials=asked.trials, seed=asked.seed)
    heads = ("tasks", "edit", "evidence", "95 %", "strict", "veto", "rollouts")
    print("{:>5} {:8}{:>10}{:>18}{:>9}{:>8}{:>10}".format(*heads))
    for (tasks, effect), cell in seen.cells.items():
        share = cell.evidence
        print(
            f"{tasks:5} {effect:8}{share.rate:10.2%}{share.low:9.2%} -{share.high:7.2%}"
            f"{cell.strict.rate:9.1%}{cell.veto.rate:8.2%}{cell.rollouts:10.0f}"
        )
    if found := broken(seen):
        raise SystemExit("; ".join(found))


if __name__ == "__main__":
    main()
