"""Processes as the edge runs them: bounded in time and output, and none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt_sleep.edge import run_process

ENV = {"PATH": os.environ["PATH"]}


def test_output_is_kept_up_to_the_cap_and_the_rest_is_read_and_dropped(tmp_path: Path) -> None:
    noisy = "head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2"
    ran = run_process(["sh", "-c", noisy], cwd=tmp_path, env=ENV, output_cap=1000, timeout_s=30)
    assert (ran.code, len(ran.stdout), ran.stderr) == (0, 1000, "end\n")


def test_input_reaches_a_process_and_one_that_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    said = "word\n" * 100_000
    heard = run_process(["wc", "-c"], cwd=tmp_path, env=ENV, stdin=said)
    deaf = run_process(["true"], cwd=tmp_path, env=ENV, stdin=said)
    assert (int(heard.stdout), deaf.code) == (len(said), 0)


@pytest.mark.parametrize("lone", ["sleep 60", "sleep 60 & sleep 60", "setsid sleep 3 & exit 0"])
def test_no_child_holds_up_the_caller(lone: str, tmp_path: Path) -> None:
    ran = run_process(["sh", "-c", lone], cwd=tmp_path, env=ENV, timeout_s=0.3)
    assert ran.seconds < 10
    assert ran.timed_out is (lone != "setsid sleep 3 & exit 0")


def test_a_process_under_way_does_not_outlive_us(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    program = (
        "import threading, time\nfrom pathlib import Path\n"
        "from skillopt_sleep.edge import run_process\n"
        f"go = lambda: run_process(['sh', '-c', 'echo $$ >{mark}.tmp; mv {mark}.tmp {mark};"
        " exec sleep 60'], cwd=Path('/'), env={'PATH': '/usr/bin:/bin'})\n"
        "threading.Thread(target=go, daemon=True).start()\n"
        f"while not Path({str(mark)!r}).exists(): time.sleep(0.01)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
    with pytest.raises(ProcessLookupError):
        os.killpg(int(mark.read_text()), 0)
