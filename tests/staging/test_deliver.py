"""Delivery: one source, copies in step, nothing of a human's overwritten, crashes mended."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from skillopt_sleep.staging.deliver import FOLDERS, Deliveries, Mode, places

EVERYWHERE = tuple(FOLDERS)
MODES: tuple[Mode, ...] = ("copy", "link")
FILE_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod"}


def skill(root: Path, text: str | None = "one\n", folder: str = ".claude/skills") -> Path:
    """Write the live skill below ``root``, or remove it."""
    live = root / folder / "habits" / "SKILL.md"
    live.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        live.unlink()
    else:
        live.write_text(text)
    return live


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "notes" not in path.parts
    }


@pytest.mark.parametrize("own", sorted(set(FOLDERS.values())))
def test_the_two_folders_reach_every_harness_from_either_side(tmp_path: Path, own: str) -> None:
    live = tmp_path / own / "habits" / "SKILL.md"
    (copy,) = places(live, EVERYWHERE)
    other = next(folder for folder in FOLDERS.values() if folder != own)
    assert copy == tmp_path / other / "habits" / "SKILL.md"


def test_a_skill_elsewhere_is_not_delivered(tmp_path: Path) -> None:
    assert places(tmp_path / "docs" / "best_skill.md", EVERYWHERE) == ()
    assert places(Path("/SKILL.md"), EVERYWHERE) == ()


def test_only_chosen_harnesses_get_a_copy(tmp_path: Path) -> None:
    live = tmp_path / ".claude" / "skills" / "habits" / "SKILL.md"
    assert places(live, ("claude-code",)) == ()
    assert len(places(live, ("claude-code", "codex", "copilot"))) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_copy_follows_its_source_and_goes_with_it(tmp_path: Path, mode: Mode) -> None:
    project = tmp_path / "project"
    deliveries = Deliveries(tmp_path / "notes")
    live = skill(project)
    (copy,) = places(live, EVERYWHERE)
    for text in ("one\n", "two\n"):
        skill(project, text)
        assert deliveries.bring(live, [copy], mode) == ()
        assert copy.read_text() == text
        assert copy.parent.is_symlink() is (mode == "link")
    skill(project, None)
    assert deliveries.bring(live, [copy], mode) == ()
    assert not (project / ".agents").exists()
    assert list((tmp_path / "notes").glob("*.json")) == []


def test_the_mode_can_be_changed(tmp_path: Path) -> None:
    deliveries = Deliveries(tmp_path / "notes")
    live = skill(tmp_path)
    (copy,) = places(live, EVERYWHERE)
    for mode in ("copy", "link", "copy"):
        assert deliveries.bring(live, [copy], mode) == ()
        assert copy.parent.is_symlink() is (mode == "link")
        assert copy.read_text() == "one\n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("after", ["two\n", None])
def test_a_copy_that_a_human_changed_is_left_alone_and_told_of(
    tmp_path: Path, mode: Mode, after: str | None
) -> None:
    deliveries = Deliveries(tmp_path / "notes")
    live = skill(tmp_path)
    (copy,) = places(live, EVERYWHERE)
    deliveries.bring(live, [copy], "copy")
    copy.write_text("mine\n")
    skill(tmp_path, after)
    (told,) = deliveries.bring(live, [copy], mode)
    assert "was changed by hand and was left alone" in told
    assert copy.read_text() == "mine\n"


def test_a_skill_of_that_name_that_we_never_wrote_is_left_alone(tmp_path: Path) -> None:
    live = skill(tmp_path)
    copy = skill(tmp_path, "mine\n", ".agents/skills")
    assert len(Deliveries(tmp_path / "notes").bring(live, [copy], "copy")) == 1
    assert copy.read_text() == "mine\n"


def test_a_link_to_another_place_is_left_alone(tmp_path: Path) -> None:
    live = skill(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".agents" / "skills").mkdir(parents=True)
    (tmp_path / ".agents" / "skills" / "habits").symlink_to(elsewhere)
    (copy,) = places(live, EVERYWHERE)
    (told,) = Deliveries(tmp_path / "notes").bring(live, [copy], "copy")
    assert "is a link to another place" in told
    assert list(elsewhere.iterdir()) == []


def test_folders_that_are_one_by_a_link_need_no_copy(tmp_path: Path) -> None:
    live = skill(tmp_path)
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "skills").symlink_to(tmp_path / ".claude" / "skills")
    (copy,) = places(live, EVERYWHERE)
    before = tree(tmp_path)
    assert Deliveries(tmp_path / "notes").bring(live, [copy], "copy") == ()
    assert tree(tmp_path) == before


def test_other_files_beside_a_copy_keep_it_from_becoming_a_link(tmp_path: Path) -> None:
    deliveries = Deliveries(tmp_path / "notes")
    live = skill(tmp_path)
    (copy,) = places(live, EVERYWHERE)
    copy.parent.mkdir(parents=True)
    (copy.parent / "table.csv").write_text("1\n")
    assert deliveries.bring(live, [copy], "link") == ()
    assert copy.read_text() == "one\n"
    assert (copy.parent / "table.csv").exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("before", "after"), [(None, "one\n"), ("one\n", "two\n"), ("two\n", None)]
)
def test_killed_at_any_file_operation_the_next_try_brings_the_copies_into_step(
    tmp_path: Path, mode: Mode, before: str | None, after: str | None
) -> None:
    for die_at in range(1, 60):
        root = tmp_path / str(die_at)
        deliveries = Deliveries(root / "notes")
        live = skill(root, before or "x")
        copies = places(live, EVERYWHERE)
        if before is None:
            live.unlink()
        else:
            deliveries.bring(live, copies, mode)
        survived = _bring_and_die(deliveries, live, after, mode, die_at)
        for unsettled in deliveries.due():
            assert unsettled == live
            assert deliveries.bring(live, copies, mode) == ()
        for copy in copies:
            assert (copy.read_text() if copy.exists() else None) == (
                live.read_text() if live.exists() else None
            )
        assert not [path for path in root.rglob("*.tmp") if "notes" not in path.parts]
        if survived:
            return
    raise AssertionError("it never came to its end")


def _bring_and_die(
    deliveries: Deliveries, live: Path, after: str | None, mode: Mode, die_at: int
) -> bool:
    """Change the live skill and deliver it in a child that kills itself at an operation."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, args: tuple[object, ...]) -> None:
            nonlocal count
            if event in FILE_EVENTS and any(str(live.parents[3]) in str(one) for one in args):
                count += 1
                if count == die_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        deliveries.announce(live)
        sys.addaudithook(hook)
        skill(live.parents[3], after) if after is not None else live.unlink()
        deliveries.bring(live, places(live, EVERYWHERE), mode)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    return status == 0
