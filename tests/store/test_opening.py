"""Several processes open a database that is not there yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_OPEN = """
import sys
from pathlib import Path
from skillopt_sleep.store.database import Database
sys.stdin.read()
for number in range(8):
    Database(Path(sys.argv[1]) / str(number) / "sleep.sqlite").close()
"""


def test_processes_that_open_a_new_database_together_all_get_it(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, str(tmp_path)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    told = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, told
