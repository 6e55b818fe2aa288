"""A replay that is killed with SIGKILL goes on where it was, in real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.loopback import Ask, Response, model_server
from tests.test_replay import WORKERS, Night, echo, rollouts, texts

ROLLOUTS = 40
KILL_AT = (5, 14, 30)

_CHILD = """
import sys
from pathlib import Path
from tests.test_replay import Night, rollouts
Night(Path(sys.argv[1]), sys.argv[2]).replay(rollouts(int(sys.argv[3])))
"""


def start(root: Path, url: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", _CHILD, str(root), url, str(ROLLOUTS)]
    return subprocess.Popen(argv, cwd=Path(__file__).parents[1])


def test_a_killed_replay_pays_at_most_for_the_calls_under_way_again(tmp_path: Path) -> None:
    children: list[subprocess.Popen[bytes]] = []

    def answer(ask: Ask) -> Response:
        if ask.number in KILL_AT:
            os.kill(children[-1].pid, signal.SIGKILL)
        return echo(ask)

    with model_server(answer) as server:
        for _ in KILL_AT:
            children.append(start(tmp_path, server.url))
            assert children[-1].wait(60) == -signal.SIGKILL
        last = Night(tmp_path, server.url)
        made = last.replay(rollouts(ROLLOUTS))
        assert ROLLOUTS <= server.count <= ROLLOUTS + WORKERS * len(KILL_AT)
    assert texts(made) == [f"I use pnpm for task {n}." for n in range(ROLLOUTS)]
    assert last.meter.total.calls <= server.count
