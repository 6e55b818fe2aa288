"""Clones of the user's repository, and what happens where there can be none; no client is run."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.config import Settings
from skillopt_sleep.edge import real_world
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.checkout import Checkout, Lost, Spot, locate
from skillopt_sleep.environments.workspace import WorkspaceEnvironment
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.testing import ScriptedBackend, fake_world
from skillopt_sleep.world import World

RAN = Check(id="ran", operator=Operator.COMMAND_RAN, value="make test")
PASSES = Check(id="passes", operator=Operator.COMMAND_PASSES, value="make test")


@pytest.fixture
def world(tmp_path: Path) -> World:
    fake = fake_world(tmp_path.resolve())
    return replace(fake, run=real_world().run, env={"PATH": real_world().env["PATH"]})


def commit(folder: Path, text: str, *, day: int = 1) -> str:
    """Commit a file ``a`` with this text at noon of a day; return the commit's id."""
    at = f"2026-01-{day:02}T12:00:00+00:00"
    env = {"PATH": real_world().env["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
    env |= {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_NOSYSTEM": "1"}
    (folder / "a").write_text(text)
    said = ""
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    for words in (
        ("init", "-q", "-b", "trunk"),
        ("add", "-A"),
        (*identity, "commit", "-q", "-m", text),
        ("rev-parse", "HEAD"),
    ):
        said = subprocess.run(
            ["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True
        ).stdout
    return said.strip()


def task(world: World, **values: Any) -> Task:  # noqa: ANN401
    made = Task(
        id="t", cluster="c", prompt="p", repository=str(world.roots.cwd), checks=(RAN, PASSES)
    )
    return replace(made, **values)


def cloned(world: World, wanted: Task) -> Checkout:
    spot = locate(world, wanted)
    assert isinstance(spot, Spot)
    made = Checkout(world=world, spot=spot, top=world.roots.cache)
    assert made.make() == ""
    return made


def test_a_clone_stands_at_the_commit_and_knows_nothing_later(world: World) -> None:
    first = commit(world.roots.cwd, "one")
    commit(world.roots.cwd, "two", day=2)
    (world.roots.cwd / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    before = {p: p.read_bytes() for p in world.roots.cwd.rglob("*") if p.is_file()}
    made = cloned(world, task(world, commit=first))
    assert (made.folder / "a").read_text() == "one"
    assert made.spot.note == ""
    log = subprocess.run(
        ["git", "log", "--all", "--format=%s"], cwd=made.root, check=True, capture_output=True
    )
    assert log.stdout == b"one\n"
    assert "remote" not in (made.root / ".git" / "config").read_text()
    assert not (made.root / ".git" / "hooks").exists()
    assert {p: p.read_bytes() for p in world.roots.cwd.rglob("*") if p.is_file()} == before


def test_without_its_commit_the_last_one_before_it_was_asked_is_taken(world: World) -> None:
    first = commit(world.roots.cwd, "one")
    last = commit(world.roots.cwd, "two", day=3)
    asked = datetime(2026, 1, 2, tzinfo=UTC)
    spot = locate(world, task(world, at=asked))
    gone = locate(world, task(world, commit="0" * 40))
    assert isinstance(spot, Spot)
    assert isinstance(gone, Spot)
    assert (spot.commit, gone.commit) == (first, last)
    assert spot.note.startswith("the log names no commit; the last one before it was asked")
    assert gone.note.startswith("the commit 000000000000 is gone; the present one was taken")


def test_a_clone_is_entered_where_the_task_was_asked(world: World) -> None:
    inner = world.roots.cwd / "deep" / "down"
    inner.mkdir(parents=True)
    (inner / "b").write_text("x")
    commit(world.roots.cwd, "one")
    made = cloned(world, task(world, repository=str(inner)))
    assert (made.folder / "b").is_file()
    (made.folder / "b").write_text("y")
    (made.folder / "ours").mkdir()
    (made.folder / "ours" / "c").write_text("z")
    diff = made.diff(without=("ours",))
    assert "+y" in diff
    assert "ours" not in diff


def test_what_the_agent_does_to_its_git_is_not_run_by_us(world: World) -> None:
    commit(world.roots.cwd, "one")
    made = cloned(world, task(world))
    mark = world.roots.home / "mark"
    with (made.root / ".git" / "config").open("a") as config:
        config.write(f'[core]\nfsmonitor = "touch {mark}"\n[filter "x"]\nclean = touch {mark}\n')
    (made.root / ".gitattributes").write_text("* filter=x\n")
    (made.root / "a").write_text("two")
    assert "+two" in made.diff()
    assert not mark.exists()


@pytest.mark.parametrize("place", ["", "/nonexistent/place", "home"])
def test_a_place_that_is_no_repository_is_told(place: str, world: World) -> None:
    there = str(world.roots.home) if place == "home" else place
    assert isinstance(locate(world, task(world, repository=there)), Lost)


def environment(world: World, *tasks: Task, **replay: object) -> WorkspaceEnvironment:
    settings = Settings.model_validate({"replay": {"mode": "workspace", **replay}})
    backend = ScriptedBackend(lambda _prompt: "Done.\n```bash\nmake test\n```")
    judges = all_judges(world, None)
    bench = Bench(world=world, settings=settings, target=backend, judges=judges, tasks=tasks)
    return WorkspaceEnvironment(bench)


def test_where_no_agent_can_be_run_a_task_is_attempted_as_a_prompt_and_says_so(
    world: World,
) -> None:
    bare = replace(world, env={"PATH": "/nonexistent"})
    asked = task(bare, harness="claude")
    made = environment(bare, asked).attempt(asked, "", 0)
    assert made.notes == ("attempted as a prompt: 'claude' is not installed",)
    assert (made.client, made.skill_loaded) == ("", None)
    assert [verdict.check for verdict in made.verdicts] == ["ran"]
    assert made.id == environment(bare, asked).attempt_id(asked, "", 0)


def test_a_harness_without_a_runner_is_named(world: World) -> None:
    asked = task(world, harness="devin")
    made = environment(world, asked).attempt(asked, "", 0)
    assert made.notes == ("attempted as a prompt: no runner drives the harness 'devin'",)


def test_a_task_that_needs_files_is_left_out_where_there_are_none(world: World) -> None:
    judged, not_judged = task(world, harness="x"), task(world, id="u", checks=(PASSES,))
    assert [one.id for one in environment(world, judged, not_judged).tasks()] == ["t"]


def test_a_harvest_knows_the_folders_of_our_attempts(world: World) -> None:
    assert is_own(str(world.roots.cache / "skillopt-sleep-workspace" / "attempt-1" / "clone"))
