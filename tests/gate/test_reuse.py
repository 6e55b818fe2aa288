from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.reuse import draw, fresh
from skillopt_sleep.model.task import Task


def task(name: str, cluster: str) -> Task:
    return Task(id=name, cluster=cluster, prompt="p")


TASKS = [task(f"{cluster}{member}", cluster) for cluster in "abcd" for member in range(6)]


def test_a_task_is_fresh_once_per_candidate() -> None:
    uses = {"t": frozenset({"one"})}
    assert not fresh("t", "one", uses)
    assert fresh("t", "two", uses)


def test_members_of_a_cluster_are_spread_over_the_nights() -> None:
    drawn = draw(TASKS, ["c"], {}, nights=5, rng=Random(1))
    assert [len(unit) for unit in drawn] == [2, 2, 2, 2]
    assert len({unit[0].cluster for unit in drawn}) == 4


def test_what_was_never_used_comes_first() -> None:
    uses = {f"a{member}": frozenset({"old"}) for member in range(6)}
    drawn = draw(TASKS, ["c"], uses, nights=5, rng=Random(1))
    assert drawn[-1][0].cluster == "a"


@given(st.sets(st.sampled_from([one.id for one in TASKS])), st.integers(0, 99))
@settings(max_examples=40)
def test_only_fresh_tasks_are_drawn_and_equal_seeds_draw_alike(used: set[str], seed: int) -> None:
    uses = {name: frozenset({"c"}) for name in used}
    drawn = draw(TASKS, ["c"], uses, nights=3, rng=Random(seed))
    assert not used & {one.id for unit in drawn for one in unit}
    assert drawn == draw(TASKS[::-1], ["c"], uses, nights=3, rng=Random(seed))
