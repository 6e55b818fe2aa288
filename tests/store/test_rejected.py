"""The rejected-edit buffer over nights: by meaning, fading, once a night."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.rejected import HALF_LIFE, fresh, rejections, rejects, with_rejected
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.rejected import RejectedStore
from skillopt_sleep.testing import MIDNIGHT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RejectedStore]:
    database = Database(tmp_path / "x.db")
    yield RejectedStore(database)
    database.close()


def rule(text: str) -> Edit:
    return Edit(kind=EditKind.ADD, text=text)


def add(store: RejectedStore, text: str, *, day: int, project: str = "p") -> None:
    store.add(
        [rule(text)],
        project=project,
        skill_name="s",
        night=f"n{day}",
        at=MIDNIGHT + timedelta(days=day),
    )


def known(store: RejectedStore, *, day: int) -> list[tuple[str, float]]:
    found = store.known(project="p", skill_name="s", at=MIDNIGHT + timedelta(days=day))
    return [(one.text, round(one.strength, 3)) for one in found]


def test_a_rejection_outlives_the_process_and_fades_until_it_is_forgotten(
    store: RejectedStore,
) -> None:
    add(store, "Use tabs.", day=0)
    assert known(store, day=0) == [("Use tabs.", 1.0)]
    assert known(store, day=int(HALF_LIFE)) == [("Use tabs.", 0.5)]
    assert known(store, day=int(4 * HALF_LIFE)) == []


def test_the_same_meaning_is_remembered_once_and_longer(store: RejectedStore) -> None:
    add(store, "Use tabs.", day=0)
    add(store, "Be brief.", day=5)
    add(store, "use TABS", day=10)
    assert known(store, day=10) == [("Be brief.", 0.707), ("use TABS", 1.5)]


def test_a_night_that_is_resumed_counts_once(store: RejectedStore) -> None:
    add(store, "Use tabs.", day=0)
    add(store, "Use tabs.", day=0)
    assert known(store, day=0) == [("Use tabs.", 1.0)]


def test_projects_do_not_share_their_buffers(store: RejectedStore) -> None:
    add(store, "Use tabs.", day=0, project="other")
    assert known(store, day=0) == []


def test_the_opposite_of_a_rejected_edit_is_not_rejected() -> None:
    buffer = rejections([rule("Use tabs for indentation.")], 0.0)
    assert rejects(buffer, rule("use tabs for INDENTATION"))
    assert rejects(
        buffer, Edit(kind=EditKind.REPLACE, anchor="x", text="Use tabs for indentation.")
    )
    assert not rejects(buffer, rule("Do not use tabs for indentation."))
    assert not rejects(buffer, Edit(kind=EditKind.DELETE, anchor="Use tabs for indentation."))


def test_the_edits_of_a_rejected_union_share_the_blame_and_are_told_but_not_kept_out() -> None:
    union = [rule("Use tabs."), rule("Be brief."), rule("Name the file.")]
    buffer = rejections(union, 0.0)
    assert [round(one.strength, 2) for one in buffer] == [0.33, 0.33, 0.33]
    assert not rejects(buffer, rule("Use tabs."))
    again = with_rejected(buffer, rejections([rule("Use tabs.")], 1.0), 1.0)
    assert rejects(again, rule("Use tabs."))
    assert not rejects(fresh(again, 2 * HALF_LIFE), rule("Use tabs."))


@given(st.floats(0, 30), st.floats(0, 30))
def test_fading_does_not_depend_on_how_often_it_is_looked_at(first: float, second: float) -> None:
    buffer = rejections([rule("Use tabs.")], 0.0)
    middle, end = min(first, second), max(first, second)
    direct = fresh(buffer, end)
    stepwise = fresh(with_rejected(buffer, (), middle), end)
    assert len(direct) == len(stepwise)
    assert [one.strength for one in stepwise] == pytest.approx([one.strength for one in direct])
