"""A door from an attempt to its model: on loopback, under a name that nobody can guess.

The client gets an address and a key that is none; the real key is added here and never enters
the attempt. Every request asks for leave first, so that a client that talks on and on keeps to
the budget. It reads no words; what it forwards is the client's affair.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from email.message import Message
from http.client import HTTPException, HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from skillopt_sleep.agents.launch import Api, Endpoint
from skillopt_sleep.errors import BudgetSpentError

Toll = Callable[[], None]
"""Called before each request to the model; raises ``BudgetSpentError`` when none may be made."""

NO_KEY = "the-key-stays-outside"
"""What the client holds for a key."""

_KEPT_BACK = frozenset(
    {"host", "connection", "content-length", "accept-encoding", "transfer-encoding"}
    | {"authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"}
)
_DROPPED = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive", "server"})
_PATIENCE = 3
_LARGEST = 64 * 1024**2
_PIECE = 64 * 1024


class Forwarder(ThreadingHTTPServer):
    """The door itself; use ``forwarding``.

    Attributes:
        count: Requests to the model that were let through.
        status: HTTP status of the last answer, 0 where there was none.
        spent: Why a request was turned away, or None.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, endpoint: Endpoint, api: Api, toll: Toll, timeout_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Passage)
        self.endpoint = endpoint
        self.api = api
        self.timeout_s = timeout_s
        self.name = secrets.token_urlsafe(24)
        self.count = 0
        self.status = 0
        self.spent: BudgetSpentError | None = None
        self._failures = 0
        self._toll = toll
        self._lock = threading.Lock()

    @property
    def inside(self) -> Endpoint:
        """The endpoint as the client gets it."""
        url = f"http://127.0.0.1:{self.server_address[1]}/{self.name}"
        return replace(self.endpoint, url=url, key=NO_KEY, bearer=False)

    def pay(self) -> bool:
        """Return whether one more request may be made, and count it."""
        with self._lock:
            try:
                self._toll()
            except BudgetSpentError as error:
                self.spent = error
                return False
            self.count += 1
            return True

    @property
    def hopeless(self) -> bool:
        """Whether the model failed so often in a row that the client must give up."""
        return self._failures >= _PATIENCE

    def note(self, status: int) -> None:
        """Remember how the model answered."""
        with self._lock:
            self.status = status
            self._failures = self._failures + 1 if status >= 400 else 0

    def credentials(self) -> dict[str, str]:
        """Return the headers that let a request in."""
        endpoint = self.endpoint
        if not endpoint.key:
            return {}
        if self.api == "messages" and not endpoint.bearer:
            return {"x-api-key": endpoint.key}
        return {"Authorization": f"Bearer {endpoint.key}"}

    def handle_error(self, request: object, client_address: object) -> None:
        """Pass over clients that hang up; what matters is what they print."""


@contextmanager
def forwarding(
    endpoint: Endpoint, api: Api, *, toll: Toll, timeout_s: float
) -> Generator[Forwarder]:
    """Hold the door open for the time of the block.

    Args:
        endpoint: The model, with its key.
        api: What is spoken there; decides in which header the key goes.
        toll: Asked before each request.
        timeout_s: How long the model may keep silent.
    """
    server = Forwarder(endpoint, api, toll, timeout_s)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _NoRedirect(HTTPRedirectHandler):
    """Text goes to the host that was agreed to and to no other."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow nothing."""


_OPENER = build_opener(_NoRedirect)


class _Passage(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def door(self) -> Forwarder:
        return cast("Forwarder", self.server)

    def do_POST(self) -> None:
        """Pass one request on."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > _LARGEST:
            self._refuse(413, "the request is too large")
            return
        body = self.rfile.read(length)
        if not self.path.startswith(f"/{self.door.name}"):
            self._refuse(404, "there is nothing here")
        elif self.door.hopeless:
            # No client asks again after this one, while some go on for minutes after a 500.
            self._refuse(400, f"the model failed {_PATIENCE} times in a row")
        elif not self.door.pay():
            self._refuse(402, str(self.door.spent))
        else:
            self._forward(body)

    def do_GET(self) -> None:
        """Pass a question on, such as which models there are; it costs nothing."""
        if self.path.startswith(f"/{self.door.name}"):
            self._forward(None)
        else:
            self._refuse(404, "there is nothing here")

    def do_HEAD(self) -> None:
        """Say that somebody is here."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _forward(self, body: bytes | None) -> None:
        path = self.path.removeprefix(f"/{self.door.name}")
        sent = {k: v for k, v in self.headers.items() if k.lower() not in _KEPT_BACK}
        request = Request(
            self.door.endpoint.url + path,
            data=body,
            headers={**sent, **self.door.credentials()},
            method=self.command,
        )
        try:
            with _OPENER.open(request, timeout=self.door.timeout_s) as answer:
                self._answer(answer.status, answer.headers, answer)
        except HTTPError as error:
            with error:
                self._answer(error.code, error.headers, error)
        except TimeoutError:
            self._trouble(504, "the model did not answer in time")
        except (URLError, HTTPException, OSError) as error:
            self._trouble(502, f"connection error: {error}")

    def _answer(self, status: int, headers: Message, body: IO[bytes]) -> None:
        self.door.note(status)
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _DROPPED:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        read = getattr(body, "read1", body.read)
        while piece := read(_PIECE):
            self.wfile.write(piece)
            self.wfile.flush()

    def _trouble(self, status: int, words: str) -> None:
        self.door.note(status)
        self._refuse(status, words)

    def _refuse(self, status: int, words: str) -> None:
        body = json.dumps({"type": "error", "error": {"type": "t", "message": words}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
