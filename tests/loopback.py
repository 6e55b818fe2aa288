"""A model server on 127.0.0.1 that speaks the providers' wire formats and can misbehave.

Anthropic Messages, OpenAI Chat Completions and OpenAI Responses, without streaming, and the batch
endpoints of the first two. It answers
from a function and remembers every request that reached it.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.batches import Handed, Shop, results, state


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request as it reached the server; ``number`` counts from 0."""

    number: int
    api: str
    model: str
    system: str
    text: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer with what may be told about it; ``model`` "" is the one asked for."""

    text: str
    model: str = ""
    stop: str = "end"
    input_tokens: int = 10
    output_tokens: int = 5
    cached_tokens: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An HTTP status that is no success."""

    code: int
    message: str = "trouble"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A body that is sent as it is; ``short_by`` bytes of the announced length never come."""

    body: bytes
    short_by: int = 0
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the server is closed."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset."""


Response = str | Said | Status | Raw | Hang | Reset
Answer = Callable[[Ask], Response]

_PATHS = {"/messages": "messages", "/chat/completions": "chat", "/responses": "responses"}


class ModelServer(ThreadingHTTPServer):
    """The server itself; use ``model_server``."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.answer = answer
        self.asks: list[Ask] = []
        self.shop = Shop()
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def count(self) -> int:
        return len(self.asks)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that hang up are part of the tests."""


@contextmanager
def model_server(answer: Answer) -> Generator[ModelServer]:
    """Serve until the block ends."""
    server = ModelServer(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def closed_url() -> str:
    """Return a URL on this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> ModelServer:
        return cast("ModelServer", self.server)

    def do_GET(self) -> None:
        batch = self.model.shop.named(self.path.replace("/out-", "/"))
        if batch is None:
            self._send(404, b'{"error": {"message": "no such batch"}}')
        elif self.path.endswith(("/results", "/content")):
            self._answer_all(batch)
            self._send(200, results(batch))
        else:
            batch.looked_at += 1
            code = 503 if batch.looked_at <= self.model.shop.down else 200
            self._send(code, json.dumps(state(batch, self.model.shop.looks)).encode())

    def _answer_all(self, batch: Handed) -> None:
        for key, api, body in () if batch.answers else batch.entries:
            with self.model.lock:
                ask = _ask(len(self.model.asks), api, body, {})
                self.model.asks.append(ask)
            said = self.model.answer(ask)
            if isinstance(said, Status):
                kind = {401: "authentication_error", 429: "rate_limit_error"}.get(said.code)
                told = {"type": kind or "overloaded_error", "message": said.message}
                error = json.dumps({"type": "error", "error": told}).encode()
                batch.answers[key] = (said.code, error)
            else:
                assert isinstance(said, str | Said)
                whole = Said(text=said) if isinstance(said, str) else said
                batch.answers[key] = (200, _body(ask, whole))

    def _trade(self, raw: bytes) -> None:
        shop = self.model.shop
        if self.path.endswith("/files"):
            self._send(200, json.dumps({"id": shop.store(raw), "object": "file"}).encode())
            return
        batch = shop.named(self.path)
        if batch is not None:
            batch.cancelled = True
        else:
            batch = shop.hand_in(self.path, json.loads(raw))
        self._send(200, json.dumps(state(batch, shop.looks)).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if "/batches" in self.path or self.path.endswith("/files"):
            self._trade(raw)
            return
        body = json.loads(raw)
        api = next((kind for end, kind in _PATHS.items() if self.path.endswith(end)), "")
        if not api:
            self._send(404, b'{"error": {"message": "no such path"}}')
            return
        with self.model.lock:
            ask = _ask(len(self.model.asks), api, body, dict(self.headers.items()))
            self.model.asks.append(ask)
        self._respond(ask, self.model.answer(ask))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _respond(self, ask: Ask, response: Response) -> None:
        match response:
            case str():
                self._send(200, _body(ask, Said(text=response)))
            case Said():
                self._send(200, _body(ask, response), response.headers)
            case Status():
                error = {"type": "error", "error": {"type": "t", "message": response.message}}
                self._send(response.code, json.dumps(error).encode(), response.headers)
            case Raw():
                self._send_raw(response)
            case Hang():
                self.model.closing.wait(30)
                self.close_connection = True
            case Reset():
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True

    def _send(self, code: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send_raw(self, raw: Raw) -> None:
        self.send_response(200)
        self.send_header("Content-Type", raw.content_type)
        self.send_header("Content-Length", str(len(raw.body)))
        self.end_headers()
        self.wfile.write(raw.body[: len(raw.body) - raw.short_by])
        self.wfile.flush()
        self.close_connection = bool(raw.short_by)


def _ask(number: int, api: str, body: dict[str, Any], headers: dict[str, str]) -> Ask:
    turns = body.get("input" if api == "responses" else "messages", [])
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    system = _text(body.get("system") or body.get("instructions") or "")
    system += "".join(_text(turn["content"]) for turn in turns if turn["role"] == "system")
    said = [_text(turn["content"]) for turn in turns if turn["role"] != "system"]
    return Ask(
        number=number,
        api=api,
        model=str(body.get("model", "")),
        system=system,
        text="\n".join(said),
        body=body,
        headers={name.lower(): value for name, value in headers.items()},
    )


def _text(content: Any) -> str:  # noqa: ANN401 - text or blocks of it
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content)


def _body(ask: Ask, said: Said) -> bytes:
    made = {"messages": _messages, "chat": _chat, "responses": _responses}[ask.api](ask, said)
    return json.dumps(made).encode()


def _messages(ask: Ask, said: Said) -> dict[str, Any]:
    stop = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"}[said.stop]
    return {
        "id": f"msg_{ask.number}",
        "type": "message",
        "role": "assistant",
        "model": said.model or ask.model,
        "content": [{"type": "text", "text": said.text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.input_tokens,
            "output_tokens": said.output_tokens,
            "cache_read_input_tokens": said.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def _chat(ask: Ask, said: Said) -> dict[str, Any]:
    stop = {"end": "stop", "length": "length", "refusal": "content_filter"}[said.stop]
    return {
        "id": f"chatcmpl-{ask.number}",
        "object": "chat.completion",
        "created": 0,
        "model": said.model or ask.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": said.text},
                "finish_reason": stop,
            }
        ],
        "usage": {
            "prompt_tokens": said.input_tokens + said.cached_tokens,
            "completion_tokens": said.output_tokens,
            "total_tokens": said.input_tokens + said.cached_tokens + said.output_tokens,
            "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        },
    }


def _responses(ask: Ask, said: Said) -> dict[str, Any]:
    return {
        "id": f"resp_{ask.number}",
        "object": "response",
        "created_at": 0,
        "status": "completed" if said.stop == "end" else "incomplete",
        "model": said.model or ask.model,
        "output": [
            {
                "id": f"msg_{ask.number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": said.text, "annotations": []}],
            }
        ],
        "usage": {
            "input_tokens": said.input_tokens + said.cached_tokens,
            "output_tokens": said.output_tokens,
            "total_tokens": said.input_tokens + said.cached_tokens + said.output_tokens,
        },
    }
