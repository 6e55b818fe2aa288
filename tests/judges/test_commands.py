"""Checks in a workspace: a command's exit code, a file's content, and nothing outside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.edge import run_process
from skillopt_sleep.errors import BackendError, ConfigError
from skillopt_sleep.judges.commands import CommandsJudge
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import ScriptedRun, fake_world
from skillopt_sleep.world import Finished

TASK = Task(id="t", cluster="c", prompt="p")


def verdict(root: Path, operator: Operator, value: str, workspace: Path | str) -> Verdict:
    world = fake_world(root, env={"PATH": "/usr/bin:/bin", "API_KEY": "secret"})
    judge = CommandsJudge(replace(world, run=run_process))
    outcome = Outcome(answer="It is done.", workspace=str(workspace))
    return judge.verdict(Check(id="x", operator=operator, value=value), TASK, outcome)


def test_a_command_is_run_in_the_workspace_and_its_exit_code_decides(tmp_path: Path) -> None:
    (tmp_path / "made.txt").write_text("hello")
    assert verdict(tmp_path, Operator.COMMAND_PASSES, "test -f made.txt", tmp_path).passed
    failed = verdict(tmp_path, Operator.COMMAND_PASSES, "echo why >&2; exit 3", tmp_path)
    assert (failed.passed, failed.reason[-14:]) == (False, "ended with 3: why"[-14:])


def test_a_command_sees_none_of_our_secrets(tmp_path: Path) -> None:
    assert verdict(tmp_path, Operator.COMMAND_PASSES, 'test -z "$API_KEY"', tmp_path).passed


def test_a_command_that_hangs_fails(tmp_path: Path) -> None:
    run = ScriptedRun({"sh": Finished(code=-9, stdout="", stderr="", timed_out=True)})
    judge = CommandsJudge(fake_world(tmp_path, run=run))
    check = Check(id="x", operator=Operator.COMMAND_PASSES, value="cat")
    found = judge.verdict(check, TASK, Outcome(answer="Done it is.", workspace=str(tmp_path)))
    assert (found.passed, "did not end" in found.reason) == (False, True)


def test_a_file_is_looked_at_by_words(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("We use pnpm.")
    assert verdict(tmp_path, Operator.FILE_CONTAINS, "a.md::pnpm", tmp_path).passed
    assert not verdict(tmp_path, Operator.FILE_CONTAINS, "a.md::npm", tmp_path).passed
    assert not verdict(tmp_path, Operator.FILE_CONTAINS, "b.md::npm", tmp_path).passed


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "link"])
def test_no_file_outside_the_workspace_is_looked_at(name: str, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "secret").write_text("root")
    (workspace / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="outside"):
        verdict(tmp_path, Operator.FILE_CONTAINS, f"{name}::root", workspace)


def test_an_attempt_without_a_workspace_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="workspace"):
        verdict(tmp_path, Operator.COMMAND_PASSES, "true", "")
