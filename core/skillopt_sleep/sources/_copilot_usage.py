"""Tokens in Copilot CLI's events, which tell the same ones up to three times.

Newer versions write a full record for each reply, older ones the output of a reply and, when a
process ends, the sums of all its replies. It knows no other event.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from skillopt_sleep.model.record import UsageSeen
from skillopt_sleep.sources._reading import Notes, count, mapping, words

_COUNTED = "counted"
_RECORDS, _REPLIES = "records", "replies"


class Tokens:
    """Notes each token once; ``state`` remembers what told them since the process began."""

    def __init__(self, notes: Notes, state: dict[str, str]) -> None:
        self._notes = notes
        self._state = state

    def record(self, given: dict[str, Any], session: str, at: datetime | None) -> None:
        """Note a ``session.usage_record``: all tokens of one reply."""
        usage = mapping(given.get("usage"))
        key = words(mapping(usage.get("accounting")).get("usageId"))
        if key := key or words(usage.get("apiCallId")):
            self._state[_COUNTED] = _RECORDS
            self._note(usage, session, key=key, model=words(usage.get("model")), at=at)

    def reply(
        self, given: dict[str, Any], session: str, *, model: str, at: datetime | None
    ) -> None:
        """Note an ``assistant.message``: the output of one reply, unless a record told it."""
        spent, key = given.get("outputTokens"), words(given.get("messageId"))
        if count(spent) and key and self._state.get(_COUNTED) != _RECORDS:
            self._state[_COUNTED] = _REPLIES
            self._note({"outputTokens": spent}, session, key=key, model=model, at=at)

    def shutdown(self, id: str, given: dict[str, Any], session: str, at: datetime | None) -> None:
        """Note a ``session.shutdown``: what no reply of the process has told."""
        counted = self._state.pop(_COUNTED, "")
        if counted == _RECORDS:
            return
        snapshot = mapping(given.get("accountingSnapshot")) or given
        for model, metrics in mapping(snapshot.get("modelMetrics")).items():
            usage = mapping(mapping(metrics).get("usage"))
            if counted == _REPLIES:
                usage = {**usage, "outputTokens": 0}
            self._note(usage, session, key=f"{id}:{model}", model=model, at=at)

    def _note(
        self, usage: dict[str, Any], session: str, *, key: str, model: str, at: datetime | None
    ) -> None:
        cached = count(usage.get("cacheReadTokens"))
        self._notes.add(
            UsageSeen(
                session=session,
                key=key,
                model=model,
                at=at,
                input_tokens=max(0, count(usage.get("inputTokens")) - cached),
                output_tokens=count(usage.get("outputTokens")),
                cache_read_tokens=cached,
                cache_write_tokens=count(usage.get("cacheWriteTokens")),
            )
        )
