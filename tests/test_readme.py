"""What the README says to type is typed here; what needs a provider or a person is parsed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from skillopt_sleep_server.cli import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines() if line.strip()]
OURS = [line for line in LINES if line.startswith("skillopt-sleep ")]
INLINE = sorted(set(re.findall(r"`(?:echo text \\\| )?(skillopt-sleep [^`]+)`", README)))


@pytest.mark.parametrize("line", sorted({*OURS, *INLINE}))
def test_every_command_in_the_readme_exists_with_its_options(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="skillopt-sleep")
    while isinstance(command, click.Group) and words:
        name, found, words = command.resolve_command(context, words)
        assert found is not None, line
        command, context = found, click.Context(found, info_name=name, parent=context)
    command.parse_args(context, list(words))


@pytest.mark.parametrize("link", re.findall(r"\]\((docs/[^)]+)\)", README))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).is_file()


def test_the_first_command_is_the_demo_and_the_second_the_tests() -> None:
    assert LINES[0].endswith(".venv/bin/skillopt-sleep demo")
    assert LINES[1] == "make check"
    assert re.search(r"^make check$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def run(words: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skillopt_sleep_server", *words],
        cwd=home,
        env={"HOME": str(home), "PATH": os.defpath, "SKILLOPT_SLEEP_HOME": str(home / "state")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_demo_shows_the_funnel_a_diff_the_evidence_and_what_was_not_adopted(
    tmp_path: Path,
) -> None:
    done = run(["demo"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("The model in this demo is SIMULATED")
    for words in (
        "different requests among them",
        "+- Use `uv` instead of `pip`",
        "Evidence E = ",
        "ADOPTED",
        "NOT ADOPTED",
        "skillopt-sleep harvest",
    ):
        assert words in done.stdout, words
    assert done.stderr == ""


def test_without_logs_the_readmes_first_steps_say_what_is_missing(tmp_path: Path) -> None:
    assert "no agent logs were found" in run(["harvest"], tmp_path).stdout
    tasks = run(["tasks"], tmp_path)
    assert tasks.returncode == 0
    assert "sessions" in tasks.stdout
    handoff = run(["setup", "--backend", "handoff", "--yes"], tmp_path)
    assert handoff.returncode == 0, handoff.stderr
    night = run(["night"], tmp_path)
    assert night.returncode == 0, night.stderr
    assert "found nothing to propose" in night.stdout
