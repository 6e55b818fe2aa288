"""Average linkage down to a threshold, in parts that fit into memory.

Two clusters whose mean similarity reaches the threshold hold at least one pair that does. So many
texts fall apart into components of such pairs first, and each is linked by itself: the same
clusters as over the whole matrix, in less memory. Pure. Does not choose the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from skillopt_sleep.mine.vectors import Matrix

Labels = NDArray[np.int64]
_BLOCK = 1024
_WHOLE = 12_000  # rows whose similarities are held at once (576 MB)


def average_linkage(
    vectors: Matrix, penalty: NDArray[np.float32], threshold: float, *, whole: int = _WHOLE
) -> Labels:
    """Return a label per row: clusters whose mean similarity is at least ``threshold``.

    Args:
        vectors: One row per text; similarity is the inner product less both rows' penalties.
        penalty: One number per row.
        threshold: The least mean similarity between two clusters that are joined.
        whole: Up to so many rows are linked without being split into components first.
    """
    labels = np.arange(len(vectors), dtype=np.int64)
    if len(vectors) <= whole:
        return _link(similarities(vectors, penalty, labels, labels), threshold)
    parts = _components(vectors, penalty, threshold)
    order = np.argsort(parts, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(parts[order])) + 1):
        if len(members) > 1:
            within = similarities(vectors, penalty, members, members)
            labels[members] = members[_link(within, threshold)]
    return labels


def similarities(
    vectors: Matrix, penalty: NDArray[np.float32], rows: Labels, columns: Labels
) -> Matrix:
    """Return the similarity of each of ``rows`` to each of ``columns``."""
    # The same object on both sides lets BLAS compute one triangle only.
    left = vectors[rows]
    inner = left @ (left if rows is columns else vectors[columns]).T
    inner -= penalty[rows][:, None]
    inner -= penalty[columns][None, :]
    return np.asarray(inner, dtype=np.float32)


def _components(vectors: Matrix, penalty: NDArray[np.float32], threshold: float) -> Labels:
    """Return the least row number that each row reaches over pairs at or above ``threshold``."""
    root = np.arange(len(vectors), dtype=np.int64)
    for left, right in _edges(vectors, penalty, threshold):
        while True:
            low = np.minimum(root[left], root[right])
            before = root.copy()
            np.minimum.at(root, root[left], low)
            np.minimum.at(root, root[right], low)
            root = root[root]
            if np.array_equal(before, root):
                break
    while not np.array_equal(root, root[root]):
        root = root[root]
    return root


def _edges(
    vectors: Matrix, penalty: NDArray[np.float32], threshold: float
) -> Iterator[tuple[Labels, Labels]]:
    everything = np.arange(len(vectors), dtype=np.int64)
    for start in range(0, len(vectors), _BLOCK):
        rows, columns = everything[start : start + _BLOCK], everything[start:]
        left, right = np.nonzero(similarities(vectors, penalty, rows, columns) >= threshold)
        apart = right > left
        yield rows[left[apart]], columns[right[apart]]


def _link(similarity: Matrix, threshold: float) -> Labels:
    """Return a label per row of a dense matrix, by chains of nearest neighbours.

    A cluster whose nearest neighbour is below the threshold is finished: joining others cannot
    bring it any nearer, for a mean never exceeds what it is the mean of.
    """
    labels = np.arange(len(similarity), dtype=np.int64)
    size = np.ones(len(similarity), dtype=np.float32)
    np.fill_diagonal(similarity, -np.inf)
    waiting = list(range(len(similarity) - 1, -1, -1))
    done = np.zeros(len(similarity), dtype=bool)
    chain: list[int] = []
    while chain or waiting:
        if not chain:
            chain.append(waiting.pop())
        last = chain[-1]
        if done[last]:
            chain.pop()
            continue
        nearest = _nearest(similarity[last], chain)
        if similarity[last, nearest] < threshold:
            _finish(similarity, last)
            done[last] = True
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            del chain[-2:]
            _join(similarity, size, nearest, last)
            labels[labels == last] = nearest
            done[last] = True
            chain.append(nearest)
        else:
            chain.append(nearest)
    return labels


def _nearest(row: Matrix, chain: list[int]) -> int:
    best = int(row.argmax())
    if len(chain) > 1 and row[chain[-2]] >= row[best]:
        return chain[-2]
    return best


def _join(similarity: Matrix, size: Matrix, kept: int, gone: int) -> None:
    total = size[kept] + size[gone]
    merged = (similarity[kept] * size[kept] + similarity[gone] * size[gone]) / total
    merged[kept] = -np.inf
    similarity[kept] = merged
    similarity[:, kept] = merged
    size[kept] = total
    _finish(similarity, gone)


def _finish(similarity: Matrix, row: int) -> None:
    similarity[row] = -np.inf
    similarity[:, row] = -np.inf
