"""A whole night that is killed with SIGKILL at random moments, as the real command.

Ten kills here; ``benchmarks/night_killed.py`` makes fifty.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.night_killed import WORKERS, night

KILLS = 10


def test_a_night_killed_at_random_moments_ends_as_one_left_alone(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    alone = night(root / "alone", kills=0, rng=Random(0))
    killed = night(root / "killed", kills=KILLS, rng=Random(5))
    assert alone.proposals
    assert killed.proposals == alone.proposals
    assert killed.kills > 0
    assert killed.calls <= alone.calls + WORKERS * killed.kills
