"""What a human typed inside an OpenClaw user message: fields first, then the gateway's wrappers.

Older versions wrote no field that tells a heartbeat from a human, so their fixed markers are read.
"""

from __future__ import annotations

import re
from typing import Any

from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources._reading import mapping, words
from skillopt_sleep.sources._tools import text_of

_AROUND = re.compile(
    r"""\s*(?:
      [A-Z][^\n(]{0,80}\((?:untrusted|metadata,)[^)\n]{0,120}\):\n    # who, where, said before
        (?:```\w*\n.*?\n```(?:\n|\Z)|(?:[^\n]+(?:\n|\Z))*)
    | System(?:\ \(untrusted\))?:\ \[[^\n]*(?:\n|\Z)                # queued events
    | \[(?:media\ attached|message_id:)[^\n]*(?:\n|\Z)
    | To\ send\ an\ image\ back,[^\n]*(?:\n|\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_TIME = re.compile(r"\s*\[(?=[A-Z])[^\]\n]{0,200}?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,80}\] ?")
_TRAILING = re.compile(
    r"""(?:
      \n\[(?:message_id|from|System):\ [^\]\n]*\]
    | \n\[Replying\ to\ [^\]\n]*\]\n.*?\n\[/Replying\]
    | \nUntrusted\ context\ \(metadata,[^\n]*\n.*
    )\s*\Z""",
    re.VERBOSE | re.DOTALL,
)
_SPEAKER = re.compile(r'"name": "([^"\n]{1,80})"')
_CURRENT = "[Current message - respond to this]\n"
_QUEUED = re.compile(r"^---\nQueued #\d+[^\n]*\n", re.MULTILINE)
_QUEUE_HEAD = "[Queued messages while agent was busy]"
_MARKS = (
    (re.compile(r"\[Subagent (?:Context|Task)\]"), Origin.SUBAGENT),
    (re.compile(r"\[cron:[^\]\n]*\]"), Origin.AUTOMATION),
)
_MACHINE = re.compile(
    r"Read HEARTBEAT\.md\b|.*\breply (?:with )?HEARTBEAT_OK\b|Pre-compaction memory flush"
    r"|\[Inter-session message\]"
    r"|\[(?:Internal task completion event|OpenClaw heartbeat|System Message)\b"
    r"|A new session was started via /(?:new|reset)|OpenClaw runtime context \(internal\)"
    r"|An async command you ran earlier|A scheduled reminder has been triggered"
    r"|Continue where you left off\. The previous model attempt|Continue the OpenClaw runtime event"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    re.DOTALL,
)
_MACHINES = frozenset({"inter_session", "internal_system"})
_KEYS = (
    (":subagent:", Origin.SUBAGENT),
    (":cron:", Origin.AUTOMATION),
    (":hook:", Origin.AUTOMATION),
    (":heartbeat", Origin.AUTOMATION),
)


def machine_made(message: dict[str, Any]) -> bool:
    """Return whether the fields of a user message say that no human wrote it."""
    gateway = mapping(message.get("__openclaw"))
    return (
        words(mapping(message.get("provenance")).get("kind")) in _MACHINES
        or message.get("display") is False
        or mapping(gateway.get("senderIdentity")).get("senderKind") == "bot"
        or gateway.get("beforeAgentRunBlocked") is True
        or gateway.get("lateMedia") is True
    )


def typed(message: dict[str, Any]) -> tuple[tuple[str, ...], Origin | None]:
    """Return the texts the human typed, in order, and the origin that a marker gives away."""
    told = words(mapping(message.get("__openclaw")).get("upstreamUserText"))
    text = told or _unwrapped(text_of(message.get("content")))
    for mark, origin in _MARKS:
        if mark.match(text):
            return (), origin
    if not text.strip() or _MACHINE.match(text):
        return (), None
    if text.startswith(_QUEUE_HEAD):
        parts = [_unwrapped(part) for part in _QUEUED.split(text)[1:]]
        return tuple(part for part in parts if part and not _MACHINE.match(part)), None
    return (text,), None


def origin_of_key(key: str) -> Origin | None:
    """Return the origin that a session key such as ``agent:main:cron:7`` says, or None."""
    return next((origin for part, origin in _KEYS if part in key), None)


def _unwrapped(text: str) -> str:
    text = text.rpartition(_CURRENT)[2]
    body = _without(_AROUND, text)
    if clock := _TIME.match(body):
        body = _without(_AROUND, body[clock.end() :])
    while (end := _TRAILING.search(body)) and end.start():
        body = body[: end.start()]
    body = body.strip()
    # In a group the gateway writes the speaker, whom it has named above, before the words.
    speaker = _SPEAKER.search(text[: len(text) - len(body)])
    return body.removeprefix(f"{speaker.group(1)}: ") if speaker else body


def _without(wrapper: re.Pattern[str], text: str) -> str:
    while found := wrapper.match(text):
        text = text[found.end() :]
    return text
