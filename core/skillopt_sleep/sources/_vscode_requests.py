"""One request of a VS Code chat: what was typed, what came back, which tools ran.

Tool calls stand twice, as shown (``response``) and as the model made them (``toolCallRounds``,
which alone has the arguments). What was shown counts: the rounds also hold calls that never ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skillopt_sleep.model.record import CallEnded, SessionSeen, TurnSeen, UsageSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources._reading import Notes, count, instant, items, mapping, words
from skillopt_sleep.sources._tools import call, exit_code, failed

_COMMAND_PARTS = frozenset({"slash", "subcommand", "prompt"})
_NOT_TYPED = ("isSystemInitiated", "hiddenFromTranscript", "isHidden")
_CANCELLED = 2
_DENIED, _SKIPPED = 0, 5
_TEXT_DEPTH = 50
_KNOWN = frozenset(
    {
        "",
        "markdownContent",
        "markdownVuln",
        "thinking",
        "toolInvocationSerialized",
        "prepareToolInvocation",
        "toolInvocation",
        "inlineReference",
        "reference",
        "codeblockUri",
        "textEdit",
        "textEditGroup",
        "notebookEdit",
        "notebookEditGroup",
        "undoStop",
        "progressMessage",
        "progressTask",
        "progressTaskSerialized",
        "progressTaskResult",
        "command",
        "confirmation",
        "elicitation",
        "elicitationSerialized",
        "elicitation2",
        "mcpServersStarting",
        "mcpServersStartingSerialized",
        "questionCarousel",
        "warning",
        "treeData",
        "multiDiffData",
        "pullRequest",
        "extensions",
        "move",
        "clearToPreviousToolInvocation",
        "codeCitation",
        "usedContext",
        "workspaceEdit",
        "hook",
        "planReview",
        "autoModeResolution",
    }
)


class Request:
    """Notes one request and its response."""

    def __init__(self, notes: Notes, found: dict[str, Any], *, session: str, index: int) -> None:
        self._notes = notes
        self._found = found
        self._session = session
        self._index = index
        self._id = words(found.get("requestId")) or f"request {index}"
        self._at = instant(found.get("timestamp"))
        self._version = words(mapping(found.get("agent")).get("extensionVersion"))
        self._outcome = mapping(mapping(found.get("result")).get("metadata"))

    def note(self) -> None:
        """Note the facts, the human's words, the reply, its calls and its tokens."""
        self._notes.add(
            SessionSeen(
                session=self._session,
                version=self._version,
                model=words(self._found.get("modelId")),
                at=self._at,
            )
        )
        self._typed()
        said = [self._part(mapping(part)) for part in items(self._found.get("response"))]
        self._turn(TurnKind.ASSISTANT, "".join(said).strip(), ":reply")
        self._calls()
        state = mapping(self._found.get("modelState")).get("value")
        if self._found.get("isCanceled") is True or state == _CANCELLED:
            self._turn(TurnKind.INTERRUPT, "", ":stopped")
        self._usage()

    def _typed(self) -> None:
        message = self._found.get("message")
        text = words(message) or words(mapping(message).get("text"))
        machine = any(self._found.get(field) is True for field in _NOT_TYPED)
        if machine or self._found.get("confirmation") or not text.strip():
            return
        parts = [mapping(part).get("kind") for part in items(mapping(message).get("parts"))]
        slash = self._found.get("slashCommand") or not _COMMAND_PARTS.isdisjoint(
            kind for kind in parts if isinstance(kind, str)
        )
        variables = items(mapping(self._found.get("variableData")).get("variables"))
        pasted = [v for v in map(mapping, variables) if v.get("kind") == "paste"]
        blocks = [words(one.get("code")) or words(one.get("value")) for one in pasted]
        kind = TurnKind.COMMAND if slash else TurnKind.PROMPT
        self._turn(kind, text, "", pasted=tuple(block for block in blocks if block))

    def _turn(
        self, kind: TurnKind, text: str, suffix: str, *, pasted: tuple[str, ...] = ()
    ) -> None:
        if not text and kind not in (TurnKind.INTERRUPT, TurnKind.REJECTION):
            return
        self._notes.add(
            TurnSeen(
                session=self._session,
                key=self._id + suffix,
                kind=kind,
                text=text,
                line=self._index,
                at=self._at,
                pasted=pasted,
            )
        )

    def _part(self, part: dict[str, Any]) -> str:
        """Return the text of one part of the response; note the human's answers in it."""
        kind = words(part.get("kind"))
        if kind == "questionCarousel":
            for number, answer in enumerate(_answers(mapping(part.get("data")))):
                suffix = f":{words(part.get('resolveId'))}:{number}"
                self._turn(TurnKind.REMARK, answer, suffix)
        if kind not in _KNOWN:
            self._notes.skip(self._version, f"response part {kind}")
        if kind not in ("", "markdownContent", "markdownVuln"):
            return ""
        for held in (part.get("value"), part.get("content")):
            if text := words(held) or words(mapping(held).get("value")):
                return text
        return ""

    def _calls(self) -> None:
        made = [mapping(c) for r in items(self._outcome.get("toolCallRounds")) for c in _made(r)]
        shown = [mapping(part) for part in items(self._found.get("response"))]
        shown = [part for part in shown if part.get("kind") == "toolInvocationSerialized"]
        for part in shown:
            self._shown(part, _taken(made, part))
        for one in made if not shown else []:
            self._call(self._session, words(one.get("id")), one, name=words(one.get("name")))

    def _shown(self, part: dict[str, Any], made: dict[str, Any]) -> None:
        session = self._session
        if agent := words(part.get("subAgentInvocationId")):
            session = f"{self._session}/{agent}"
            self._notes.add(
                SessionSeen(session=session, origin=Origin.SUBAGENT, parent=self._session)
            )
        special = mapping(part.get("toolSpecificData"))
        given: dict[str, Any] = {"name": words(part.get("toolId")), **made}
        if "arguments" not in given:
            given["arguments"] = special.get("rawInput") or mapping(part.get("resultDetails")).get(
                "input"
            )
        if special.get("kind") == "terminal" and not given["arguments"]:
            line = mapping(special.get("commandLine"))
            edited = words(line.get("userEdited")) or words(line.get("toolEdited"))
            typed = edited or words(line.get("original")) or words(special.get("command"))
            given["arguments"] = {"command": typed}
        id = words(part.get("toolCallId")) or words(made.get("id"))
        self._call(session, id, given, name=words(part.get("toolId")), part=part)

    def _call(
        self,
        session: str,
        id: str,
        made: dict[str, Any],
        *,
        name: str,
        part: dict[str, Any] | None = None,
    ) -> None:
        if not id:
            return
        arguments = made.get("arguments")
        self._notes.add(call(session, id, name, arguments=arguments, line=self._index, at=self._at))
        shown = part or {}
        details = mapping(shown.get("resultDetails"))
        terminal = mapping(mapping(shown.get("toolSpecificData")).get("terminalCommandState"))
        code = exit_code(terminal.get("exitCode"))
        refused = mapping(shown.get("isConfirmed")).get("type") in (_DENIED, _SKIPPED)
        refused = refused or shown.get("isConfirmed") is False
        came = mapping(self._outcome.get("toolCallResults")).get(words(made.get("id")))
        if refused:
            self._turn(TurnKind.REJECTION, "", f":{id}:refused")
        self._notes.add(
            CallEnded(
                session=session,
                id=id,
                output="\n".join(_texts(came or details.get("output"))),
                error=True if refused else failed(flag=details.get("isError"), exit_code=code),
                refused=refused or None,
                exit_code=code,
            )
        )

    def _usage(self) -> None:
        told = mapping(mapping(self._found.get("result")).get("usage"))
        given = count(told.get("promptTokens")) or count(self._outcome.get("promptTokens"))
        spent = count(told.get("completionTokens")) or count(self._outcome.get("outputTokens"))
        spent = spent or count(self._found.get("completionTokens"))
        if given or spent:
            self._notes.add(
                UsageSeen(
                    session=self._session,
                    key=self._id,
                    model=words(self._found.get("modelId")),
                    at=self._at,
                    input_tokens=given,
                    output_tokens=spent,
                )
            )


