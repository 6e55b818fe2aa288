"""Adopt, revert and reject: all or nothing, on the reviewed bytes only."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.errors import StagingError, StoreError
from skillopt_sleep.model.proposal import ProposalStatus
from skillopt_sleep.staging.decide import Decisions, live_path
from skillopt_sleep.staging.transaction import Transaction
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import MIDNIGHT, build_proposal

FILE_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}


def desk(folder: Path) -> Decisions:
    return Decisions(
        proposals=ProposalStore(Database(folder / "sleep.sqlite")),
        transaction=Transaction(folder / "staging"),
        now=lambda: MIDNIGHT,
    )


def run_and_die(home: Path, action: str, number: int, die_at: int) -> bool:
    """Decide in a forked child that kills itself at its n-th file operation below ``home``."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, args: tuple[object, ...]) -> None:
            nonlocal count
            if event in FILE_EVENTS and str(args[0]).startswith(str(home)):
                count += 1
                if count == die_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        decisions = desk(home / "state")
        sys.addaudithook(hook)
        decisions.adopt(number) if action == "adopt" else decisions.revert(number)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    return status == 0


def test_adopt_writes_the_bytes_and_revert_brings_them_back(tmp_path: Path) -> None:
    target = tmp_path / "SKILL.md"
    target.write_text("old\n")
    target.chmod(0o640)
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target)).number
    adopted = decisions.adopt(number)
    assert target.read_text() == "new\n"
    assert target.stat().st_mode & 0o777 == 0o640
    assert Path(adopted.backup).read_text() == "old\n"
    assert decisions.revert(number).status is ProposalStatus.REVERTED
    assert target.read_text() == "old\n"


def test_a_skill_that_was_not_there_is_gone_again_after_revert(tmp_path: Path) -> None:
    target = tmp_path / "project" / ".claude" / "skills" / "habits" / "SKILL.md"
    (tmp_path / "project").mkdir()
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target, before=None)).number
    decisions.adopt(number)
    assert target.read_text() == "new\n"
    decisions.revert(number)
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize("live", ["old\nand more\n", "", "old"])
def test_a_live_skill_that_changed_since_the_review_is_left_alone(
    tmp_path: Path, live: str
) -> None:
    target = tmp_path / "SKILL.md"
    target.write_text(live)
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target)).number
    with pytest.raises(StagingError, match="has changed since it was reviewed"):
        decisions.adopt(number)
    assert target.read_text() == live
    assert decisions.proposals.get(number).status is ProposalStatus.SUPPORTED


def test_a_pending_one_needs_the_word_unproven(tmp_path: Path) -> None:
    target = tmp_path / "SKILL.md"
    target.write_text("old\n")
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target, status=ProposalStatus.PENDING)).number
    with pytest.raises(StagingError, match="--unproven"):
        decisions.adopt(number)
    assert target.read_text() == "old\n"
    assert decisions.adopt(number, unproven=True).status is ProposalStatus.ADOPTED


@pytest.mark.parametrize(
    "status",
    [
        ProposalStatus.ADOPTED,
        ProposalStatus.REJECTED,
        ProposalStatus.REVERTED,
        ProposalStatus.STALE,
    ],
)
def test_a_decided_one_cannot_be_adopted_or_rejected(
    tmp_path: Path, status: ProposalStatus
) -> None:
    target = tmp_path / "SKILL.md"
    target.write_text("old\n")
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target, status=status)).number
    with pytest.raises(StagingError, match=f"is {status} already"):
        decisions.adopt(number)
    with pytest.raises(StagingError, match=f"is {status} already"):
        decisions.reject(number)


def test_reject_changes_nothing_live_and_keeps_the_reason(tmp_path: Path) -> None:
    target = tmp_path / "SKILL.md"
    target.write_text("old\n")
    decisions = desk(tmp_path / "state")
    number = decisions.proposals.add(build_proposal(target)).number
    assert decisions.reject(number, reason="too broad").reason == "too broad"
    assert target.read_text() == "old\n"


def test_an_unknown_number_names_the_known_ones(tmp_path: Path) -> None:
    decisions = desk(tmp_path / "state")
    decisions.proposals.add(build_proposal(tmp_path / "SKILL.md"))
    with pytest.raises(StoreError, match="no proposal has the number 7; there are 1"):
        decisions.adopt(7)


@pytest.mark.parametrize("action", ["adopt", "revert"])
@pytest.mark.parametrize("fresh", [False, True])
def test_killed_at_any_file_operation_the_skill_is_old_or_new_and_the_store_agrees(
    tmp_path: Path, action: str, *, fresh: bool
) -> None:
    before = None if fresh else "old\n"
    survived = False
    for die_at in range(1, 60):
        home = tmp_path / str(die_at)
        target = home / "project" / "skills" / "SKILL.md"
        (home / "project").mkdir(parents=True)
        if before is not None:
            target.parent.mkdir()
            target.write_text(before)
        decisions = desk(home / "state")
        number = decisions.proposals.add(build_proposal(target, before=before)).number
        if action == "revert":
            decisions.adopt(number)
        start = target.read_text() if target.exists() else None
        survived = run_and_die(home, action, number, die_at)
        decisions.recover()
        live = target.read_text() if target.exists() else None
        status = decisions.proposals.get(number).status
        ended = {"adopt": "new\n", "revert": before}[action]
        happened = {"adopt": ProposalStatus.ADOPTED, "revert": ProposalStatus.REVERTED}[action]
        if status is happened:
            assert live == ended, die_at
        else:
            assert live == start, die_at
        assert list((home / "state" / "staging").glob("intents/*.json")) == []
        assert not list(home.glob("project/**/.*.tmp"))
        if survived:
            break
    assert survived


def test_recover_reports_a_file_that_is_neither_old_nor_new(tmp_path: Path) -> None:
    for die_at in range(1, 60):
        home = tmp_path / str(die_at)
        home.mkdir()
        target = home / "SKILL.md"
        target.write_text("old\n")
        decisions = desk(home / "state")
        number = decisions.proposals.add(build_proposal(target)).number
        run_and_die(home, "adopt", number, die_at)
        if list((home / "state").glob("staging/intents/*.json")):
            target.write_text("the human's own\n")
            (found,) = decisions.recover()
            assert found.done is None
            assert target.read_text() == "the human's own\n"
            return
    pytest.fail("no crash left an intent behind")


def test_the_managed_skill_lies_in_the_project(tmp_path: Path) -> None:
    found = live_path("", name="habits", project=tmp_path, home=tmp_path / "home")
    assert found == tmp_path / ".claude" / "skills" / "habits" / "SKILL.md"


def test_a_link_out_of_project_and_home_is_refused(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "skill.md").symlink_to(outside / "skill.md")
    with pytest.raises(StagingError, match="is a link to"):
        live_path("skill.md", name="habits", project=project, home=tmp_path / "home")


def test_an_approval_is_for_exactly_these_bytes_and_short_lived(tmp_path: Path) -> None:
    store = ProposalStore(Database(tmp_path / "sleep.sqlite"))
    staged = store.add(build_proposal(tmp_path / "SKILL.md"))
    store.approve(staged, "adopt", "terminal", MIDNIGHT)
    assert store.approved(staged, "adopt", MIDNIGHT) == "terminal"
    assert store.approved(staged, "revert", MIDNIGHT) == ""
    assert store.approved(replace(staged, after_hash="other"), "adopt", MIDNIGHT) == ""
    assert store.approved(staged, "adopt", MIDNIGHT.replace(hour=1)) == ""
