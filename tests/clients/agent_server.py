"""A model server on 127.0.0.1 for agent CLIs: streamed replies and tool calls in three formats.

Anthropic Messages, OpenAI Responses and OpenAI Chat Completions. What it says is decided by a
function of the request; it remembers every request that reached it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the client advertises it."""

    name: str
    kind: str = "function"
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request; ``prompt`` is all text of the user's, ``results`` all that tools said."""

    number: int
    api: str
    model: str
    prompt: str
    results: tuple[str, ...]
    tools: tuple[Tool, ...]
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    def tool(self, *names: str) -> Tool:
        """Return the first advertised tool that has one of these names."""
        found = [tool for name in names for tool in self.tools if tool.name == name]
        assert found, f"none of {names} among {[tool.name for tool in self.tools]}"
        return found[0]


@dataclass(frozen=True, slots=True)
class Say:
    """Words, and the end of the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; free text for a custom tool."""

    tool: Tool
    arguments: Mapping[str, Any] | str

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Refuse:
    """An HTTP status that is no success."""

    code: int
    message: str = "trouble"


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the server is closed."""


Turn = Say | Call | Refuse | Hang
Mind = Callable[[Heard], Turn]

_PATHS = {"/messages": "messages", "/responses": "responses", "/chat/completions": "chat"}
_IN, _OUT = 100, 7


class AgentServer(ThreadingHTTPServer):
    """The server itself; use ``agent_server``."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, mind: Mind) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.mind = mind
        self.heard: list[Heard] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients hang up as they like."""


@contextmanager
def agent_server(mind: Mind) -> Generator[AgentServer]:
    """Serve until the block ends."""
    server = AgentServer(mind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def agents(self) -> AgentServer:
        return cast("AgentServer", self.server)

    def do_HEAD(self) -> None:
        self._json(200, b"")

    def do_GET(self) -> None:
        model = {"id": "loopback-1", "object": "model", "created": 0, "owned_by": "tests"}
        self._json(200, json.dumps({"object": "list", "data": [model]}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._json(200, json.dumps({"input_tokens": _IN}).encode())
            return
        api = next((api for end, api in _PATHS.items() if path.endswith(end)), "")
        if not api:
            self._json(404, b'{"error": {"message": "no such path"}}')
            return
        with self.agents.lock:
            headers = {name.lower(): value for name, value in self.headers.items()}
            heard = _heard(len(self.agents.heard), api, body, headers)
            self.agents.heard.append(heard)
        self._respond(heard, self.agents.mind(heard))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _respond(self, heard: Heard, turn: Turn) -> None:
        match turn:
            case Refuse(code, message):
                error = {"type": "error", "error": {"type": "t", "message": message}}
                self._json(code, json.dumps(error).encode())
            case Hang():
                self.agents.closing.wait(60)
                self.close_connection = True
            case Say() | Call():
                whole, events = _WIRES[heard.api](heard, turn)
                if heard.body.get("stream"):
                    self._stream(heard.api, events)
                else:
                    self._json(200, json.dumps(whole).encode())

    def _json(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, api: str, events: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if api != "chat" else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if api == "chat":
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def _heard(number: int, api: str, body: dict[str, Any], headers: dict[str, str]) -> Heard:
    said = list(_said(api, body))
    return Heard(
        number=number,
        api=api,
        model=str(body.get("model", "")),
        prompt="\n".join(text for kind, text in said if kind == "user"),
        results=tuple(text for kind, text in said if kind == "tool"),
        tools=tuple(_tools(body)),
        body=body,
        headers=headers,
    )


def _said(api: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one in body.get("input" if api == "responses" else "messages", ()):
        if str(one.get("type", "")).endswith("_call_output"):
            yield "tool", _words(one.get("output"))
        elif one.get("role") == "tool":
            yield "tool", _words(one.get("content"))
        elif one.get("role") == "user":
            yield from _blocks(one["content"])


def _blocks(content: str | list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    if isinstance(content, str):
        yield "user", content
        return
    for block in content:
        if block.get("type") == "tool_result":
            yield "tool", _words(block.get("content"))
        elif "text" in block and not block["text"].lstrip().startswith("<system-reminder>"):
            yield "user", str(block["text"])


def _words(content: Any) -> str:  # noqa: ANN401 - text or blocks of it
    if isinstance(content, list):
        blocks = cast("list[dict[str, Any]]", content)
        return "".join(str(block.get("text", "")) for block in blocks)
    return str(content or "")


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for one in body.get("tools") or ():
        if one.get("type") == "namespace":
            yield from (Tool(t["name"], t.get("type", ""), one["name"]) for t in one["tools"])
        elif "function" in one:
            yield Tool(one["function"]["name"])
        else:
            yield Tool(one.get("name", one.get("type", "")), one.get("type", "function"))


Wire = tuple[dict[str, Any], Iterator[dict[str, Any]]]


def _messages(heard: Heard, turn: Say | Call) -> Wire:
    empty: dict[str, Any] = {"type": "text", "text": ""}
    if isinstance(turn, Say):
        block: dict[str, Any] = {"type": "text", "text": turn.text}
        delta = {"type": "text_delta", "text": turn.text}
        stop = "end_turn"
    else:
        named = {"type": "tool_use", "id": f"toolu_{heard.number:04}", "name": turn.tool.name}
        block, empty = {**named, "input": turn.arguments}, {**named, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": turn.text}
        stop = "tool_use"
    usage = {"input_tokens": _IN, "output_tokens": _OUT}
    whole = {
        "id": f"msg_{heard.number:04}",
        "type": "message",
        "role": "assistant",
        "model": heard.model,
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    opening = {**whole, "content": [], "stop_reason": None}
    ending = {"stop_reason": stop, "stop_sequence": None}
    events = (
        {"type": "message_start", "message": opening},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": _OUT}},
        {"type": "message_stop"},
    )
    return whole, iter(events)


def _responses(heard: Heard, turn: Say | Call) -> Wire:
    item = _item(heard, turn)
    whole: dict[str, Any] = {
        "id": f"resp_{heard.number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": heard.model,
        "output": [item],
        "usage": {
            "input_tokens": _IN,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": _OUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": _IN + _OUT,
        },
    }
    begun: dict[str, Any] = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"output_index": 0, "item_id": item["id"]}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    if isinstance(turn, Say):
        opened: dict[str, Any] = {**item, "content": [], "status": "in_progress"}
        spot = {**place, "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": list[str]()}
        events += [
            {"type": "response.output_item.added", "output_index": 0, "item": opened},
            {"type": "response.content_part.added", **spot, "part": part},
            {"type": "response.output_text.delta", **spot, "delta": turn.text},
            {"type": "response.output_text.done", **spot, "text": turn.text},
        ]
    else:
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    numbered = ({**event, "sequence_number": n} for n, event in enumerate(events))
    return whole, numbered


def _item(heard: Heard, turn: Say | Call) -> dict[str, Any]:
    if isinstance(turn, Say):
        part = {"type": "output_text", "text": turn.text, "annotations": list[str]()}
        return {
            "type": "message",
            "id": f"msg_{heard.number}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    custom = turn.tool.kind == "custom"
    item = {
        "type": "custom_tool_call" if custom else "function_call",
        "id": f"fc_{heard.number}",
        "call_id": f"call_{heard.number}",
        "name": turn.tool.name,
        ("input" if custom else "arguments"): turn.text,
        "status": "completed",
    }
    return {**item, "namespace": turn.tool.namespace} if turn.tool.namespace else item


def _chat(heard: Heard, turn: Say | Call) -> Wire:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(turn, Say):
        message["content"] = turn.text
        stop = "stop"
    else:
        function = {"name": turn.tool.name, "arguments": turn.text}
        called = {"index": 0, "id": f"call_{heard.number}", "type": "function"}
        message["tool_calls"] = [{**called, "function": function}]
        stop = "tool_calls"
    usage = {"prompt_tokens": _IN, "completion_tokens": _OUT, "total_tokens": _IN + _OUT}
    named = {"id": f"chatcmpl-{heard.number}", "created": 0, "model": heard.model}
    chunk = {**named, "object": "chat.completion.chunk"}
    events: tuple[dict[str, Any], ...] = (
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {**chunk, "choices": [], "usage": usage},
    )
    choice = {"index": 0, "message": message, "finish_reason": stop}
    whole = {**named, "object": "chat.completion", "choices": [choice], "usage": usage}
    return whole, iter(events)


_WIRES: dict[str, Callable[[Heard, Say | Call], Wire]] = {
    "messages": _messages,
    "responses": _responses,
    "chat": _chat,
}
