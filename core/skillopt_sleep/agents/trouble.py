"""What the trouble of an agent CLI means: its words to a fault; starts nothing."""

from __future__ import annotations

import regex

from skillopt_sleep.errors import BackendError, Fault
from skillopt_sleep.world import Finished

_SHOWN = 300
_STATUS = regex.compile(
    r"(?:\b(?:status|error|http|code|api error)\b[^\d\n]{0,12}|^\s*)(?P<code>[45]\d\d)\b", regex.I
)
_SIGNS: tuple[tuple[Fault, str], ...] = (
    (
        Fault.AUTH,
        r"invalid.{0,12}(api.?key|token)|unauthori[sz]ed|authentication|not logged in|please run"
        r" /login|please log ?in|no (api key|authentication)|credit balance|insufficient_quota",
    ),
    (Fault.RATE, r"rate.?limit|too many requests|usage limit"),
    (Fault.OVERLOADED, r"overloaded|service unavailable|at capacity"),
    (Fault.TIMEOUT, r"timed? ?out|timeout"),
    (
        Fault.UNREACHABLE,
        r"econn|enotfound|unable to connect|connection (refused|reset|error)|stream disconnected"
        r"|network error|error sending request|fetch failed|failed to fetch",
    ),
    (Fault.TRUNCATED, r"max(imum)?[_ ](number of )?turns|budget_usd|max_output"),
)


def fault_of(text: str, status: int | None = None) -> Fault:
    """Return what kind of trouble ``text`` tells of; ``status`` is the HTTP status if known."""
    found = _STATUS.search(text)
    code = status or (int(found["code"]) if found else 0)
    by_code = {401: Fault.AUTH, 403: Fault.AUTH, 402: Fault.AUTH, 429: Fault.RATE}
    by_code |= {
        408: Fault.TIMEOUT,
        504: Fault.TIMEOUT,
        503: Fault.OVERLOADED,
        529: Fault.OVERLOADED,
    }
    if code in by_code:
        return by_code[code]
    if code >= 500:
        return Fault.SERVER
    for fault, signs in _SIGNS:
        if regex.search(signs, text, regex.I):
            return fault
    return Fault.REFUSED if code >= 400 else Fault.SERVER


def trouble(program: str, text: str, *, status: int | None = None) -> BackendError:
    """Return the error of a CLI that failed with these words."""
    words = " ".join(text.split())[:_SHOWN] or "it said nothing"
    return BackendError(
        f"{program!r} failed: {words}; try the same command in a terminal",
        fault=fault_of(text, status),
    )


def exit_trouble(program: str, finished: Finished) -> BackendError:
    """Return the error of a CLI that ended without an answer that can be read."""
    said = finished.stderr.strip() or finished.stdout.strip()
    last = " ".join(said.splitlines()[-3:])
    text = f"it ended with {finished.code}: {last}" if last else f"it ended with {finished.code}"
    return trouble(program, text)
