"""Vectors of requests without any model: words and character n-grams, weighted by rarity.

Each text becomes one row of a float32 matrix; the inner product of two rows is their similarity.
Pure and deterministic. Does not know clusters, and nothing of meaning beyond shared spelling.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skillopt_sleep.mine.normalise import normalise

Matrix: TypeAlias = NDArray[np.float32]

_DIRECT = 1024  # the most frequent features have a column each,
_SHARED = 256  # all others share these, with a sign that lets chance meetings cancel
_WORD_SHARE = 0.6
_WORD = re.compile(r"\w+")
# Words of grammar and courtesy say little, and few texts are too few to learn that from: it is as
# if half of so many earlier texts had held each of them.
_EARLIER = 50
_EVERYDAY = frozenset(
    _WORD.findall("""
    a an the this that these those it its i you we me my your our us is are be am was do does did
    can could would will shall should may might have has had please just now then so and or but if
    of in on at to for from with by as into about there here what which how hi hello hey thanks
    thank let make sure want need like
    der die das den dem ein eine einen einem ist sind bitte kannst du mir mal und oder für mit von
    zu im auf ich wir
    le la les un une des du de est et ou pour avec dans sur peux tu moi vous je nous te plaît
    el los las una uno y o para con en por favor puedes es
    """)
)
# Scripts that put no space between words: pairs of characters stand for words.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def lexical_vectors(texts: Sequence[str]) -> Matrix:
    """Return one row of length at most 1 per text, same order.

    Words are taken as written and character n-grams from the normalised text: requests about
    different paths stay alike, and those about the same path are more so.
    """
    words = weighted([Counter(_words(text)) for text in texts])
    grams = weighted([_grams(normalise(text)) for text in texts])
    return joined([(words, _WORD_SHARE), (grams, 1 - _WORD_SHARE)])


def side_vectors(sides: Sequence[frozenset[str]]) -> Matrix:
    """Return one row per set of side features (tools, commands, extensions), rare ones heavier."""
    return weighted([Counter(sorted(features)) for features in sides])


def joined(parts: Sequence[tuple[Matrix, float]]) -> Matrix:
    """Return the parts side by side, so that similarity is the mean weighted by their shares."""
    return np.hstack([matrix * np.float32(share**0.5) for matrix, share in parts])


def centred(matrix: Matrix, *, prior: float = 5.0) -> Matrix:
    """Return rows of length 1 without what all rows have in common.

    Args:
        matrix: One row per text.
        prior: How many rows at the origin are counted in, so that few rows keep their direction.
    """
    common = matrix.sum(axis=0) / np.float32(len(matrix) + prior)
    apart = matrix - common
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    return np.asarray(apart / np.maximum(lengths, np.float32(1e-6)), dtype=np.float32)


def weighted(counts: Sequence[Mapping[str, int]]) -> Matrix:
    """Return rows of log term frequency times inverse document frequency.

    A feature of one text alone adds to the length by which its row is divided but gets no
    column, for no other row can share it.
    """
    ids: dict[str, int] = {}
    columns = np.fromiter(_ids(counts, ids), dtype=np.int64)
    values = np.fromiter((n for row in counts for n in row.values()), dtype=np.float64)
    rows = np.repeat(np.arange(len(counts)), [len(row) for row in counts])
    seen = np.bincount(columns, minlength=len(ids))
    everyday = np.fromiter((feature.strip() in _EVERYDAY for feature in ids), dtype=np.float64)
    rarity = 1 + np.log((1 + len(counts) + _EARLIER) / (1 + seen + everyday * _EARLIER / 2))
    weights = (1 + np.log(values)) * rarity[columns]
    lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(counts)))
    weights /= lengths[rows]
    place, sign = _places(seen)
    kept = place[columns] >= 0
    rows, columns, weights = rows[kept], columns[kept], weights[kept]
    width = int(place.max(initial=0)) + 1
    flat = np.bincount(
        rows * width + place[columns], weights * sign[columns], minlength=len(counts) * width
    )
    return flat.reshape(len(counts), width).astype(np.float32)


def _ids(counts: Sequence[Mapping[str, int]], ids: dict[str, int]) -> Iterable[int]:
    return (ids.setdefault(feature, len(ids)) for row in counts for feature in row)


def _places(seen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the column of each feature (-1 for none) and the sign with which it enters."""
    place = np.full(len(seen), -1, dtype=np.int64)
    sign = np.ones(len(seen), dtype=np.int64)
    shared = np.flatnonzero(seen > 1)
    ranked = shared[np.argsort(-seen[shared], kind="stable")]
    if len(ranked) <= _DIRECT + _SHARED:
        place[ranked] = np.arange(len(ranked))
        return place, sign
    place[ranked[:_DIRECT]] = np.arange(_DIRECT)
    rest = ranked[_DIRECT:]
    mixed = (rest * 2654435761) % 2**32
    place[rest] = _DIRECT + (mixed >> 8) % _SHARED
    sign[rest] = 1 - 2 * ((mixed >> 24) % 2)
    return place, sign


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    pairs = [
        run[at : at + 2] for run in _UNSPACED.findall(plain) for at in range(max(1, len(run) - 1))
    ]
    return pairs + _WORD.findall(_UNSPACED.sub(" ", plain))


def _grams(text: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for word in _words(text):
        counted.update(_word_grams(word))
    return counted


@lru_cache(maxsize=65_536)
def _word_grams(word: str) -> tuple[str, ...]:
    framed = f" {word[:40]} "
    return tuple(
        framed[at : at + size] for size in (3, 4, 5) for at in range(len(framed) - size + 1)
    )
