"""Cluster ids stay with their members when sessions are added, whatever the order."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.mine.recurrence import persistent_ids

keys = st.lists(st.sampled_from([f"turn-{at}" for at in range(24)]), unique=True, min_size=1)


def cut(members: list[str], seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    parts: dict[int, list[str]] = {}
    for member in members:
        parts.setdefault(rng.randrange(5), []).append(member)
    return list(parts.values())


def named(clusters: list[list[str]], ids: list[str]) -> dict[str, str]:
    return {member: name for part, name in zip(clusters, ids, strict=True) for member in part}


def test_a_grown_cluster_keeps_its_id() -> None:
    [first] = persistent_ids([["a", "b"]], {})
    assert persistent_ids([["c"], ["b", "d", "a"]], {"a": first, "b": first})[1] == first


def test_the_larger_part_of_a_split_cluster_keeps_the_id() -> None:
    old = dict.fromkeys("abcde", "old")
    small, large = persistent_ids([["a", "b"], ["c", "d", "e"]], old)
    assert large == "old"
    assert small != "old"


def test_merged_clusters_go_on_under_the_id_of_the_larger() -> None:
    previous = {"a": "one", "b": "two", "c": "two"}
    assert persistent_ids([["a", "b", "c"]], previous) == ["two"]


def test_a_new_id_is_not_one_that_was_ever_given_to_others() -> None:
    [made] = persistent_ids([["a"]], {})
    found = persistent_ids([["b", "c"], ["a"]], {"b": made, "c": made})
    assert found[0] == made
    assert found[1] != made


def test_no_clusters_need_no_ids() -> None:
    assert persistent_ids([], {"a": "old"}) == []


@settings(max_examples=60, deadline=None)
@given(members=keys, before=st.integers(0, 99), after=st.integers(0, 99), order=st.integers(0, 99))
def test_ids_are_unique_and_do_not_depend_on_the_order_of_anything(
    members: list[str], before: int, after: int, order: int
) -> None:
    earlier = cut(members[: len(members) // 2], before) if len(members) > 1 else []
    previous = named(earlier, persistent_ids(earlier, {}))
    clusters = cut(members, after)
    ids = persistent_ids(clusters, previous)
    assert len(set(ids)) == len(ids)
    rng = random.Random(order)
    shuffled = [rng.sample(part, len(part)) for part in rng.sample(clusters, len(clusters))]
    jumbled = dict(rng.sample(sorted(previous.items()), len(previous)))
    assert named(clusters, ids) == named(shuffled, persistent_ids(shuffled, jumbled))


@settings(max_examples=60, deadline=None)
@given(members=keys, seed=st.integers(0, 99))
def test_naming_the_same_clusters_again_changes_nothing(members: list[str], seed: int) -> None:
    clusters = cut(members, seed)
    ids = persistent_ids(clusters, {})
    assert persistent_ids(clusters, named(clusters, ids)) == ids
