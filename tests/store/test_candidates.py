from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep.model.night import Night
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import NightStore


def candidate(name: str, e_value: float) -> Candidate:
    evidence = GateEvidence(
        policy="evidence",
        metric="mixed",
        tasks=3,
        live_mean=0.1,
        candidate_mean=0.2,
        e_value=e_value,
        differences=(0.5, 0.1, 1.0),
    )
    return Candidate(
        id=name, base_hash="b", content="text", edits=(), night="n1", evidence=evidence
    )


def test_carried_candidates_come_back_whole_and_strongest_first(tmp_path: Path) -> None:
    store = CandidateStore(Database(tmp_path / "db"))
    weak, strong = candidate("weak", 1.5), candidate("strong", 4.0)
    for one in (weak, strong):
        store.save(one, project="p", skill_name="s", status="pending", night="n1")
    store.save(candidate("out", 9.0), project="p", skill_name="s", status="reject", night="n1")
    store.save(candidate("far", 9.0), project="q", skill_name="s", status="pending", night="n1")
    assert store.carried(project="p", skill_name="s") == (strong, weak)
    store.settle("strong", "adopted")
    assert store.carried(project="p", skill_name="s") == (weak,)
    assert store.get("strong") == strong
    assert store.get("nobody") is None


def test_what_was_judged_comes_with_its_night(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    store, began = CandidateStore(database), datetime(2026, 1, 1, tzinfo=UTC)
    NightStore(database).save(Night(id="n1", project="p", started_at=began))
    store.save(candidate("one", 1.5), project="p", skill_name="s", status="reject", night="n1")
    untested = replace(candidate("two", 1.0), evidence=None)
    store.save(untested, project="p", skill_name="s", status="untested", night="n1")
    assert store.judged(project="p") == ((candidate("one", 1.5), began, "reject"),)


def test_uses_of_the_night_that_is_resumed_do_not_count(tmp_path: Path) -> None:
    store = CandidateStore(Database(tmp_path / "db"))
    store.use(["t1", "t2"], "a", night="n1")
    store.use(["t1"], "b", night="n2")
    store.use(["t1"], "b", night="n2")
    assert store.uses() == {"t1": frozenset({"a", "b"}), "t2": frozenset({"a"})}
    assert store.uses(without="n2") == {"t1": frozenset({"a"}), "t2": frozenset({"a"})}


def test_a_task_that_said_nothing_stays_fresh_and_has_served_a_gate(tmp_path: Path) -> None:
    store = CandidateStore(Database(tmp_path / "db"))
    for night in ("n1", "n2"):
        store.use(["told", "silent"], "a", night=night, silent={"silent"})
    uses = store.uses()
    assert "a" in uses["told"]
    assert "a" not in uses["silent"]
    assert len(uses["silent"]) == 2
    assert store.uses(silent=True)["silent"] == {"a"}
    store.use(["silent"], "a", night="n3", silent={"silent"})
    assert store.worn() == {"silent"}


def test_a_task_is_worn_after_three_nights_however_many_it_tested(tmp_path: Path) -> None:
    store = CandidateStore(Database(tmp_path / "db"))
    for name in "abcde":
        store.use(["many"], name, night="n1")
    for night in ("n1", "n2", "n3"):
        store.use(["worn"], f"c{night}", night=night)
    assert store.worn() == {"worn"}
    assert store.worn(without="n3") == frozenset()
