"""Adopt and revert where the place of the live skill was tampered with or cannot be written."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.staging.test_decide import desk, run_and_die

from skillopt_sleep.errors import StagingError
from skillopt_sleep.files import write_atomic
from skillopt_sleep.model.proposal import ProposalStatus
from skillopt_sleep.staging.decide import Decisions
from skillopt_sleep.testing import build_proposal


def staged(root: Path, *, before: str | None = "old\n") -> tuple[Decisions, Path, int]:
    """Return a desk, the live file in a folder of its own, and a proposal for it."""
    target = root / "project" / "SKILL.md"
    target.parent.mkdir()
    if before is not None:
        target.write_text(before)
    decisions = desk(root / "state")
    return decisions, target, decisions.proposals.add(build_proposal(target, before=before)).number


def no_intent_is_left(root: Path) -> bool:
    return not list((root / "state" / "staging" / "intents").glob("*.json"))


@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_a_link_that_came_in_after_the_review_is_not_followed(tmp_path: Path, what: str) -> None:
    decisions, target, number = staged(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("old\n")
    target.unlink()
    if what == "the file":
        target.symlink_to(outside / "SKILL.md")
    else:
        target.parent.rmdir()
        target.parent.symlink_to(outside)
    with pytest.raises(StagingError, match="by a link that was not there at the review"):
        decisions.adopt(number)
    assert (outside / "SKILL.md").read_text() == "old\n"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_lies_at_the_temporary_name_is_neither_followed_nor_waited_for(
    tmp_path: Path, kind: str
) -> None:
    decisions, target, number = staged(tmp_path)
    temporary, victim = target.with_name(".SKILL.md.skillopt-sleep.tmp"), tmp_path / "victim"
    victim.write_text("untouched")
    if kind == "link":
        temporary.symlink_to(victim)
    elif kind == "folder":
        temporary.mkdir()
    else:
        os.mkfifo(temporary)
    with pytest.raises(StagingError, match="cannot be written and has its old bytes"):
        decisions.adopt(number)
    assert (target.read_text(), victim.read_text()) == ("old\n", "untouched")
    assert no_intent_is_left(tmp_path)
    assert decisions.proposals.get(number).status is ProposalStatus.SUPPORTED
    assert decisions.recover() == ()


def test_a_pipe_with_a_reader_gets_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / ".a.skillopt-sleep.tmp"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="is not a regular file"):
        write_atomic(tmp_path / "a", b"secret")
    assert os.read(reader, 10) == b""
    os.close(reader)


def test_a_file_where_the_folder_should_be_is_told_and_nothing_stays_behind(
    tmp_path: Path,
) -> None:
    decisions, target, number = staged(tmp_path, before=None)
    target.parent.rmdir()
    target.parent.write_text("a file")
    with pytest.raises(StagingError, match="cannot be written"):
        decisions.adopt(number)
    assert no_intent_is_left(tmp_path)
    assert target.parent.read_text() == "a file"


def test_a_folder_at_the_place_of_the_skill_after_a_crash_stops_nobody(tmp_path: Path) -> None:
    for die_at in range(1, 60):
        root = tmp_path / str(die_at)
        root.mkdir()
        decisions, target, number = staged(root)
        run_and_die(root, "adopt", number, die_at)
        if not no_intent_is_left(root):
            target.unlink()
            target.mkdir()
            (found,) = decisions.recover()
            assert found.done is None
            assert target.is_dir()
            return
    pytest.fail("no crash left an intent behind")


def test_a_rejection_while_an_adoption_waits_for_its_turn_wins(tmp_path: Path) -> None:
    decisions, target, number = staged(tmp_path)
    outcome: list[str] = []

    def adopt() -> None:
        try:
            desk(tmp_path / "state").adopt(number)
        except StagingError as error:
            outcome.append(str(error))

    waiting = threading.Thread(target=adopt)
    with decisions.transaction.alone(target):
        waiting.start()
        rejected = replace(decisions.proposals.get(number), status=ProposalStatus.REJECTED)
        decisions.proposals.save(rejected)
    waiting.join()
    assert "is rejected already" in outcome[0]
    assert target.read_text() == "old\n"
