"""What an HTTP provider's trouble means, the same for every SDK; sends nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson
import regex
from pydantic import BaseModel, ValidationError

from skillopt_sleep.backends.access import Access
from skillopt_sleep.errors import BackendError, Fault
from skillopt_sleep.model.prompt import Reply

M = TypeVar("M", bound=BaseModel)

_SHOWN = 300
_NO_CREDIT = ("insufficient_quota", "credit balance is too low")
_VERSION = regex.compile(r"[-@:](\d{3,}|\d\d-\d\d|preview|exp|v\d)")
_BROKEN_OFF = ("complete message body", "incomplete", "peer closed connection")


class _Said(BaseModel):
    message: str


class _ErrorBody(BaseModel):
    error: _Said


def status_trouble(
    access: Access, status: int, body: str, headers: Mapping[str, str]
) -> BackendError:
    """Return the error for an HTTP status that is no success."""
    where = f"{access.url!r} answered {status}"
    if status in (401, 403):
        # What the provider says here often quotes the key, so it is not repeated.
        return BackendError(
            f"{where}: the key from {access.key_from} was refused; check that it is valid and"
            " may use this model",
            fault=Fault.AUTH,
        )
    said = access.without_key(" ".join(_said(body).split()))[:_SHOWN]
    fault, hint = _meaning(status, body)
    return BackendError(
        f"{where}: {said or 'no reason given'}; {hint}",
        fault=fault,
        retry_after_s=retry_after_s(headers),
    )


def connection_trouble(access: Access, error: BaseException) -> BackendError:
    """Return the error for a connection that could not be made or broke."""
    cause = error.__cause__ or error
    text = access.without_key(str(cause) or type(cause).__name__)
    if any(sign in text for sign in _BROKEN_OFF):
        return malformed(access, f"the answer broke off: {text}")
    return BackendError(
        f"{access.url!r} cannot be reached: {text}; check the URL and that its server runs",
        fault=Fault.UNREACHABLE,
    )


def timeout_trouble(access: Access, timeout_s: float) -> BackendError:
    """Return the error for an answer that did not come in time."""
    return BackendError(
        f"{access.url!r} did not answer within {timeout_s:g} s; try later or raise 'timeout_s'",
        fault=Fault.TIMEOUT,
    )


def malformed(access: Access, why: str) -> BackendError:
    """Return the error for an answer that is not one."""
    return BackendError(
        f"{access.url!r} sent no usable answer: {access.without_key(why)[:_SHOWN]};"
        " check that this is the provider's API",
        fault=Fault.MALFORMED,
    )


def read_body(kind: type[M], access: Access, body: bytes) -> M:
    """Return the message that a body holds.

    Raises:
        BackendError: It is not JSON, or not of this shape.
    """
    try:
        return kind.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError:
        head = " ".join(body[:80].decode(errors="replace").split())
        raise malformed(access, f"JSON was expected and {head!r} came") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise malformed(access, f"field {place!r}: {first['msg'].lower()}") from None


def check_model(access: Access, asked: str, answered: str, *, own_names: bool) -> None:
    """Return if the model that answered is the one that was asked for, dates and vendors aside.

    Raises:
        BackendError: Another model answered; its attempts would be evidence for nothing.
    """
    short, long = sorted((_stem(asked), _stem(answered)), key=len)
    rest = long.removeprefix(short) if long.startswith(short) else None
    if own_names or not answered or rest == "" or (rest and _VERSION.match(rest)):
        return
    raise BackendError(
        f"{access.url!r} was asked for the model {asked!r} and {answered!r} answered;"
        " set 'model' to one that this provider has",
        fault=Fault.MALFORMED,
    )


def check_text(access: Access, text: str, *, cut: bool, tokens: tuple[int, int]) -> None:
    """Return if there is an answer at all.

    Args:
        access: Who answered.
        text: The answer.
        cut: Whether the provider stopped at the output cap.
        tokens: Input and output tokens that were paid for.

    Raises:
        BackendError: The answer is empty.
    """
    if text.strip():
        return
    why = (
        "used up its output before it said anything; raise 'max_tokens'"
        if cut
        else "sent an empty answer; try again or choose another model"
    )
    raise BackendError(
        f"{access.url!r} {why}",
        fault=Fault.TRUNCATED if cut else Fault.MALFORMED,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


def unprocessed(access: Access, why: str | None) -> BackendError:
    """Return the error for a prompt that a batch left unanswered."""
    return BackendError(
        f"{access.url!r} left a prompt of a batch unanswered: {why or 'no reason given'}; run"
        " again, or set 'batch' to false",
        fault=Fault.TIMEOUT if why and "expired" in why else Fault.SERVER,
    )


def answer_or_error(answer: Callable[[], Reply]) -> Reply | BackendError:
    """Return what ``answer`` returns, or the error that it raises."""
    try:
        return answer()
    except BackendError as error:
        return error


def flat(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as it stands on the wire, without the SDK's own field for extras."""
    plain = {name: value for name, value in request.items() if name != "extra_body"}
    return {**plain, **request.get("extra_body", {})}


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a provider asks to wait, >= 0, or None; dates are not read."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _said(body: str) -> str:
    try:
        return _ErrorBody.model_validate_json(body).error.message
    except ValidationError:
        return body


def _meaning(status: int, body: str) -> tuple[Fault, str]:
    if status == 402 or any(sign in body for sign in _NO_CREDIT):
        # As hopeless as a bad key: no further call can succeed.
        return Fault.AUTH, "the account has no credit left; top it up or use another key"
    if status == 429:
        return Fault.RATE, "wait, or lower 'workers'"
    if status in (503, 529):
        return Fault.OVERLOADED, "it is overloaded; try later"
    if status in (408, 504):
        return Fault.TIMEOUT, "try later"
    if status >= 500:
        return Fault.SERVER, "the provider has trouble; try later"
    return Fault.REFUSED, "check 'model', 'base_url' and 'extra'"


def _stem(model: str) -> str:
    return model.lower().rpartition("/")[2].removesuffix("-latest").removesuffix(":latest")
