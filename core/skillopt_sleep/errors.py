"""Every error this package raises on purpose.

SleepError
├── ConfigError
├── ConsentError
├── UnknownPluginError
├── SourceError
├── StoreError
├── TaskFileError
├── BackendError
│   ├── BudgetSpentError
│   └── AnswersWantedError
├── BusyError
├── CancelledError
├── SkillError
└── StagingError

The message says what was found, what was wanted and what to do next. The
values in it are attributes too, so that no caller parses the text. A failure
of one item (one transcript, one task) is not an error but a value; see
``Unreadable`` in ``model/session.py`` and ``Failure`` in ``model/attempt.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class SleepError(Exception):
    """Base of all errors that a caller may reasonably catch."""


class ConfigError(SleepError):
    """A setting is unknown, missing or out of range."""


class ConsentError(SleepError):
    """Text would leave this machine and nobody has agreed to that yet."""


class UnknownPluginError(SleepError):
    """No plugin of this kind goes by this name."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no {kind} is called {name!r}; known: {', '.join(known) or 'none'}")
        self.kind = kind
        self.name = name
        self.known = tuple(known)


class SourceError(SleepError):
    """Transcripts exist but none of them can be reached."""


class StoreError(SleepError):
    """The database is locked, corrupt, newer than this program, or lacks what was named."""


class TaskFileError(SleepError):
    """A reviewed task file is wrong at a line.

    Attributes:
        line: 1-based line number in the file.
    """

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


class Fault(StrEnum):
    """What kind of trouble a backend had; decides whether a retry can help."""

    AUTH = "auth"
    RATE = "rate"
    OVERLOADED = "overloaded"
    SERVER = "server"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    BUDGET = "budget"
    WAITING = "waiting"


RETRYABLE = frozenset(
    {Fault.RATE, Fault.OVERLOADED, Fault.SERVER, Fault.TIMEOUT, Fault.UNREACHABLE}
)


class BackendError(SleepError):
    """A model could not be asked, or its answer is not one.

    Attributes:
        fault: The kind of trouble.
        retry_after_s: Seconds the provider asked us to wait, or None.
        input_tokens: Input tokens that were paid for all the same.
        output_tokens: Output tokens that were paid for all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        fault: Fault = Fault.SERVER,
        retry_after_s: float | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.retry_after_s = retry_after_s
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens

    @property
    def retryable(self) -> bool:
        """Whether asking again can help."""
        return self.fault in RETRYABLE


class BudgetSpentError(BackendError):
    """The budget of calls, tokens, money or time is used up; no further call is made.

    Attributes:
        what: Which budget: calls, tokens, money or seconds.
    """

    def __init__(self, message: str, *, what: str) -> None:
        super().__init__(message, fault=Fault.BUDGET)
        self.what = what


class AnswersWantedError(BackendError):
    """Prompts wait in the handoff folder for somebody to answer them.

    Attributes:
        folder: Where the prompts lie.
        waiting: How many have no answer yet.
    """

    def __init__(self, message: str, *, folder: str, waiting: int) -> None:
        super().__init__(message, fault=Fault.WAITING)
        self.folder = folder
        self.waiting = waiting

    @classmethod
    def together(cls, several: Sequence[AnswersWantedError]) -> AnswersWantedError:
        """Return one error for several, at least one, that wait in the same folder."""
        folder = several[0].folder
        waiting = sum(one.waiting for one in several)
        return cls(
            f"{waiting} prompts wait for an answer in {folder!r}; answer each '.prompt.md' in an"
            " '.answer.md' beside it and run again",
            folder=folder,
            waiting=waiting,
        )


class BusyError(SleepError):
    """Another process runs a night on this project."""


class CancelledError(SleepError):
    """Somebody asked for the work to stop."""


class SkillError(SleepError):
    """A skill document cannot be read or edited as asked."""


class StagingError(SleepError):
    """A proposal cannot be staged, adopted, rejected or reverted."""
