"""What the system refuses is one sentence and an exit code, never a stack trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from skillopt_sleep_server.cli import cli


@pytest.mark.parametrize("command", ["sessions", "harvest", "status", "proposals"])
def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path, command: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "data").touch()
    env = {"SKILLOPT_SLEEP_HOME": str(tmp_path / "state")}
    told = CliRunner().invoke(cli, [command, "--json", "--home", str(tmp_path)], env=env)
    error = json.loads(told.stdout)["error"]
    assert told.exit_code == error["exit_code"] == 1
    assert "mend that, then run this again" in error["message"]
