"""Which requests are the same request, and under which name they go on.

Average linkage over similarities, cut where the similarity of random pairs leaves off: the
threshold comes from the texts themselves, never from a fixed number. The clustering is a
function of the set of texts; their order and their copies do not matter. Pure. Does not know
sessions, days or tasks.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillopt_sleep.mine.linkage import average_linkage, similarities
from skillopt_sleep.mine.vectors import (
    Matrix,
    centred,
    joined,
    lexical_vectors,
    side_vectors,
)

Embed = Callable[[Sequence[str]], Matrix]

_SIDE_SHARE = 0.15
_LEXICAL_SHARE = 0.1  # beside embeddings
_REFERENCES = 1000  # texts at most from which the background is measured
_NEAR = 0.1  # the share of references that count as the surroundings of a text
_FEWEST_NEAR = 5
_CROWDING = 0.2  # how much the similarity in a text's surroundings is taken off its own
_PRIOR_PAIRS = 50.0  # how many random pairs the expected background counts as
# The more requests have a like one, the likelier it is that the next one has, and the less
# likeness shows it: from 1.1 times the reach where none has down to 0.65 times where all have.
_WARY = 1.1
_TRUSTING = 0.45
_SHAPE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What is known beforehand about a kind of vectors.

    Attributes:
        reach: Where the threshold lies above the median of random pairs, in steps from the
            median to the 84th percentile (one standard deviation, were it a normal one).
        median: The expected median.
        step: The expected step.
    """

    reach: float
    median: float
    step: float


_LEXICAL = _Kind(reach=6.75, median=0.0, step=0.04)
_SEMANTIC = _Kind(reach=4.45, median=0.0, step=0.11)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Item:
    """One distinct request: what is told apart before anything is compared."""

    text: str
    sides: tuple[str, ...]
    group: str


def cluster(
    texts: Sequence[str],
    *,
    sides: Sequence[frozenset[str]] | None = None,
    groups: Sequence[str] | None = None,
    embed: Embed | None = None,
) -> list[int]:
    """Return a cluster number per text, same order; a text like no other has its own number.

    Args:
        texts: The requests as they were written.
        sides: Per text, what else is known of it: tools, commands, extensions, error classes.
        groups: Per text, its repository; the threshold is then taken from pairs of texts of
            different repositories.
        embed: Gives vectors by meaning, one row per text; without it only spelling counts.

    Returns:
        Numbers from 0, in the order in which the clusters first appear.

    Raises:
        ValueError: ``sides`` or ``groups`` are not as many as ``texts``.
    """
    items = _items(texts, sides, groups)
    distinct = sorted(set(items))
    labels = dict(zip(distinct, _labels(distinct, embed), strict=True))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(labels[item], len(numbers)) for item in items]


def persistent_ids(clusters: Sequence[Sequence[str]], previous: Mapping[str, str]) -> list[str]:
    """Return an id per cluster, same order: an old one where members overlap, else a new one.

    The clusters with the largest overlap choose first, so an id follows most of its members
    through a split or a merge. A new id is the hash of the least member key; neither the order of
    clusters nor that of members matters.

    Args:
        clusters: The member keys of each cluster; no key is in two clusters.
        previous: Member key to the id of the cluster that it was in.
    """
    overlaps = [
        (-count, min(members), old, position)
        for position, members in enumerate(clusters)
        for old, count in Counter(previous[key] for key in members if key in previous).items()
    ]
    kept: dict[int, str] = {}
    taken: set[str] = set()
    for _count, _least, old, position in sorted(overlaps):
        if position not in kept and old not in taken:
            kept[position] = old
            taken.add(old)
    reserved = set(previous.values())
    return [
        kept[position] if position in kept else _new_id(members, reserved)
        for position, members in enumerate(clusters)
    ]


def _new_id(members: Sequence[str], reserved: set[str]) -> str:
    for key in sorted(members):
        made = hashlib.sha256(key.encode()).hexdigest()[:12]
        if made not in reserved:
            return made
    whole = "\n".join(sorted(members))
    return hashlib.sha256(f"{whole}\n{sorted(reserved)}".encode()).hexdigest()[:12]