def _made(round_: object) -> list[Any]:
    return items(mapping(round_).get("toolCalls"))


def _taken(made: list[dict[str, Any]], part: dict[str, Any]) -> dict[str, Any]:
    """Take from ``made`` the call that ``part`` shows: the same id, else the next of its name."""
    id, name = words(part.get("toolCallId")), _plain(words(part.get("toolId")))
    by_id = [one for one in made if id and words(one.get("id")).split("__vscode")[0] == id]
    by_name = [one for one in made if _plain(words(one.get("name"))) == name]
    for one in (by_id or by_name)[:1]:
        made.remove(one)
        return one
    return {}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.removeprefix("copilot_").lower())


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a tool's result, which may be a tree of rendered nodes."""
    if depth > _TEXT_DEPTH:
        return
    if isinstance(value, str):
        if depth == 0:
            yield words(value)
        return
    for one in items(value):
        yield from _texts(one, depth + 1)
    held = mapping(value)
    for key in ("text", "value"):
        if text := words(held.get(key)):
            yield text
    for key in ("content", "value", "node", "children"):
        if isinstance(held.get(key), (dict, list)):
            yield from _texts(held[key], depth + 1)


def _answers(given: dict[str, Any]) -> Iterator[str]:
    for answer in given.values():
        chosen = mapping(answer)
        text = words(answer) or words(chosen.get("freeformValue"))
        yield (
            text
            or words(chosen.get("selectedValue"))
            or "\n".join(words(one) for one in items(chosen.get("selectedValues")))
        )
