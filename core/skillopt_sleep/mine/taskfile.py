"""Task files that a person reviews: one JSON object a line, written and read back.

What a person sends back counts as reviewed. A wrong line refuses the whole file and is named.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import orjson
import regex
from pydantic import TypeAdapter, ValidationError

from skillopt_sleep.codec import plain
from skillopt_sleep.errors import TaskFileError
from skillopt_sleep.mine.checks import check_id
from skillopt_sleep.model.check import Check, Evidence, Operator, Validity
from skillopt_sleep.model.task import Split, Task

_HEAD = (
    "# One task a line; lines that begin with # are passed over. Edit prompt, context, checks,\n"
    "# reference or split, delete a line, or add one with a new id. A check needs an operator and\n"
    "# a value, its id and the rest are filled in. Operators: {operators}\n"
)
_TASK = TypeAdapter(Task)
_COUNTS = (Operator.MAX_WORDS, Operator.MIN_WORDS)
_PATTERNS = (Operator.REGEX, Operator.NOT_REGEX)
_ORDER = ("id", "prompt", "context", "checks", "split", "cluster")


def export_tasks(tasks: Sequence[Task]) -> str:
    """Return ``tasks`` as a file for review, with a head that says how to edit it."""
    head = _HEAD.format(operators=", ".join(operator.value for operator in Operator))
    lines = [orjson.dumps(_ordered(plain(task))).decode() for task in tasks]
    return head + "".join(f"{line}\n" for line in lines)


def _ordered(task: Mapping[str, Any]) -> dict[str, Any]:
    return {key: task[key] for key in (*_ORDER, *(k for k in task if k not in _ORDER))}


def import_tasks(text: str) -> tuple[Task, ...]:
    """Return the tasks of a reviewed file; their checks are marked as reviewed or proven.

    Raises:
        TaskFileError: A line is wrong; the error names it.
    """
    tasks: dict[str, Task] = {}
    sides: dict[str, Split] = {}
    # Not splitlines: a raw U+2028 inside a JSON string would tear its line apart.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        task = _read(line, number)
        if task.id in tasks:
            raise _wrong(number, f"the id {task.id!r} for the second time", "an id of its own")
        side = sides.setdefault(task.session, task.split) if task.session else task.split
        if side is not task.split:
            raise _wrong(
                number,
                f"the split {task.split.value!r} for a session that is on {side.value!r} above",
                "one side for all tasks of a session",
            )
        tasks[task.id] = task
    return tuple(tasks.values())


def _read(line: str, number: int) -> Task:
    try:
        found: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _wrong(number, f"no JSON ({error})", "one JSON object") from error
    if not isinstance(found, dict):
        raise _wrong(number, f"{type(found).__name__!r} in JSON", "one JSON object")
    tree = cast("dict[str, Any]", found)
    _known(tree, Task, number, "")
    for place, check in enumerate(_objects(tree.get("checks"))):
        _complete(check, number, f"checks[{place}].")
    if "id" in tree:
        tree.setdefault("cluster", tree["id"])
    try:
        task = _TASK.validate_json(orjson.dumps(tree))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "task"
        raise _wrong(number, f"trouble at {where!r} ({first['msg']})", "a valid value") from error
    return _reviewed(_sound(task, number))


def _complete(check: dict[str, Any], number: int, where: str) -> None:
    _known(check, Check, number, where)
    for evidence in _objects(check.get("evidence")):
        _known(evidence, Evidence, number, f"{where}evidence.")
    if "id" not in check and check.get("operator") in set(Operator):
        check["id"] = check_id(Operator(check["operator"]), str(check.get("value", "")))


def _objects(value: object) -> list[dict[str, Any]]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in listed if isinstance(item, dict)]


def _known(tree: Mapping[str, Any], kind: type[Any], number: int, where: str) -> None:
    names = [field.name for field in fields(kind)]
    for key in tree:
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            wanted = repr(near[0]) if near else f"one of {', '.join(names)}"
            raise _wrong(number, f"the unknown field {where + key!r}", wanted)


def _sound(task: Task, number: int) -> Task:
    if not task.id.strip() or not task.prompt.strip():
        raise _wrong(number, "an empty id or prompt", "both")
    ids = [check.id for check in task.checks]
    if len(set(ids)) < len(ids):
        raise _wrong(number, "two checks with the same id", "an id for each")
    for check in task.checks:
        if check.operator in _COUNTS and not check.value.isdigit():
            raise _wrong(number, f"{check.operator.value} {check.value!r}", "a whole number")
        if check.operator in _PATTERNS:
            try:
                regex.compile(check.value)
            except regex.error as error:
                raise _wrong(
                    number, f"the pattern {check.value!r} ({error})", "a regular expression"
                ) from error
    return task


def _reviewed(task: Task) -> Task:
    def marked(check: Check) -> Check:
        if check.validity is Validity.UNPROVEN:
            return replace(check, validity=Validity.REVIEWED)
        return check

    return replace(task, checks=tuple(marked(check) for check in task.checks))


def _wrong(line: int, found: str, wanted: str) -> TaskFileError:
    return TaskFileError(
        f"line {line} has {found}; wanted {wanted}; correct that line and import again", line=line
    )