def _items(
    texts: Sequence[str],
    sides: Sequence[frozenset[str]] | None,
    groups: Sequence[str] | None,
) -> list[_Item]:
    return [
        _Item(
            text=_plain(text),
            sides=tuple(sorted(known)),
            group=group,
        )
        for text, known, group in zip(
            texts,
            sides if sides is not None else [frozenset[str]()] * len(texts),
            groups if groups is not None else [""] * len(texts),
            strict=True,
        )
    ]


def _plain(text: str) -> str:
    """Return the text without what never tells two requests apart."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,:;!?…。、") or folded  # NFKC has narrowed the wide ones


def _labels(items: Sequence[_Item], embed: Embed | None) -> list[int]:
    if len(items) < 2:
        return list(range(len(items)))
    vectors = _vectors(items, embed)
    penalty, threshold = _background(vectors, items, _SEMANTIC if embed else _LEXICAL)
    return [int(label) for label in average_linkage(vectors, penalty, threshold)]


def _vectors(items: Sequence[_Item], embed: Embed | None) -> Matrix:
    texts = [item.text for item in items]
    vectors = lexical_vectors(texts)
    if embed is not None:
        meaning = centred(np.asarray(embed(texts), dtype=np.float32))
        vectors = joined([(meaning, 1 - _LEXICAL_SHARE), (vectors, _LEXICAL_SHARE)])
    if any(item.sides for item in items):
        known = side_vectors([frozenset(item.sides) for item in items])
        vectors = joined([(vectors, 1 - _SIDE_SHARE), (known, _SIDE_SHARE)])
    return vectors


def _background(
    vectors: Matrix, items: Sequence[_Item], kind: _Kind
) -> tuple[NDArray[np.float32], float]:
    """Return what each text loses for its crowded surroundings, and the threshold."""
    count = len(items)
    references = np.unique(np.linspace(0, count - 1, min(count, _REFERENCES)).astype(np.int64))
    everything = np.arange(count, dtype=np.int64)
    nothing = np.zeros(count, dtype=np.float32)
    near = max(_FEWEST_NEAR, round(_NEAR * len(references)))
    penalty = nothing.copy()
    for start in range(0, count, _REFERENCES):
        rows = everything[start : start + _REFERENCES]
        block = similarities(vectors, nothing, rows, references)
        block[rows[:, None] == references[None, :]] = np.nan
        penalty[rows] = _surroundings(block, near)
    penalty *= np.float32(_CROWDING)
    alike = similarities(vectors, penalty, references, references)
    return penalty, _threshold(
        alike, _random_pairs([items[int(at)].group for at in references]), kind
    )


def _threshold(alike: Matrix, random: NDArray[np.bool_], kind: _Kind) -> float:
    """Return how alike two clusters must be, from the similarities of the references."""
    median, upper = (float(np.quantile(alike[random], at)) for at in (0.5, 0.84))
    pairs = int(random.sum())
    trust = pairs / (pairs + _PRIOR_PAIRS)
    median = trust * median + (1 - trust) * kind.median
    # Where random pairs share nothing at all, one word in common must not be enough.
    step = max(trust * (upper - median) + (1 - trust) * kind.step, kind.step / 2)
    np.fill_diagonal(alike, -np.inf)
    recurring = trust * float((alike.max(axis=1) >= median + kind.reach * step).mean())
    return median + kind.reach * step * (_WARY - _TRUSTING * recurring**_SHAPE)


def _surroundings(block: Matrix, near: int) -> Matrix:
    """Return the mean of the ``near`` greatest similarities per row; lacking ones count as 0."""
    block = np.nan_to_num(block, nan=-1.0)
    there = min(near, block.shape[1] - 1)
    greatest = np.partition(block, -there, axis=1)[:, -there:]
    return np.asarray(greatest.sum(axis=1) / np.float32(near))


def _random_pairs(groups: Sequence[str]) -> NDArray[np.bool_]:
    """Return which pairs count as random: of different groups, where there are enough of them."""
    upper = np.triu(np.ones((len(groups), len(groups)), dtype=bool), k=1)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    apart = upper & (codes[:, None] != codes[None, :])
    return apart if apart.sum() >= _PRIOR_PAIRS else upper
