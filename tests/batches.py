"""The batch endpoints of a loopback model server: Anthropic's Message Batches, OpenAI's files.

Each prompt of a batch is answered by the server's own function, once, when the batch is ready.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Entry = tuple[str, str, dict[str, Any]]
"""Key, API and body of one prompt."""

Answered = tuple[int, bytes]
"""HTTP status and body of one answer."""


@dataclass(slots=True)
class Handed:
    """One batch as it was handed in; ready once it was looked at ``Shop.looks`` times."""

    id: str
    api: str
    entries: list[Entry]
    looked_at: int = 0
    cancelled: bool = False
    answers: dict[str, Answered] = field(default_factory=dict[str, Answered])


@dataclass(slots=True)
class Shop:
    """All batches and files of one server; ``down`` looks at a batch fail first."""

    looks: int = 2
    down: int = 0
    batches: list[Handed] = field(default_factory=list[Handed])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hand_in(self, path: str, body: Mapping[str, Any]) -> Handed:
        """Take a batch."""
        if path.endswith("/messages/batches"):
            api = "messages"
            entries = [(one["custom_id"], api, one["params"]) for one in body["requests"]]
        else:
            api = "chat"
            lines = self.files[body["input_file_id"]].splitlines()
            found = [json.loads(line) for line in lines]
            assert {one["url"] for one in found} == {body["endpoint"]}
            entries = [(one["custom_id"], api, one["body"]) for one in found]
        assert len({key for key, _, _ in entries}) == len(entries)
        with self.lock:
            made = Handed(f"batch_{len(self.batches)}", api, entries)
            self.batches.append(made)
        return made

    def store(self, multipart: bytes) -> str:
        """Take a file out of a form."""
        head, _, rest = multipart.partition(b'name="file"')
        boundary = head.partition(b"\r\n")[0]
        with self.lock:
            name = f"file-{len(self.files)}"
            self.files[name] = rest.partition(b"\r\n\r\n")[2].partition(b"\r\n" + boundary)[0]
        return name

    def named(self, path: str) -> Handed | None:
        """Return the batch that a path names."""
        return next((one for one in self.batches if f"/{one.id}" in path), None)


def state(batch: Handed, looks: int) -> dict[str, Any]:
    """Return what is told of a batch."""
    ready = batch.looked_at >= looks or batch.cancelled
    if batch.api == "messages":
        # The address is one that must not be followed.
        away = f"http://127.0.0.1:9/v1/messages/batches/{batch.id}/results"
        status = "ended" if ready else "in_progress"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": status,
            "results_url": away if ready else None,
        }
    return {
        "id": batch.id,
        "object": "batch",
        "status": "completed" if ready else "in_progress",
        "output_file_id": f"out-{batch.id}" if ready else None,
        "error_file_id": None,
    }


def results(batch: Handed) -> bytes:
    """Return the answers as lines, last first, as order is promised by nobody."""
    lines: list[dict[str, Any]] = []
    for key, (status, body) in reversed(batch.answers.items()):
        told = json.loads(body)
        if batch.api == "chat":
            lines.append({"custom_id": key, "response": {"status_code": status, "body": told}})
        elif status == 200:
            lines.append({"custom_id": key, "result": {"type": "succeeded", "message": told}})
        else:
            lines.append({"custom_id": key, "result": {"type": "errored", "error": told}})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
