"""Human turns of one Claude Code log under keys that survive a resume, and its prompt queue.

A resumed session repeats earlier turns with new ids and new times, yet the replies keep theirs.
So a turn's key is its text with the id of the reply that followed; until a reply is read the turn
is open and the next reading begins at its line again. It knows no record format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from skillopt_sleep.codec import digest
from skillopt_sleep.model.record import TurnSeen
from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.sources._reading import Notes, items, loads, mapping, words

_REMEMBERED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A human turn whose reply has not been read yet.

    Attributes:
        session: The harness's id of the session.
        kind: Prompt or command.
        text: The words.
        line: 0-based line.
        at: When.
        uuid: The log's id of the record, or "".
        queued: Key under which it was noted when it was queued, or "".
    """

    session: str
    kind: TurnKind
    text: str
    line: int
    at: datetime | None
    uuid: str
    queued: str = ""


class OpenTurns:
    """Turns that wait for the reply that names them."""

    def __init__(self, notes: Notes, *, resumed: bool) -> None:
        """Write to ``notes``; ``resumed`` says that an earlier reading may have noted them."""
        self._notes = notes
        self._resumed = resumed
        self._open: list[Spoken] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, turn: Spoken) -> None:
        """Wait with ``turn`` for its reply."""
        self._open.append(turn)

    def answered(self, reply: str) -> None:
        """Note all waiting turns: the reply with this id has been read."""
        last = len(self._open) - 1
        for place, turn in enumerate(self._open):
            replaced = turn.queued or (self._open_key(turn) if self._resumed else "")
            self._note(turn, digest(turn.text, reply, last - place), replaced)
        self._open.clear()

    def unanswered(self) -> None:
        """Note all waiting turns for now: the log ends here."""
        for turn in self._open:
            self._note(turn, self._open_key(turn), turn.queued)
        self._open.clear()

    @staticmethod
    def _open_key(turn: Spoken) -> str:
        return f"open:{turn.uuid or turn.line}"

    def _note(self, turn: Spoken, key: str, replaces: str) -> None:
        self._notes.add(
            TurnSeen(
                session=turn.session,
                key=key,
                kind=turn.kind,
                text=turn.text,
                line=turn.line,
                at=turn.at,
                replaces=replaces,
            )
        )


class Queue:
    """Prompts typed while the agent worked, until the record that delivers each is read.

    Its memory between readings holds hashes of texts, not texts.
    """

    def __init__(self, state: str) -> None:
        """Go on from ``state``, which ``memory`` returned, or from nothing."""
        kept = mapping(loads(state.encode()))
        self._waiting = {key: words(text) for key, text in mapping(kept.get("waiting")).items()}
        self._delivered = [words(key) for key in items(kept.get("delivered"))]
        self._left = [words(key) for key in items(kept.get("left"))]

    def memory(self) -> str:
        """Return what the next reading must know."""
        if not self._waiting:
            return ""
        newest = dict(list(self._waiting.items())[-_REMEMBERED:])
        return json.dumps(
            {
                "waiting": newest,
                "delivered": [key for key in self._delivered if key in newest],
                "left": [key for key in self._left if key in newest],
            }
        )

    def enqueued(self, text: str, stamp: str) -> str:
        """Return the key of a prompt queued just now."""
        key = f"queued:{digest(text, stamp)}"
        self._waiting[key] = digest(text)
        return key

    def dequeued(self, text: str) -> None:
        """Note that the oldest prompt (or the one with this text) is about to be delivered."""
        found = self._next(text)
        if found and found not in self._delivered:
            self._delivered.append(found)

    def removed(self, text: str) -> None:
        """Note that the oldest prompt (or the one with this text) left the queue in mid-turn."""
        found = self._next(text)
        if found and found not in self._left:
            self._left.append(found)

    def _next(self, text: str) -> str:
        gone = {*self._delivered, *self._left}
        return self._find(text) or next((key for key in self._waiting if key not in gone), "")

    def taken_back(self, text: str) -> tuple[str, ...]:
        """Return the keys of prompts the human took back into the prompt box, all or this one."""
        one = self._find(text)
        left = {*self._delivered, *self._left}
        found = (one,) if one else tuple(key for key in self._waiting if key not in left)
        self._forget(found)
        return found

    def delivered(self, text: str) -> tuple[str, ...]:
        """Return the keys of queued prompts that a record with this text delivers."""
        found = self._find(text)
        gone = (found,) if found else tuple(self._delivered)
        self._forget(gone)
        return gone

    def _find(self, text: str) -> str:
        if not text:
            return ""
        wanted = digest(text)
        return next((key for key, known in self._waiting.items() if known == wanted), "")

    def _forget(self, keys: tuple[str, ...]) -> None:
        for key in keys:
            self._waiting.pop(key, None)
            for kept in (self._delivered, self._left):
                if key in kept:
                    kept.remove(key)
