"""How fast a harvest is: cold, and again over unchanged files, beside a bare ``json.loads`` scan.

    python benchmarks/harvest.py [TREE] [--mb 60] [--files 10000] [--json]

TREE is a folder that holds ``projects/`` as ``~/.claude`` does; without one, a small tree of
made-up logs is written to a temporary folder. It measures throughput and memory, not accuracy.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import fake_world

_WORDS = ("the", "error", "value", "path", "import", "test", "return", "list", "config", "line")


def main() -> None:
    """Measure and print one line a figure, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path)
    parser.add_argument("--mb", type=float, default=60.0, help="size of the made-up tree")
    parser.add_argument("--files", type=int, default=10_000, help="unchanged files read again")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        tree = asked.tree or _logs(root / "tree", asked.mb)
        figures = {**_cold(root, tree), **_again(root, asked.files)}
    if asked.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:<34} {figure}" for name, figure in figures.items()))


def _cold(root: Path, tree: Path) -> dict[str, float]:
    home = root / "home"
    home.mkdir()
    (home / ".claude").symlink_to(tree.resolve())
    scan, size = _scan(tree)
    database = Database(root / "cold.db")
    world = fake_world(root).at_home(home)
    began, used = time.perf_counter(), time.process_time()
    report = harvest(world, database, HarvestSettings(), only=("claude",))
    wall, used = time.perf_counter() - began, time.process_time() - used
    began = time.perf_counter()
    harvest(world, database, HarvestSettings(), only=("claude",))
    again = time.perf_counter() - began
    database.close()
    return {
        "megabytes of log": round(size / 1e6, 1),
        "sessions": report.new_sessions,
        "cold, MB/s per core": round(size / 1e6 / used, 1),
        "cold, MB/s of wall time": round(size / 1e6 / wall, 1),
        "json.loads scan, MB/s": round(size / 1e6 / scan, 1),
        "cold, times the scan": round(used / scan, 2),
        "same tree again, s": round(again, 3),
        "memory at most, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def _scan(tree: Path) -> tuple[float, int]:
    """Return the CPU seconds that parsing every line with ``json.loads`` takes, and the bytes."""
    paths = sorted(tree.rglob("*.jsonl"))
    size = sum(path.stat().st_size for path in paths)
    began = time.process_time()
    for path in paths:
        with path.open("rb") as log:
            for line in log:
                json.loads(line)
    return time.process_time() - began, size


def _again(root: Path, files: int) -> dict[str, float]:
    """Return what a second harvest of so many small unchanged files takes."""
    home = root / "many"
    for number in range(files):
        folder = home / ".claude" / "projects" / f"-srv-{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        row = _record("user", number, {"role": "user", "content": f"mend part {number}"})
        (folder / f"s{number}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    database = Database(root / "many.db")
    world = fake_world(root).at_home(home)
    harvest(world, database, HarvestSettings(), only=("claude",))
    scan, _ = _scan(home)
    began = time.perf_counter()
    report = harvest(world, database, HarvestSettings(), only=("claude",))
    took = time.perf_counter() - began
    database.close()
    if report.read:
        raise SystemExit(f"{sum(report.read.values())} unchanged files were read again")
    return {
        f"{files} unchanged files again, s": round(took, 3),
        "unchanged, times the scan": round(took / scan, 3),
    }


def _logs(tree: Path, megabytes: float) -> Path:
    random, size, number = Random(1), 0, 0
    folder = tree / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    while size < megabytes * 1e6:
        number += 1
        rows = [_record("user", number, {"role": "user", "content": f"mend part {number}"})]
        for step in range(random.choice((4, 12, 30))):
            rows += _step(random, number, step)
        path = folder / f"session-{number:05d}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        size += path.stat().st_size
    return tree


def _step(random: Random, session: int, step: int) -> list[dict[str, object]]:
    call = f"toolu_{session:08d}{step:012d}"
    body = " ".join(random.choices(_WORDS, k=int(min(60_000, random.paretovariate(0.9) * 150))))
    use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "pytest -q"}}
    text = {"type": "text", "text": " ".join(random.choices(_WORDS, k=40))}
    usage = {"input_tokens": 5, "output_tokens": 300, "cache_read_input_tokens": 9_000}
    message = {"id": f"msg_{call}", "model": "m", "content": [text, use], "usage": usage}
    told = {"type": "tool_result", "tool_use_id": call, "content": body, "is_error": step % 9 == 0}
    back = _record("user", session, {"role": "user", "content": [told]})
    return [
        _record("assistant", session, message),
        {**back, "toolUseResult": {"stdout": body, "stderr": "", "interrupted": False}},
    ]


def _record(kind: str, session: int, message: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": kind,
        "sessionId": f"session-{session:05d}",
        "uuid": f"{kind}-{session}",
        "isSidechain": False,
        "cwd": "/srv/shop",
        "version": "2.1.300",
        "timestamp": "2026-01-10T09:00:00.000Z",
        "message": message,
    }


if __name__ == "__main__":
    main()
