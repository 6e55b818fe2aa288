"""Reads ATIF documents (v1.x): Devin's transcripts and, by file, Harbor's trajectories.

One JSON document holds one trajectory. A user step that follows a hand-off to subagents is their
answer, a copied step stands elsewhere; neither is a prompt. The format has no error flag.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from skillopt_sleep.model.record import CallEnded, Cursor, Reading, SessionSeen, TurnSeen, UsageSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._places import globbed
from skillopt_sleep.sources._reading import (
    Notes,
    as_json,
    count,
    document,
    document_cursor,
    instant,
    items,
    mapping,
    words,
)
from skillopt_sleep.sources._tools import (
    call,
    exit_code,
    failed,
    is_command,
    text_of,
)
from skillopt_sleep.world import World

_PLACES = (
    ".local/share/devin/cli/transcripts",
    "Library/Application Support/devin/cli/transcripts",
)
_MAX_DEPTH = 20
_SOURCES = frozenset({"user", "agent", "system"})


class DevinSource:
    """Reads one ATIF document a file."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "devin"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every transcript under the home, sorted.

        Raises:
            SourceError: The transcripts folder may not be listed.
        """
        for place in _PLACES:
            yield from globbed(world.roots.home / place, "*.json")

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the whole document, whatever ``cursor`` says.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no ATIF document.
        """
        found = document(path)
        documents = [mapping(one) for one in (items(found) or [found])]
        documents = [one for one in documents if isinstance(one.get("steps"), list)]
        if not documents:
            raise ValueError("the file has no steps; wanted an ATIF trajectory")
        notes = Notes()
        for one in documents:
            parent = words(mapping(mapping(one.get("agent")).get("extra")).get("parent_session_id"))
            subagent = bool(parent) or _handed_off(path)
            _Trajectory(notes, one, session=_identity(one, path)).note(
                origin=Origin.SUBAGENT if subagent else None, parent=parent, depth=0
            )
        at = document_cursor(path)
        return notes.reading(at, bytes_read=at.offset, whole=True)


