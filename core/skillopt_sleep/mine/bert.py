"""A small BERT sentence encoder in plain numpy: tokens in, one vector a text out.

Holds the arithmetic of the published architecture (post-norm layers, exact GELU, mean pooling)
and nothing else. Does not know where its weights come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from skillopt_sleep.mine.vectors import Matrix

_BATCH = 32
_LONGEST = 128  # tokens; the opening of a request says what it asks for
_EPSILON = np.float32(1e-12)


class Encoding(Protocol):
    """What a tokenizer says of one text."""

    @property
    def ids(self) -> list[int]:
        """The numbers of the tokens, opening and closing marks included."""
        ...


class Tokenizer(Protocol):
    """The part of ``tokenizers.Tokenizer`` that is used."""

    def encode_batch(self, texts: list[str]) -> Sequence[Encoding]:
        """Return the tokens of each text, same order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert:
    """A sentence encoder; calling it gives one row of length 1 per text, same order.

    Attributes:
        tokenizer: Cuts texts into the tokens of the vocabulary.
        weights: Arrays by their published names, such as ``encoder.layer.0.output.dense.weight``.
        layers: How many layers there are.
        heads: How many attention heads a layer has.
    """

    tokenizer: Tokenizer
    weights: Mapping[str, Matrix]
    layers: int
    heads: int

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors; texts of like length share a batch, so padding is slight."""
        tokens = [_opening(found.ids) for found in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        width = self.weights["embeddings.word_embeddings.weight"].shape[1]
        vectors = np.zeros((len(tokens), width), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._encode([tokens[at] for at in batch])
        return vectors

    def _encode(self, tokens: Sequence[Sequence[int]]) -> Matrix:
        longest = max(len(row) for row in tokens)
        ids = np.zeros((len(tokens), longest), dtype=np.int64)
        present = np.zeros((len(tokens), longest), dtype=np.float32)
        for at, row in enumerate(tokens):
            ids[at, : len(row)] = row
            present[at, : len(row)] = 1
        state = self.weights["embeddings.word_embeddings.weight"][ids]
        state = state + self.weights["embeddings.position_embeddings.weight"][:longest]
        state = state + self.weights["embeddings.token_type_embeddings.weight"][0]
        state = self._normed("embeddings.LayerNorm", state)
        unseen = ((1 - present) * np.float32(-1e9))[:, None, None, :]
        for layer in range(self.layers):
            state = self._layer(f"encoder.layer.{layer}", state, unseen)
        pooled = (state * present[:, :, None]).sum(axis=1) / present.sum(axis=1)[:, None]
        return cast(Matrix, pooled / np.linalg.norm(pooled, axis=1, keepdims=True))

    def _layer(self, name: str, state: Matrix, unseen: Matrix) -> Matrix:
        heard = self._dense(f"{name}.attention.output.dense", self._attend(name, state, unseen))
        state = self._normed(f"{name}.attention.output.LayerNorm", heard + state)
        inner = _gelu(self._dense(f"{name}.intermediate.dense", state))
        return self._normed(
            f"{name}.output.LayerNorm", self._dense(f"{name}.output.dense", inner) + state
        )

    def _attend(self, name: str, state: Matrix, unseen: Matrix) -> Matrix:
        texts, length, width = state.shape
        query, key, value = (
            self._dense(f"{name}.attention.self.{part}", state)
            .reshape(texts, length, self.heads, width // self.heads)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scale = np.float32((width // self.heads) ** -0.5)
        scores = query @ key.transpose(0, 1, 3, 2) * scale + unseen
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores = scores / scores.sum(axis=-1, keepdims=True)
        return cast(Matrix, (scores @ value).transpose(0, 2, 1, 3).reshape(texts, length, width))

    def _dense(self, name: str, state: Matrix) -> Matrix:
        return cast(Matrix, state @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def _normed(self, name: str, state: Matrix) -> Matrix:
        apart = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((apart**2).mean(axis=-1, keepdims=True) + _EPSILON)
        gain, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return cast(Matrix, apart / spread * gain + shift)


def _opening(ids: list[int]) -> list[int]:
    return ids if len(ids) <= _LONGEST else [*ids[: _LONGEST - 1], ids[-1]]


def _gelu(state: Matrix) -> Matrix:
    return cast(Matrix, state * np.float32(0.5) * (1 + erf(state * np.float32(0.5**0.5))))


def erf(value: Matrix) -> Matrix:
    """Return the error function (Abramowitz and Stegun 7.1.26, within 1.5e-7)."""
    size = np.abs(value)
    step = 1 / (1 + np.float32(0.3275911) * size)
    series = np.full_like(size, 1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * step + np.float32(term)
    return cast(Matrix, np.sign(value) * (1 - series * step * np.exp(-size * size)))
