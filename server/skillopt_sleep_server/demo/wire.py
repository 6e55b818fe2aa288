"""A real HTTP server on loopback that speaks Anthropic Messages and OpenAI Chat Completions.

It knows how the wire formats look and nothing of what is answered; that is a function it is given.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

MODEL = "simulated-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request, whatever its wire format.

    Attributes:
        system: The instructions, "" if none.
        user: The user's messages, joined by blank lines.
    """

    system: str
    user: str


Answer = Callable[[Asked], str]


class ModelServer:
    """Serves ``answer`` on 127.0.0.1 at a free port while it is entered."""

    def __init__(self, answer: Answer) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.answer = answer
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def calls(self) -> int:
        """How many requests it has answered."""
        return self._server.calls

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answer: Answer
    calls = 0
    lock = threading.Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that is gone before its answer is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer the list of models."""
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """Answer one completion in the format of its path."""
        server = cast("_Server", self.server)
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = _asked(body)
        text = server.answer(asked)
        with server.lock:
            server.calls += 1
        if self.path.endswith("/messages"):
            self._send(_anthropic(asked, text))
        elif self.path.endswith("/chat/completions"):
            self._send(_openai(asked, text))
        else:
            self._send({"error": {"message": f"no such path {self.path}"}}, status=404)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _send(self, body: Mapping[str, object], *, status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _asked(body: Mapping[str, Any]) -> Asked:
    messages: list[dict[str, Any]] = body.get("messages", [])
    system = [_text(body.get("system", ""))]
    system += [_text(m["content"]) for m in messages if m["role"] in {"system", "developer"}]
    user = [_text(m["content"]) for m in messages if m["role"] == "user"]
    return Asked(system="\n\n".join(filter(None, system)), user="\n\n".join(user))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = cast("list[dict[str, Any]]", content)
    return "\n".join(str(block.get("text", "")) for block in blocks)


def _tokens(text: str) -> int:
    return len(text) // 4 + 1


def _anthropic(asked: Asked, text: str) -> dict[str, object]:
    return {
        "id": "msg_simulated",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": _tokens(asked.system + asked.user),
            "output_tokens": _tokens(text),
        },
    }


def _openai(asked: Asked, text: str) -> dict[str, object]:
    spent, said = _tokens(asked.system + asked.user), _tokens(text)
    return {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": spent, "completion_tokens": said, "total_tokens": spent + said},
    }
