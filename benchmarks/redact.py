"""Measures redaction: speed on ordinary text, and what it takes for a secret in a folder.

Usage: ``python benchmarks/redact.py FOLDER [SHOWN]``. Placeholders are printed with what stands
before them, so that false alarms can be told from real ones; run it on text that you may show.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path

from skillopt_sleep.redact import redact

_MARK = re.compile(r"<(?:secret:([a-z]+)|(email)):[0-9a-f]{4}>|(user)-[0-9a-f]{4}")
_TEXT = frozenset(
    {
        ".py",
        ".pyi",
        ".js",
        ".ts",
        ".json",
        ".jsonl",
        ".md",
        ".rst",
        ".txt",
        ".toml",
        ".yaml",
        ".yml",
    }
)
_BLOCK = 8192


def measure(folder: Path, shown: int) -> None:
    """Redact every text file under ``folder`` in blocks of 8 KiB and print rate and finds."""
    size, seconds = 0, 0.0
    kinds: Counter[str] = Counter()
    finds: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _TEXT or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for begin in range(0, len(text), _BLOCK):
            block = text[begin : begin + _BLOCK]
            began = time.process_time()
            cleaned = redact(block)
            seconds += time.process_time() - began
            size += len(block)
            if cleaned != block:
                for mark in _MARK.finditer(cleaned):
                    kinds[mark[1] or mark[2] or mark[3]] += 1
                    if mark[1]:
                        before = cleaned[max(0, mark.start() - 60) : mark.end()]
                        finds.append(f"{path.name}: {before!r}")
    print(f"{size / 1e6:.1f} MB, {size / 1e6 / max(seconds, 1e-9):.0f} MB/s of processor time")
    for kind, count in kinds.most_common():
        print(f"{kind}: {count}, {count / size * 1e6:.2f} a MB")
    print("\n".join(finds[:shown]))


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
