"""The built wheel holds all that the program needs, plugins and sample logs included."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it where nothing of the checkout is near."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    zipfile.ZipFile(wheel).extractall(target)
    return target


def run(unpacked: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skillopt_sleep_server", *words],
        cwd=home,
        env={
            "HOME": str(home),
            "PATH": os.defpath,
            "PYTHONPATH": str(unpacked),
            "SKILLOPT_SLEEP_HOME": str(home / "state"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_installs_into_a_harness_without_a_checkout(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, tmp_path, "install", "claude-code")
    assert done.returncode == 0, done.stderr
    assert "/sleep" in (tmp_path / ".claude" / "skills" / "sleep" / "SKILL.md").read_text()


def test_it_holds_the_sample_logs_and_every_plugin_folder(unpacked: Path) -> None:
    logs = unpacked / "skillopt_sleep_server" / "demo" / "logs"
    assert len(list(logs.rglob("*.jsonl"))) == 52
    there = {one.name for one in (unpacked / "skillopt_sleep_plugins").iterdir()}
    kept = {
        one.name for one in (ROOT / "plugins").iterdir() if any(f.is_file() for f in one.rglob("*"))
    }
    assert there == kept
    assert (unpacked / "skillopt_sleep_plugins/claude-code/.claude-plugin/plugin.json").is_file()


def test_it_holds_the_license_and_names_the_program(unpacked: Path) -> None:
    (meta,) = unpacked.glob("*.dist-info")
    assert (meta / "licenses" / "LICENSE").is_file()
    assert (
        "skillopt-sleep = skillopt_sleep_server.cli:main" in (meta / "entry_points.txt").read_text()
    )
