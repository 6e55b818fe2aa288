"""JSON settings, comments and trailing commas included, changed in place.

Only the text of what changes moves; all else keeps its bytes. Also reads the unquoted keys and
single quotes of JSON5. Pure text to text; knows no harness.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from skillopt_sleep.errors import ConfigError

_TRIVIA = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_WORD = re.compile(r"[\w$+\-.]+")
_NUMBER = re.compile(r"[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)")
_DEEPEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One member of an object or item of an array.

    Attributes:
        key: Its key, "" in an array.
        start: Where its text begins, key included.
        node: What it holds.
    """

    key: str
    start: int
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and where its text stands.

    Attributes:
        start: Its first character.
        end: One past its last character.
        value: The value itself.
        slots: What it holds, in order.
    """

    start: int
    end: int
    value: Any
    slots: tuple[Slot, ...] = ()


def scan(path: str, text: str) -> Node:
    """Return the object that a text holds; blank text is an empty object.

    Raises:
        ConfigError: It is not JSON, with or without comments, or holds no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        return Node(start=len(text), end=len(text), value={})
    reader = _Reader(path, text)
    found = reader.node(reader.after_trivia(0), 0)
    end = reader.after_trivia(found.end)
    if end != len(text):
        reader.fail(end, "text after the end")
    if not isinstance(found.value, dict):
        raise ConfigError(f"{path!r} holds {type(found.value).__name__}, not an object; mend it")
    return found


def get(path: str, text: str, keys: Sequence[str]) -> Any:  # noqa: ANN401 - JSON has no type
    """Return the value at nested keys, or None where there is none."""
    found = _walk(scan(path, text), keys)
    return None if found is None else found.value


def put(path: str, text: str, keys: Sequence[str], value: object) -> str:
    """Return ``text`` with a nested key set, objects on the way made.

    Raises:
        ConfigError: It is not JSON, or something else than an object stands on the way.
    """
    node = scan(path, text)
    if node.end == node.start:
        return json.dumps(_nested(keys, value), indent=2, ensure_ascii=False) + "\n"
    for depth, key in enumerate(keys):
        if not isinstance(node.value, dict):
            raise ConfigError(
                f"{path!r} holds {node.value!r} where an object was wanted above {key!r};"
                " mend it by hand"
            )
        slot = _member(node, key)
        if slot is None:
            return _insert(text, node, key, _nested(keys[depth + 1 :], value))
        node = slot.node
    if node.value == value:
        return text
    return text[: node.start] + _rendered(text, node.start, value) + text[node.end :]


def append(path: str, text: str, keys: Sequence[str], value: object) -> str:
    """Return ``text`` with an item at the end of a nested array, which is made if need be.

    Raises:
        ConfigError: It is not JSON, or no array stands there.
    """
    node = _walk(scan(path, text), keys)
    if node is None:
        return put(path, text, keys, [value])
    if not isinstance(node.value, list):
        raise ConfigError(f"{path!r} holds {node.value!r} at {keys[-1]!r}, not an array; mend it")
    return _insert(text, node, "", value)


def drop(path: str, text: str, keys: Sequence[str]) -> str:
    """Return ``text`` without a nested key and without objects that are empty then.

    Raises:
        ConfigError: It is not JSON.
    """
    chain = list(_chain(scan(path, text), keys))
    if len(chain) < len(keys):
        return text
    depth = len(keys) - 1
    while depth > 0 and len(chain[depth][0].slots) == 1:
        depth -= 1
    return _without(text, *chain[depth])


def drop_items(path: str, text: str, keys: Sequence[str], ours: Callable[[Any], bool]) -> str:
    """Return ``text`` without the items of a nested array that are ``ours``.

    An array that is empty then goes too.

    Raises:
        ConfigError: It is not JSON.
    """
    while True:
        node = _walk(scan(path, text), keys)
        if node is None or not isinstance(node.value, list):
            return text
        found = next((slot for slot in node.slots if ours(slot.node.value)), None)
        if found is None:
            return text
        if len(node.slots) == 1:
            return drop(path, text, keys)
        text = _without(text, node, found)


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _member(node: Node, key: str) -> Slot | None:
    return next((slot for slot in reversed(node.slots) if slot.key == key), None)


def _chain(node: Node, keys: Sequence[str]) -> Iterator[tuple[Node, Slot]]:
    for key in keys:
        slot = _member(node, key) if isinstance(node.value, dict) else None
        if slot is None:
            return
        yield node, slot
        node = slot.node


def _walk(node: Node, keys: Sequence[str]) -> Node | None:
    chain = list(_chain(node, keys))
    return chain[-1][1].node if len(chain) == len(keys) else None


