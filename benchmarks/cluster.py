"""Prints how well requests are clustered, and how fast, beside grouping by exact text.

Usage: ``python benchmarks/cluster.py FILE... [--semantic] [--model FOLDER]``; each file holds a
JSON object a line with ``id``, ``text`` and ``label`` (null for a request that does not recur).
The labels are only used to score. Does not choose or tune anything.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import orjson

from skillopt_sleep.mine.recurrence import Embed, cluster
from skillopt_sleep.mine.semantic import load_embedder


def b_cubed(found: Sequence[object], wanted: Sequence[object]) -> tuple[float, float, float]:
    """Return F1, precision and recall, each in [0, 1], averaged over the items."""
    pairs = Counter(zip(found, wanted, strict=True))
    sizes, classes = Counter(found), Counter(wanted)
    precision = sum(n * n / sizes[got] for (got, _want), n in pairs.items()) / len(found)
    recall = sum(n * n / classes[want] for (_got, want), n in pairs.items()) / len(found)
    return 2 * precision * recall / (precision + recall), precision, recall


def measure(path: Path, embed: Embed | None) -> str:
    """Return one line on one file of labelled requests."""
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    texts = [str(row["text"]) for row in rows]
    wanted = [row["label"] or f"alone {at}" for at, row in enumerate(rows)]
    began = time.perf_counter()
    found = cluster(texts, embed=embed)
    took = time.perf_counter() - began
    began = time.perf_counter()
    exact = dict.fromkeys(texts)
    plain = {text: at for at, text in enumerate(exact)}
    baseline = b_cubed([plain[text] for text in texts], wanted)[0]
    base_took = time.perf_counter() - began
    score, precision, recall = b_cubed(found, wanted)
    return (
        f"{path.stem}: {len(texts)} requests, {len(set(found))} clusters, B-cubed F1 {score:.3f} "
        f"(precision {precision:.3f}, recall {recall:.3f}); exact text {baseline:.3f}, ratio "
        f"{score / baseline:.2f}; {took:.2f} s, {len(texts) / took:,.0f} a second, "
        f"{took / max(base_took, 1e-9):,.0f} times the exact grouping"
    )


def main() -> None:
    """Read the command line and print one line per file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--semantic", action="store_true", help="use the installed encoders")
    parser.add_argument("--model", default="", help="use the encoder in this folder")
    asked = parser.parse_args()
    embed = load_embedder(asked.model) if asked.semantic or asked.model else None
    for path in asked.files:
        print(measure(path, embed))


if __name__ == "__main__":
    main()
