from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.lifetime import Trial, account, e_lond, tonight, trial
from skillopt_sleep.model.proposal import Candidate, GateEvidence

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def trials_of(count: int, *, threshold: float = 40.0, days_ago: int = 1) -> list[Trial]:
    return [Trial(at=NOW - timedelta(days=days_ago), threshold=threshold)] * count


def test_sixty_trials_of_two_rivals_a_night_fit_the_default_budget() -> None:
    spent = account(trials_of(60), now=NOW, budget=0.5)
    assert spent.sentence == (
        "false adoptions to expect over thirty nights: 0.37 of 0.5 allowed"
        " (guaranteed at most 1.50, 60 candidates tested)"
    )
    assert spent.allows(40.0)


def test_a_spent_budget_allows_no_further_adoption_without_a_human() -> None:
    assert not account(trials_of(80), now=NOW, budget=0.5).allows(40.0)


def test_tests_older_than_thirty_nights_do_not_count() -> None:
    assert account(trials_of(80, days_ago=31), now=NOW, budget=0.5).tests == 0


def test_e_lond_spends_its_level_and_no_more() -> None:
    spent = 0.0
    history: list[Trial] = []
    for _ in range(500):
        threshold = e_lond(history, level=0.1)
        spent += 1.0 / threshold
        history.append(Trial(at=NOW, threshold=threshold))
    assert 0.09 < spent <= 0.1


def test_an_adoption_earns_e_lond_a_lower_threshold() -> None:
    missed = e_lond(trials_of(3), level=0.1)
    found = e_lond([*trials_of(2), Trial(at=NOW, threshold=40, adopted=True)], level=0.1)
    assert found == pytest.approx(missed / 2)


def test_rivals_raise_what_a_trial_counts_at() -> None:
    evidence = GateEvidence(
        policy="evidence", metric="mixed", tasks=0, live_mean=0, candidate_mean=0, rivals=2
    )
    judged = Candidate(id="c", base_hash="", content="", edits=(), night="n", evidence=evidence)
    counted = trial(judged, at=NOW, adopted=True, settings=GateSettings())
    assert counted == Trial(at=NOW, threshold=40.0, adopted=True)


def test_a_spent_budget_asks_the_human_and_an_open_one_does_not() -> None:
    wanted = GateSettings(auto_adopt=True)
    assert tonight(wanted, trials_of(10), now=NOW).auto_adopt
    assert not tonight(wanted, trials_of(90), now=NOW).auto_adopt
    assert not tonight(GateSettings(), [], now=NOW).auto_adopt


def test_e_lond_raises_the_evidence_it_takes() -> None:
    wanted = GateSettings(lifetime="e_lond")
    few, many = (tonight(wanted, trials_of(count), now=NOW) for count in (1, 10))
    assert few.adopt_at == e_lond(trials_of(1), level=0.1)
    assert many.support_at > few.support_at > 10
