"""Laws of the wall between train and held-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.mine.splits import Ledger, Member, assign, near_duplicates
from skillopt_sleep.model.task import Split

START = datetime(2025, 12, 1, tzinfo=UTC)
WORDS = ("install", "httpx", "write", "notes", "fix", "tests", "rename", "class", "draw", "chart")

texts = st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(" ".join)
shapes = st.tuples(
    st.sampled_from("abc"), st.integers(0, 6), st.one_of(st.none(), st.integers(0, 90)), texts
)


def built(rows: Sequence[tuple[str, int, int | None, str]]) -> list[Member]:
    return [
        Member(
            task=f"t{n}",
            cluster=cluster,
            session=f"s{place}",
            at=None if day is None else START + timedelta(days=day),
            text=text,
        )
        for n, (cluster, place, day, text) in enumerate(rows)
    ]


members = st.lists(shapes, max_size=14).map(built)
shares = st.sampled_from((0.0, 0.2, 0.5))
LAWS = settings(max_examples=60, deadline=None)


@given(members, shares)
@LAWS
def test_no_session_stands_on_both_sides(all_of: list[Member], share: float) -> None:
    sides = assign(all_of, ledger=Ledger(), sealed_share=share)
    for one, two in combinations(all_of, 2):
        if one.session == two.session:
            assert sides[one.task] is sides[two.task]


@given(members, shares)
@LAWS
def test_near_duplicates_never_stand_across(all_of: list[Member], share: float) -> None:
    sides = assign(all_of, ledger=Ledger(), sealed_share=share)
    for one, two in combinations(all_of, 2):
        if near_duplicates(one.text, two.text):
            assert sides[one.task] is sides[two.task]


@given(members.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
@LAWS
def test_sides_do_not_depend_on_the_order(both: tuple[list[Member], list[Member]]) -> None:
    one, other = both
    assert assign(one, ledger=Ledger()) == assign(other, ledger=Ledger())


@given(members, members, shares)
@LAWS
def test_a_task_moves_to_train_or_not_at_all(
    before: list[Member], more: list[Member], share: float
) -> None:
    first = assign(before, ledger=Ledger(), sealed_share=share)
    by_session: dict[str, Split] = {m.session: first[m.task] for m in before}
    later = [*before, *(replace(m, task=f"later-{m.task}") for m in more)]
    second = assign(later, ledger=Ledger(tasks=first, sessions=by_session), sealed_share=share)
    for task, side in first.items():
        assert second[task] in (side, Split.TRAIN)
    for one, two in combinations(later, 2):
        if one.session == two.session or near_duplicates(one.text, two.text):
            assert second[one.task] is second[two.task]


def test_older_members_train_and_newer_ones_are_held_out() -> None:
    said = ("draw a chart", "paint the revenue", "plot sales by month", "graph of all orders")
    rows = [("a", n, 10 * n, text) for n, text in enumerate(said)]
    sides = assign(built(rows), ledger=Ledger())
    assert [sides[f"t{n}"] for n in range(4)] == [
        Split.TRAIN,
        Split.TRAIN,
        Split.HELD_OUT,
        Split.HELD_OUT,
    ]


def test_the_newest_are_sealed_if_asked() -> None:
    said = ("draw a chart", "paint the revenue", "plot sales by month", "graph of all orders")
    rows = [("a", n, 10 * n, text) for n, text in enumerate(said)]
    sides = assign(built(rows), ledger=Ledger(), sealed_share=0.25)
    assert sides["t3"] is Split.SEALED
    assert Split.SEALED not in {sides["t0"], sides["t1"], sides["t2"]}


def test_a_session_once_in_train_stays_there_with_its_new_tasks() -> None:
    rows = built([("a", 0, 90, "draw a chart"), ("a", 1, 1, "plot the sales by month")])
    sides = assign(rows, ledger=Ledger(sessions={"s0": Split.TRAIN}))
    assert sides["t0"] is Split.TRAIN


def test_sealed_and_held_out_that_must_stand_together_go_to_train() -> None:
    rows = built([("a", 0, 1, "draw a chart"), ("a", 0, 2, "plot the sales by month")])
    ledger = Ledger(tasks={"t0": Split.SEALED, "t1": Split.HELD_OUT})
    assert set(assign(rows, ledger=ledger).values()) == {Split.TRAIN}
