"""Labelled requests, where they lie, and the score of a clustering of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import orjson

REQUESTS = Path(__file__).parent / "requests.jsonl"
SHARED = Path(__file__).parents[3] / "shared" / "intents"


def labelled(path: Path) -> tuple[list[str], list[str]]:
    """Return texts and labels, each request that does not recur with a label of its own."""
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    labels = [row["label"] or f"alone {at}" for at, row in enumerate(rows)]
    return [row["text"] for row in rows], labels


def b_cubed(found: Sequence[object], wanted: Sequence[object]) -> float:
    """Return the harmonic mean of B-cubed precision and recall, in [0, 1]."""
    pairs = Counter(zip(found, wanted, strict=True))
    sizes, classes = Counter(found), Counter(wanted)
    precision = sum(n * n / sizes[got] for (got, _), n in pairs.items()) / len(found)
    recall = sum(n * n / classes[want] for (_, want), n in pairs.items()) / len(found)
    return 2 * precision * recall / (precision + recall)