class _Trajectory:
    """Notes one trajectory as one session."""

    def __init__(self, notes: Notes, found: dict[str, Any], *, session: str) -> None:
        self._notes = notes
        self._found = found
        self._session = session
        self._agent = mapping(found.get("agent"))
        self._version = words(found.get("schema_version"))
        self._model = words(self._agent.get("model_name"))

    def note(self, *, origin: Origin | None, parent: str, depth: int) -> None:
        """Note the session, its steps and the trajectories inside it."""
        where = {**mapping(self._agent.get("extra")), **mapping(self._found.get("extra"))}
        cwd = words(where.get("cwd")) or words(where.get("working_directory"))
        name = f"{words(self._agent.get('name'))} {words(self._agent.get('version'))}".strip()
        self._notes.add(
            SessionSeen(
                session=self._session,
                origin=origin or (Origin.OWN if is_own(cwd) else None),
                parent=parent,
                cwd=cwd,
                branch=words(where.get("git_branch")) or words(where.get("branch")),
                commit=words(where.get("git_commit")) or words(where.get("commit")),
                version=", ".join(part for part in (self._version, name) if part),
                model=self._model,
            )
        )
        self._steps(human=origin is not Origin.SUBAGENT)
        for number, inner in enumerate(items(self._found.get("subagent_trajectories"))):
            found = mapping(inner)
            id = words(found.get("trajectory_id")) or words(found.get("session_id")) or str(number)
            if depth < _MAX_DEPTH:
                _Trajectory(self._notes, found, session=f"{self._session}/{id}").note(
                    origin=Origin.SUBAGENT, parent=self._session, depth=depth + 1
                )

    def _steps(self, *, human: bool) -> None:
        handed_off = False
        for index, value in enumerate(items(self._found.get("steps"))):
            step = mapping(value)
            source = words(step.get("source"))
            if source not in _SOURCES:
                self._notes.skip(self._version, f"step from {source or 'nobody'}")
                continue
            line = count(step.get("step_id")) or index + 1
            if at := instant(step.get("timestamp")):
                self._notes.saw(self._session, at)
            if source == "user":
                self._user(step, line, human=human and not handed_off)
            elif source == "agent":
                self._turn(TurnKind.ASSISTANT, step, line)
                handed_off = False
            handed_off = handed_off or _refers_to_subagents(step)
            if step.get("is_copied_context") is not True:
                self._calls(step, line)
                self._usage(step, line)

    def _user(self, step: dict[str, Any], line: int, *, human: bool) -> None:
        text = text_of(step.get("message"))
        if human and text.strip():
            self._turn(TurnKind.COMMAND if is_command(text) else TurnKind.PROMPT, step, line)

    def _turn(self, kind: TurnKind, step: dict[str, Any], line: int) -> None:
        text = text_of(step.get("message"))
        if text and step.get("is_copied_context") is not True:
            self._notes.add(
                TurnSeen(
                    session=self._session,
                    key=f"step {line}",
                    kind=kind,
                    text=text,
                    line=line,
                    at=instant(step.get("timestamp")),
                )
            )

    def _calls(self, step: dict[str, Any], line: int) -> None:
        at = instant(step.get("timestamp"))
        ids: list[str] = []
        for number, made in enumerate(map(mapping, items(step.get("tool_calls")))):
            id = words(made.get("tool_call_id")) or f"{line}.{number}"
            ids.append(id)
            name = words(made.get("function_name"))
            self._notes.add(
                call(self._session, id, name, arguments=made.get("arguments"), line=line, at=at)
            )
        results = _results(step)
        for number, came in enumerate(results):
            id = words(came.get("source_call_id"))
            if not id and len(ids) in (1, len(results)):
                id = ids[min(number, len(ids) - 1)]
            if id:
                self._ended(id, came, at)

    def _ended(self, id: str, came: dict[str, Any], at: datetime | None) -> None:
        said = {**mapping(came.get("extra")), **came}
        code = exit_code(said.get("exit_code", said.get("exitCode")))
        flag = said.get("is_error", said.get("isError"))
        if isinstance(success := said.get("success"), bool) and not isinstance(flag, bool):
            flag = not success
        content = came.get("content")
        self._notes.add(
            CallEnded(
                session=self._session,
                id=id,
                output=text_of(content) or ("" if content is None else as_json(content)),
                error=failed(flag=flag, exit_code=code),
                exit_code=code,
                at=at,
            )
        )

    def _usage(self, step: dict[str, Any], line: int) -> None:
        metrics = mapping(step.get("metrics"))
        model = words(step.get("model_name")) or self._model
        if model and self._notes.first_of_model(self._session, model):
            self._notes.add(SessionSeen(session=self._session, model=model))
        given, cached = count(metrics.get("prompt_tokens")), count(metrics.get("cached_tokens"))
        if given or metrics.get("completion_tokens"):
            self._notes.add(
                UsageSeen(
                    session=self._session,
                    key=f"{self._session}:{line}",
                    model=model,
                    at=instant(step.get("timestamp")),
                    input_tokens=max(0, given - cached),
                    output_tokens=count(metrics.get("completion_tokens")),
                    cache_read_tokens=cached,
                )
            )


def _identity(found: dict[str, Any], path: Path) -> str:
    # Producers reuse a session id over runs; copies of one session begin alike, other runs do not.
    session = words(found.get("trajectory_id")) or words(found.get("session_id"))
    if not session or session in path.stem:
        return session or path.stem
    steps = [mapping(step) for step in items(found.get("steps"))]
    first = next((text_of(s.get("message")) for s in steps if s.get("source") == "user"), "")
    began = f"{words(mapping(found.get('agent')).get('name'))}\n{first}"
    return f"{session}-{hashlib.blake2b(began.encode(), digest_size=4).hexdigest()}"


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [mapping(one) for one in items(mapping(step.get("observation")).get("results"))]


def _refers_to_subagents(step: dict[str, Any]) -> bool:
    return any(came.get("subagent_trajectory_ref") for came in _results(step))


def _handed_off(path: Path) -> bool:
    """Return whether a trajectory, whose name begins this one's, refers to it as a subagent's."""
    name = path.name
    while "." in (name := name.removesuffix(".json")):
        name = f"{name.rpartition('.')[0]}.json"
        try:
            steps = items(mapping(document(path.with_name(name))).get("steps"))
        except (OSError, ValueError):
            continue
        results = [came for step in steps for came in _results(mapping(step))]
        refs = [mapping(r) for came in results for r in items(came.get("subagent_trajectory_ref"))]
        named = [Path(words(ref.get("trajectory_path"))).name for ref in refs]
        return any(ref and path.name.endswith(ref) for ref in named)
    return False


_CONFORMS: type[Source] = DevinSource
