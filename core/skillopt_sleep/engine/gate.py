"""The gate desk: how often the gate errs, and how it came to its word on a proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillopt_sleep.codec import plain
from skillopt_sleep.config import Config
from skillopt_sleep.gate.calibrate import calibrate, calibrate_own
from skillopt_sleep.gate.explain import explain
from skillopt_sleep.store.attempts import AttemptStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.world import World

_OWN_TRIALS = 1000


@dataclass(frozen=True, slots=True)
class GateDesk:
    """Shows what the gate is worth."""

    world: World
    config: Config
    database: Database

    def calibrate(self, *, tasks: Sequence[int], trials: int, seed: int) -> dict[str, Any]:
        """Return false accepts, harmful accepts and power per policy, with 95 % intervals.

        Args:
            tasks: Numbers of held-out tasks, each >= 1.
            trials: Simulated nights per cell, >= 1.
            seed: Equal seeds give equal numbers.
        """
        settings = self.config.settings.gate
        tree: dict[str, Any] = dict(
            calibrate(tasks=tasks, trials=trials, seed=seed, settings=settings).as_json()
        )
        own = calibrate_own(
            AttemptStore(self.database).all(),
            settings=settings,
            trials=_OWN_TRIALS,
            rng=self.world.rng(seed),
        )
        if own is not None:
            tree["own"] = plain(own)
        return tree

    def explain(self, number: int) -> dict[str, Any]:
        """Return every number of a proposal's evidence, recomputed from the stored attempts.

        Raises:
            StoreError: There is no such proposal.
        """
        evidence = ProposalStore(self.database).get(number).evidence
        attempts = AttemptStore(self.database).found((*evidence.attempts, *evidence.guarded))
        explained = explain(evidence, tuple(attempts.values()))
        return {"number": number, **plain(explained), "reason": evidence.reason}
