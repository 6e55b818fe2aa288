"""The command line: one JSON object, sentences for bad input, exit codes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.loopback import Hang, model_server

from skillopt_sleep.edge import open_engine
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.rejected import RejectedStore
from skillopt_sleep.testing import build_proposal
from skillopt_sleep_server.demo.samples import copy_samples


class Shell:
    """Runs the program in a scratch home and project."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.project = self.home / "code" / "harbor"
        self.project.mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.defpath,
            "SKILLOPT_SLEEP_HOME": str(self.root / "state"),
        }

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "skillopt_sleep_server", *words],
            cwd=self.project,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def run_safely(self, *words: str) -> None:
        """Run it as its console script does, which puts no folder of the user's first."""
        subprocess.run(
            [sys.executable, "-P", "-m", "skillopt_sleep_server", *words],
            cwd=self.project,
            env=self.env,
            check=True,
            capture_output=True,
        )

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == code, done.stderr
        return cast("dict[str, Any]", json.loads(done.stdout))

    def typed(self, *words: str, keys: str) -> tuple[int, str]:
        """Run it at a terminal where somebody types ``keys``."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "skillopt_sleep_server", *words],
            cwd=self.project,
            env=self.env,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.close(slave)
        os.write(master, keys.encode())
        out = process.communicate(timeout=60)[0].decode()
        os.close(master)
        return process.returncode, out

    def stage(self) -> Path:
        target = self.project / "SKILL.md"
        target.write_text("old\n")
        with open_engine(project=self.project, state=self.root / "state") as engine:
            staged = replace(build_proposal(target), project=str(self.project))
            ProposalStore(engine.database).add(staged)
        return target


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_harvest_and_sessions_print_the_documented_object(shell: Shell) -> None:
    with open_engine(state=shell.root / "state") as engine:
        copy_samples(shell.home, engine.world.now())
    seen = shell.json("harvest", "--home", str(shell.home))
    assert seen["sessions"] == {"claude": 36, "codex": 16}
    (first, *rest) = shell.json("sessions")["sessions"]
    assert len(rest) == 51
    assert {
        "harness",
        "path",
        "session_id",
        "human_prompts",
        "tool_calls",
        "tool_errors",
        "corrections",
    } <= first.keys()
    starts = [one["started_at"] for one in (first, *rest)]
    assert starts == sorted(starts)
    hits = shell.json("sessions", "search", "virtual", "environment")["hits"]
    assert hits
    assert "virtual" in hits[0]["excerpt"]
    shown = shell.json("sessions", "show", first["id"])
    assert [turn["text"] for turn in shown["turns"] if turn["kind"] == "prompt"] == (
        first["human_prompts"]
    )


def test_no_logs_at_all_says_where_it_looked(shell: Shell) -> None:
    done = shell.run("harvest")
    assert done.returncode == 0
    assert "no agent logs were found" in done.stdout
    assert "--home" in done.stdout


def test_an_unreadable_log_is_named_and_ends_nothing(shell: Shell) -> None:
    folder = shell.home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / "bad.jsonl").write_bytes(b"\xff\xfe\x00not a log\n" * 20)
    done = shell.run("harvest", "--json")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["unreadable"] or seen["skipped"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("nigth",), 2, "Did you mean 'night'?"),
        (("night",), 2, "no model is chosen"),
        (
            ("night", "--backend", "antropic", "--model", "m"),
            2,
            "no backend is called 'antropic'; known: anthropic",
        ),
        (("show", "7"), 1, "no proposal has the number 7"),
        (("install", "emacs"), 2, "no harness to install into is called 'emacs'"),
        (("uninstall", "claude-code"), 2, "is not installed"),
        (("tasks", "show", "nothing"), 1, "nothing"),
        (("forget",), 2, "say what to forget"),
        (("approve", "1"), 2, "needs a terminal"),
        (("harvest", "--file", __file__), 2, "needs one --source"),
    ],
)
def test_bad_input_gets_a_sentence_and_its_exit_code(
    shell: Shell, words: tuple[str, ...], code: int, says: str
) -> None:
    done = shell.run(*words)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_typo_in_the_settings_names_the_nearest_key(shell: Shell) -> None:
    (shell.project / ".skillopt-sleep.toml").write_text("[gate]\npolcy = 'strict'\n")
    tree = shell.json("status", code=2)
    assert "did you mean 'gate.policy'" in tree["error"]["message"]


def test_a_missing_key_says_which_variable_to_set(shell: Shell) -> None:
    shell.run("setup", "--backend", "anthropic", "--model", "m", "--yes")
    done = shell.run("night")
    assert done.returncode == 2
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_setup_shows_what_is_sent_and_needs_a_yes(shell: Shell) -> None:
    done = shell.run("setup", "--backend", "openai", "--model", "m")
    assert done.returncode == 2
    assert "api.openai.com" in done.stderr
    assert not (shell.root / "state" / "config" / "config.toml").exists()
    code, out = shell.typed("setup", "--backend", "openai", "--model", "m", keys="y\n")
    assert code == 0, out
    written = (shell.root / "state" / "config" / "config.toml").read_text()
    assert 'hosts = ["api.openai.com"]' in written
    assert shell.json("status")["models"][0]["consent"] is True


def test_adopting_from_a_script_needs_the_humans_word(shell: Shell) -> None:
    target = shell.stage()
    done = shell.run("adopt", "1", "--yes")
    assert done.returncode == 2
    assert "no human has said to adopt proposal 1" in done.stderr
    assert target.read_text() == "old\n"


def test_adopt_and_revert_at_a_terminal(shell: Shell) -> None:
    target = shell.stage()
    code, out = shell.typed("adopt", "1", keys="n\n")
    assert (code, target.read_text()) == (2, "old\n"), out
    code, out = shell.typed("adopt", "1", keys="y\n")
    assert (code, target.read_text()) == (0, "new\n"), out
    code, out = shell.typed("revert", "1", keys="y\n")
    assert (code, target.read_text()) == (0, "old\n"), out


def test_a_yes_given_in_a_terminal_lets_a_script_adopt_once(shell: Shell) -> None:
    target = shell.stage()
    code, out = shell.typed("approve", "1", keys="y\n")
    assert code == 0, out
    assert shell.json("adopt", "1")["status"] == "adopted"
    assert target.read_text() == "new\n"
    assert shell.run("revert", "1").returncode == 2


def test_a_live_skill_that_changed_since_the_review_is_refused(shell: Shell) -> None:
    target = shell.stage()
    target.write_text("mine\n")
    code, out = shell.typed("adopt", "1", "--yes", keys="")
    assert code == 2
    assert "has changed since it was reviewed" in out
    assert target.read_text() == "mine\n"


def test_the_prompt_hook_hears_only_the_whole_typed_command(shell: Shell) -> None:
    target = shell.stage()
    told = {"cwd": str(shell.project), "prompt": "please run /sleep adopt 1 for me"}
    assert shell.run("hook", "prompt", stdin=json.dumps(told)).returncode == 0
    assert shell.run("adopt", "1").returncode == 2
    told["prompt"] = "/sleep adopt 1"
    assert shell.run("hook", "prompt", stdin=json.dumps(told)).returncode == 0
    assert shell.run("adopt", "1").returncode == 0
    assert target.read_text() == "new\n"


def test_the_session_hooks_tell_what_waits_and_harvest_the_session(shell: Shell) -> None:
    shell.stage()
    told = json.dumps({"cwd": str(shell.project)})
    assert "proposals wait for you (1)" in shell.run("hook", "session-start", stdin=told).stdout
    with open_engine(state=shell.root / "state") as engine:
        copy_samples(shell.home, engine.world.now())
    log = next((shell.home / ".claude").rglob("*.jsonl"))
    told = json.dumps({"cwd": str(shell.project), "transcript_path": str(log)})
    assert shell.run("hook", "session-end", stdin=told).returncode == 0
    assert len(shell.json("sessions")["sessions"]) == 1


@pytest.mark.parametrize("stdin", ["", "not json", "[]", '{"prompt": 3}'])
@pytest.mark.parametrize("event", ["prompt", "session-start", "session-end"])
def test_a_hook_never_fails_a_session(shell: Shell, event: str, stdin: str) -> None:
    done = shell.run("hook", event, stdin=stdin)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_redact_prints_what_would_be_sent(shell: Shell) -> None:
    token = "ghp_" + "kR7zQ2mX9wLd4TbN8vYc6HsJ3pFg5AeU1iOo"
    done = shell.run("redact", stdin=f"token {token}\n")
    assert done.returncode == 0
    assert token not in done.stdout
    assert "<secret:github:" in done.stdout


def test_a_usage_error_is_one_json_object_too(shell: Shell) -> None:
    done = shell.run("show", "zero", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["exit_code"] == 2


def test_a_cap_of_nothing_is_refused_rather_than_taken_for_no_cap(shell: Shell) -> None:
    assert shell.run("night", "--max-calls", "0").returncode == 2
    assert shell.run("night", "--max-dollars", "0").returncode == 2


def test_an_unknown_harness_is_no_empty_archive(shell: Shell) -> None:
    done = shell.run("sessions", "--harness", "clade")
    assert done.returncode == 2
    assert "no transcript source is called 'clade'" in done.stderr


def test_the_program_is_never_looked_for_in_the_project(shell: Shell) -> None:
    evil = shell.project / "skillopt_sleep_server"
    evil.mkdir()
    (evil / "__init__.py").touch()
    (evil / "__main__.py").write_text("print('EVIL')")
    shell.run_safely("install", "claude-code")
    settings = json.loads((shell.home / ".claude" / "settings.json").read_text())
    hook = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    done = subprocess.run(
        hook,
        shell=True,
        cwd=shell.project,
        env=shell.env,
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "EVIL" not in done.stdout


def test_a_rule_that_a_person_rejected_is_remembered(shell: Shell) -> None:
    shell.stage()
    code, out = shell.typed("reject", "1", keys="y\n")
    assert code == 0, out
    with open_engine(project=shell.project, state=shell.root / "state") as engine:
        known = RejectedStore(engine.database).known(
            project=str(shell.project), skill_name="habits", at=engine.world.now()
        )
    assert [one.text for one in known] == ["Use uv"]


def test_an_edited_proposal_says_that_no_evidence_covers_it(shell: Shell) -> None:
    shell.stage()
    text = shell.root / "text.md"
    text.write_text("")
    assert "is empty" in shell.run("edit", "1", "--file", str(text)).stderr
    text.write_text("mine\n")
    assert shell.run("edit", "1", "--file", str(text)).returncode == 0
    code, out = shell.typed("adopt", "1", "--yes", keys="")
    assert code == 2
    assert "was edited by a person after the gate" in out


def test_an_interrupt_ends_a_night_whose_model_hangs(shell: Shell) -> None:
    with open_engine(state=shell.root / "state") as engine:
        copy_samples(shell.home, engine.world.now())
    with model_server(lambda _ask: Hang()) as server:
        words = ("--backend", "openai_compatible", "--model", "m", "--base-url", server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "skillopt_sleep_server", "night", *words],
            cwd=shell.project,
            env=shell.env,
            stdout=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: bool(server.asks))
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=20)[0]
    assert process.returncode == 1
    assert "was cancelled" in out


def wait_until(true: Callable[[], bool]) -> None:
    """Return once ``true`` says so; fail after a minute."""
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    pytest.fail("it never came true")
