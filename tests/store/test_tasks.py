"""Tasks in the database: what a person decided outlives a new mining, and the wall holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skillopt_sleep.errors import StoreError
from skillopt_sleep.model.check import Check, Evidence, Operator, Validity
from skillopt_sleep.model.task import Cluster, Split, Task
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.tasks import TaskStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHECK = Check(
    id="c", operator=Operator.CONTAINS, value="x", evidence=(Evidence(session="s1", turn=0),)
)


def task(name: str, *, score: float = 1.0, session: str = "s1") -> Task:
    return Task(id=name, cluster="k", prompt=name, checks=(CHECK,), score=score, session=session)


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(Database(tmp_path / "a.db"))


def names(tasks: tuple[Task, ...]) -> list[str]:
    return [one.id for one in tasks]


def test_tasks_come_back_as_they_were_best_first(store: TaskStore) -> None:
    low, high = task("low", score=0.5), task("high", score=2.0)
    store.replace([low, high], [Cluster(id="k", name="n", sessions=2)], project="/p")
    assert store.all(project="/p") == (high, low)
    assert store.all(project="/other") == ()
    assert [cluster.name for cluster in store.clusters(project="/p")] == ["n"]
    assert store.memberships(project="/p") == {"low": "k", "high": "k"}


def test_a_task_is_found_by_the_beginning_of_its_id(store: TaskStore) -> None:
    store.put([task("abc1"), task("abd2"), task("50%_x")], project="/p")
    assert store.get("abc").id == "abc1"
    assert store.get("50%").id == "50%_x"
    for wrong in ("ab", "zz", "", "%"):
        with pytest.raises(StoreError, match="task"):
            store.get(wrong)


def test_what_is_not_mined_again_goes_unless_a_person_holds_it(store: TaskStore) -> None:
    reviewed = replace(task("reviewed"), checks=(replace(CHECK, validity=Validity.REVIEWED),))
    store.put([task("gone"), task("pinned"), reviewed, task("dropped")], project="/p")
    store.pin("pinned")
    store.drop("dropped")
    store.replace([task("dropped"), task("new")], [], project="/p")
    assert sorted(names(store.all(project="/p"))) == ["new", "pinned", "reviewed"]
    assert names(store.all(project="/p", dropped=True)) == ["dropped"]
    assert sorted(names(store.held_by_person(project="/p"))) == ["pinned", "reviewed"]


def test_pins_and_drops_can_be_taken_back(store: TaskStore) -> None:
    store.put([task("a")], project="/p")
    assert store.pin("a").pinned
    assert not store.pin("a", pinned=False).pinned
    store.drop("a")
    store.drop("a", dropped=False)
    assert names(store.all()) == ["a"]


@pytest.mark.parametrize("old", Split)
@pytest.mark.parametrize("new", Split)
def test_a_task_moves_to_train_only(old: Split, new: Split, store: TaskStore) -> None:
    store.record_splits({"a": old}, sessions={"a": "s1"}, now=NOW)
    if new is old or new is Split.TRAIN:
        store.record_splits({"a": new}, sessions={}, now=NOW)
        assert store.splits() == {"a": new}
        assert store.session_splits() == {"s1": new}
    else:
        with pytest.raises(StoreError, match="moves to 'train' only"):
            store.record_splits({"b": Split.TRAIN, "a": new}, sessions={}, now=NOW)
        assert store.splits() == {"a": old}


def test_reviewed_tasks_are_taken_whole_or_not_at_all(store: TaskStore) -> None:
    store.take([task("a")], project="/p", now=NOW)
    smuggled = replace(task("b"), split=Split.HELD_OUT)
    with pytest.raises(StoreError):
        store.take([task("c", session="s2"), smuggled], project="/p", now=NOW)
    assert names(store.all()) == ["a"]
    assert store.splits() == {"a": Split.TRAIN}


def test_gate_uses_count_candidates_once(store: TaskStore) -> None:
    store.record_gate_use(["a", "b"], candidate="c1", night="n1")
    store.record_gate_use(["a"], candidate="c1", night="n2")
    store.record_gate_use(["a"], candidate="c2", night="n2")
    assert store.gate_uses() == {"a": 2, "b": 1}


def test_a_forgotten_session_leaves_no_task_and_no_words(store: TaskStore) -> None:
    other = Evidence(session="s2", turn=1, quote="kept")
    shared = replace(
        task("b", session="s2"),
        checks=(CHECK, replace(CHECK, id="d", evidence=(*CHECK.evidence, other))),
        evidence=(Evidence(session="s1", turn=0, quote="secret"), other),
    )
    store.put([task("a"), shared, task("c", session="s3")], project="/p")
    store.forget({"s1"})
    left = {one.id: one for one in store.all()}
    assert "a" not in left
    assert "secret" not in repr(left)
    assert [check.id for check in left["b"].checks] == ["d"]
    assert left["b"].evidence == (other,)
