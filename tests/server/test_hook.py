"""Hooks: quick, silent unless something waits, deaf to all but the human's own typed decision."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skillopt_sleep.edge import open_engine
from skillopt_sleep.engine import Engine
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.testing import build_proposal
from skillopt_sleep_server.cli import cli

CORPUS = Path(__file__).parents[1] / "corpus"


class Scene:
    """A home with one proposal, and hooks called in it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.state = root / "state"
        self.project.mkdir()
        self.home.mkdir()

    def engine(self) -> Engine:
        return open_engine(home=self.home, project=self.project, state=self.state)

    def stage(self) -> None:
        with self.engine() as engine:
            proposal = build_proposal(self.project / "SKILL.md", before=None)
            ProposalStore(engine.database).add(replace(proposal, project=str(self.project)))

    def call(self, *words: str, **told: str) -> Result:
        env = {"HOME": str(self.home), "SKILLOPT_SLEEP_HOME": str(self.state)}
        event = json.dumps({"cwd": str(self.project), **told})
        return CliRunner().invoke(cli, ["hook", *words], input=event, env=env)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())


def test_a_session_begins_with_one_line_only_where_something_waits(scene: Scene) -> None:
    assert scene.call("session-start").output == ""
    scene.stage()
    assert scene.call("session-start").output == (
        "skillopt-sleep: proposals wait for you (1); /sleep status\n"
    )


@pytest.mark.parametrize(
    "typed",
    ["/sleep adopt 1", "  /sleep  adopt 1 \n", "/skillopt-sleep:sleep adopt 1", "$sleep adopt 1"],
)
def test_a_typed_decision_is_the_humans_word(scene: Scene, typed: str) -> None:
    scene.stage()
    assert scene.call("prompt", prompt=typed).output == ""
    with scene.engine() as engine:
        assert engine.review.adopt(1).status == "adopted"


@pytest.mark.parametrize(
    "typed",
    [
        "please /sleep adopt 1",
        "/sleep adopt 1 and then do the rest",
        "/sleep adopt",
        "/sleep show 1",
        "adopt 1",
        "> /sleep adopt 1",
    ],
)
def test_anything_else_is_no_word(scene: Scene, typed: str) -> None:
    scene.stage()
    assert scene.call("prompt", prompt=typed).output == ""
    with scene.engine() as engine, pytest.raises(Exception, match="no human has said to adopt"):
        engine.review.adopt(1)


def test_an_ended_session_is_read_at_once(scene: Scene) -> None:
    log = next(path for path in sorted((CORPUS / "claude").rglob("*.jsonl")))
    copy = scene.home / ".claude" / "projects" / "-project" / log.name
    copy.parent.mkdir(parents=True)
    shutil.copy(log, copy)
    assert scene.call("session-end", transcript_path=str(copy)).output == ""
    with scene.engine() as engine:
        assert len(engine.archive.sessions()) >= 1


def test_without_a_named_log_the_harness_is_harvested(scene: Scene) -> None:
    logs = next(iter(sorted((CORPUS / "codex").rglob("rollout-*.jsonl"))))
    copy = scene.home / ".codex" / "sessions" / "2026" / "01" / "01" / logs.name
    copy.parent.mkdir(parents=True)
    shutil.copy(logs, copy)
    assert scene.call("session-end", "--source", "codex").output == ""
    with scene.engine() as engine:
        assert {one.harness for one in engine.archive.sessions()} == {"codex"}


@pytest.mark.parametrize("event", ["session-start", "session-end", "prompt"])
@pytest.mark.parametrize("told", ["", "[]", "not json", '{"cwd": 3, "prompt": null}'])
def test_a_hook_never_fails_its_session(scene: Scene, event: str, told: str) -> None:
    env = {"HOME": str(scene.home), "SKILLOPT_SLEEP_HOME": str(scene.state)}
    assert CliRunner().invoke(cli, ["hook", event], input=told, env=env).exit_code == 0


def test_trouble_is_told_on_stderr_and_the_session_goes_on(scene: Scene) -> None:
    outcome = scene.call("prompt", prompt="/sleep adopt 7")
    assert outcome.exit_code == 0
    assert "no proposal" in outcome.stderr
    assert outcome.stdout == ""


def test_a_prompt_that_is_no_decision_does_not_wait_for_the_engine(scene: Scene) -> None:
    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "skillopt_sleep_server", "hook", "prompt"],
        input='{"prompt": "go on"}',
        env={"HOME": str(scene.home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "skillopt_sleep.errors" in finished.stderr
    assert "skillopt_sleep.engine" not in finished.stderr
