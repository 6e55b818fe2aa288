"""An episode: one request of the human, the work on it, what was said about it, the outcome.

Values only; who cuts sessions into episodes is in ``mine/episodes.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.session import ToolCall, Turn


class SignalKind(StrEnum):
    """What a log says about how well the work went."""

    CORRECTION = "correction"
    REPEAT = "repeat"
    INTERRUPT = "interrupt"
    REJECTION = "rejection"
    REWIND = "rewind"
    FAILED_COMMAND = "failed_command"
    RED_TO_GREEN = "red_to_green"
    COMMIT = "commit"
    REVERT = "revert"
    ACCEPTANCE = "acceptance"


FRICTION = frozenset(
    {
        SignalKind.CORRECTION,
        SignalKind.REPEAT,
        SignalKind.INTERRUPT,
        SignalKind.REJECTION,
        SignalKind.REWIND,
        SignalKind.REVERT,
        SignalKind.RED_TO_GREEN,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One sign of how the work went.

    Attributes:
        kind: What it is.
        evidence: The turn it stands in, with who spoke.
    """

    kind: SignalKind
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The agent's work between two human turns of an episode.

    Attributes:
        prompted: The human turn that set it off.
        correcting: Whether that turn corrects what came before.
        answer: The agent's words, the last ones last.
        calls: Its tool calls, in log order.
        broken: Whether the human cut it off.
    """

    prompted: Turn
    correcting: bool = False
    answer: str = ""
    calls: tuple[ToolCall, ...] = ()
    broken: bool = False

    @property
    def empty(self) -> bool:
        """Whether the agent neither said nor did anything."""
        return not self.answer.strip() and not self.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One request and all that followed until the next request that is not about it.

    Attributes:
        id: Stable id, from the session and the request's place in it.
        session: Our session id.
        harness: Where it was asked.
        cwd: Folder the agent worked in, or "".
        commit: Git commit at the session's start, or "".
        at: When it was asked, or None.
        request: The turn that asked.
        text: The request as typed; of a slash command, its words.
        context: Earlier words of the human in the session, newest last, or "".
        stretches: The work, one stretch per human turn, oldest first; never empty.
        signals: What the log says about how it went.
        skills: Names of the skills that the session used.
    """

    id: str
    session: str
    harness: str
    request: Turn
    text: str
    stretches: tuple[Stretch, ...]
    cwd: str = ""
    commit: str = ""
    at: datetime | None = None
    context: str = ""
    signals: tuple[Signal, ...] = ()
    skills: tuple[str, ...] = ()

    @property
    def followups(self) -> tuple[Turn, ...]:
        """The human turns about it after the request."""
        return tuple(stretch.prompted for stretch in self.stretches[1:])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All tool calls of it, in log order."""
        return tuple(call for stretch in self.stretches for call in stretch.calls)

    @property
    def friction(self) -> bool:
        """Whether something went wrong on the way."""
        return any(signal.kind in FRICTION for signal in self.signals)
