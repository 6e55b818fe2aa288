"""JSON settings with our keys put in or taken out; other keys, their order and indent stay.

Pure text to text; knows no harness.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from skillopt_sleep.errors import ConfigError

Json = dict[str, Any]


def parse(path: str, text: str | None) -> Json:
    """Return the object a file holds; nothing or blank text is an empty one.

    Raises:
        ConfigError: It is not a JSON object.
    """
    if text is None or not text.strip():
        return {}
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path!r} is not plain JSON (line {error.lineno}: {error.msg}), nothing was changed;"
            " mend it and install again"
        ) from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path!r} holds {type(found).__name__}, not a JSON object; mend it")
    return cast("Json", found)


def render(tree: Json, like: str | None) -> str:
    """Return ``tree`` as text with the indent and the final newline of ``like``."""
    indent = 2
    for line in (like or "").splitlines()[1:]:
        if line.strip():
            indent = max(1, len(line) - len(line.lstrip(" "))) if line.startswith(" ") else 2
            break
    tabbed = "\n\t" in (like or "")
    text = json.dumps(tree, indent="\t" if tabbed else indent, ensure_ascii=False)
    return text + ("\n" if like is None or like.endswith("\n") or not like else "")


def put(tree: Json, keys: Sequence[str], value: object) -> None:
    """Set a nested key, making the objects on the way.

    Raises:
        ConfigError: Something else than an object stands on the way.
    """
    node = tree
    for key in keys[:-1]:
        below = node.setdefault(key, {})
        if not isinstance(below, dict):
            raise ConfigError(f"the key {key!r} holds {below!r}, not an object; mend it by hand")
        node = cast("Json", below)
    node[keys[-1]] = value


def take(tree: Json, keys: Sequence[str]) -> None:
    """Remove a nested key, and the objects on the way that are empty then."""
    if len(keys) == 1:
        tree.pop(keys[0], None)
        return
    below = tree.get(keys[0])
    if isinstance(below, dict):
        take(cast("Json", below), keys[1:])
        if not below:
            tree.pop(keys[0])