def _insert(text: str, node: Node, key: str, value: object) -> str:
    """Put a slot behind the last one, in the manner of those that are there."""
    close = node.end - 1
    label = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if not node.slots:
        inner = _unit(text) + _indent(text, node.start)
        body = text[node.start + 1 : close].rstrip()
        member = label + _lines(text, value, inner)
        newline = _newline(text)
        closing = f"{newline}{_indent(text, node.start)}"
        return f"{text[: node.start + 1]}{body}{newline}{inner}{member}{closing}{text[close:]}"
    last = node.slots[-1].node.end
    at = close - (len(text[last:close]) - len(text[last:close].rstrip()))
    comma = _comma(text, last)
    first = node.slots[0].start
    if "\n" in text[node.start : first]:
        inner = _indent(text, first)
        member = f"{_newline(text)}{inner}{label}{_lines(text, value, inner)}"
    else:
        member = f" {label}{json.dumps(value, ensure_ascii=False)}"
    if comma is not None:
        return f"{text[:at]}{member},{text[at:]}"
    return f"{text[:last]},{text[last:at]}{member}{text[at:]}"


def _without(text: str, node: Node, slot: Slot) -> str:
    """Take a slot out with the white space before it and the comma that is too many then."""
    at = node.slots.index(slot)
    comma = _comma(text, slot.node.end)
    end = slot.node.end if comma is None else comma + 1
    head = text[: slot.start].rstrip()
    if comma is None and at > 0:
        before = node.slots[at - 1].node.end
        spare = _comma(text, before)
        if spare is not None:
            head = text[:spare] + text[spare + 1 : len(head)]
    tail = text[end:]
    if len(node.slots) == 1 and not tail[: node.end - 1 - end].strip():
        tail = tail[node.end - 1 - end :]
    return head + tail


def _comma(text: str, at: int) -> int | None:
    found = _TRIVIA.match(text, at)
    place = found.end() if found else at
    return place if text[place : place + 1] == "," else None


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _lines(text: str, value: object, indent: str) -> str:
    rendered = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return rendered.replace("\n", _newline(text) + indent)


def _rendered(text: str, at: int, value: object) -> str:
    return _lines(text, value, _indent(text, at))


class _Reader:
    """Reads one text; positions are those of the text."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    def after_trivia(self, at: int) -> int:
        found = _TRIVIA.match(self._text, at)
        return found.end() if found else at

    def fail(self, at: int, what: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        raise ConfigError(
            f"{self._path!r} is not JSON (line {line}: {what}), nothing was changed;"
            " mend it and install again"
        )

    def node(self, at: int, depth: int) -> Node:
        sign = self._text[at : at + 1]
        if sign in {"{", "["} and depth < _DEEPEST:
            return self._container(at, depth)
        found = _STRING.match(self._text, at)
        if found:
            return Node(start=at, end=found.end(), value=_unquoted(found.group()))
        found = _WORD.match(self._text, at)
        word = found.group() if found else ""
        if word not in {"true", "false", "null"} and not _NUMBER.fullmatch(word):
            self.fail(at, "a value was wanted")
        return Node(start=at, end=at + len(word), value=_scalar(word))

    def _container(self, start: int, depth: int) -> Node:
        keyed = self._text[start] == "{"
        close = "}" if keyed else "]"
        slots: list[Slot] = []
        at = self.after_trivia(start + 1)
        while self._text[at : at + 1] != close:
            slot = self._slot(at, depth, keyed=keyed)
            slots.append(slot)
            at = self.after_trivia(slot.node.end)
            if self._text[at : at + 1] == ",":
                at = self.after_trivia(at + 1)
            elif self._text[at : at + 1] != close:
                self.fail(at, f"',' or {close!r} was wanted")
        held: Any = [slot.node.value for slot in slots]
        if keyed:
            held = {slot.key: slot.node.value for slot in slots}
        return Node(start=start, end=at + 1, value=held, slots=tuple(slots))

    def _slot(self, at: int, depth: int, *, keyed: bool) -> Slot:
        if not keyed:
            return Slot(key="", start=at, node=self.node(at, depth + 1))
        found = _STRING.match(self._text, at) or _WORD.match(self._text, at)
        if found is None:
            self.fail(at, "a key was wanted")
        token = found.group()
        key = _unquoted(token) if token[:1] in {'"', "'"} else token
        colon = self.after_trivia(at + len(token))
        if self._text[colon : colon + 1] != ":":
            self.fail(colon, f"':' was wanted after {key!r}")
        node = self.node(self.after_trivia(colon + 1), depth + 1)
        return Slot(key=key, start=at, node=node)


def _unquoted(token: str) -> str:
    if token.startswith("'"):
        token = '"' + token[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return cast("str", json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def _scalar(word: str) -> object:
    try:
        return cast("object", json.loads(word))
    except ValueError:
        # One of JSON5's own numbers; we compare such values and never write them.
        return word
