"""Nouns to JSON text and back, through pydantic's ``TypeAdapter``; knows no noun by name."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar, cast

import orjson
from pydantic import TypeAdapter

T = TypeVar("T")


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    # Building one costs milliseconds; two threads that build the same one do no harm.
    found = _ADAPTERS.get(kind)
    if found is None:
        found = _ADAPTERS[kind] = TypeAdapter(kind)
    return found


def encode(noun: object) -> str:
    """Return ``noun`` (a dataclass of this package) as a JSON text with every field."""
    return _adapter(type(noun)).dump_json(noun).decode()


def decode(kind: type[T], text: str | bytes) -> T:
    """Return the noun of type ``kind`` that ``text`` holds.

    Raises:
        pydantic.ValidationError: The text is not one.
    """
    return cast("T", _adapter(kind).validate_json(text))


def plain(noun: object) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Return ``noun`` as dicts, lists and scalars that ``json`` can write."""
    return _adapter(type(noun)).dump_python(noun, mode="json")


def digest(*parts: object) -> str:
    """Return a stable hash, 24 hex digits, of JSON-like values or dataclasses of them."""
    blob = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.sha256(blob).hexdigest()[:24]


def text_hash(text: str | bytes | None) -> str:
    """Return the sha256 of a document's bytes as hex, or "" for no document."""
    if text is None:
        return ""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
