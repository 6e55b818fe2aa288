"""Anthropic's Messages API through its SDK, imported when the backend is made; retries are ours."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from pydantic import BaseModel, Field

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.access import Access, key_of, model_of, url_of
from skillopt_sleep.backends.pace import Pace
from skillopt_sleep.backends.wire import (
    answer_or_error,
    check_model,
    check_text,
    connection_trouble,
    flat,
    malformed,
    read_body,
    status_trouble,
    timeout_trouble,
    unprocessed,
)
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import BackendError, Fault
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import World

URL = "https://api.anthropic.com"
TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"
KEY_VARIABLES = ("ANTHROPIC_API_KEY", TOKEN_VARIABLE)


class _Block(BaseModel):
    type: str
    text: str = ""


class _Usage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(BaseModel):
    model: str
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Usage = Field(default_factory=_Usage)


class _Batch(BaseModel):
    id: str
    processing_status: str


class _Said(BaseModel):
    type: str = ""
    message: str = ""


class _Error(BaseModel):
    error: _Said


class _Result(BaseModel):
    type: str
    message: _Message | None = None
    error: _Error | None = None


class _Entry(BaseModel):
    custom_id: str
    result: _Result


_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What stands for an HTTP status within a batch."""


class AnthropicBackend:
    """Asks one model; the system prompt is marked as the prefix to cache."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Make a client; nothing is sent.

        Raises:
            ConfigError: Key, model or URL is missing.
        """
        self.name = settings.name or "anthropic"
        self.model = model_of(settings)
        self.batches = True
        self._settings = settings
        self._world = world
        self._access = _access(settings, world)
        self.pace = Pace(world)
        self._client = _client(self._access, settings.timeout_s)
        # Connections are kept between calls, and closed when this backend is no longer used.
        weakref.finalize(self, self._client.close)

    def complete(self, prompt: Prompt) -> Reply:
        """Return the model's answer; see ``Backend.complete``."""
        begun = self._world.monotonic()
        body = self._send(
            lambda: self._client.messages.with_raw_response.create(**self._request(prompt))
        )
        reply = self._reply(read_body(_Message, self._access, body))
        return replace(reply, seconds=self._world.monotonic() - begun)

    def submit(self, wanted: Mapping[str, Prompt]) -> str:
        """Hand prompts in together; see ``BatchProvider.submit``."""
        batches = self._client.messages.batches.with_raw_response
        requests = [
            {"custom_id": key, "params": flat(self._request(prompt))}
            for key, prompt in wanted.items()
        ]
        body = self._send(lambda: batches.create(requests=requests))
        return read_body(_Batch, self._access, body).id

    def collect(self, batch: str) -> dict[str, Reply | BackendError] | None:
        """Return the answers once all are there; see ``BatchProvider.collect``."""
        batches = self._client.messages.batches.with_raw_response
        body = self._send(lambda: batches.retrieve(batch))
        if read_body(_Batch, self._access, body).processing_status != "ended":
            return None
        # The address that the provider gives for this might be another host's.
        path = f"/v1/messages/batches/{batch}/results"
        lines = self._send(lambda: self._client.get(path, cast_to=bytes))
        entries = [read_body(_Entry, self._access, line) for line in lines.splitlines() if line]
        return {one.custom_id: answer_or_error(partial(self._of, one)) for one in entries}

    def cancel(self, batch: str) -> None:
        """Tell the provider that no answers are wanted any more."""
        self._send(lambda: self._client.messages.batches.with_raw_response.cancel(batch))

    def _of(self, entry: _Entry) -> Reply:
        if entry.result.message is not None:
            return self._reply(entry.result.message)
        if entry.result.error is None:
            raise unprocessed(self._access, entry.result.type)
        kind, said = entry.result.error.error.type, entry.result.error.error.message
        raise status_trouble(self._access, _STATUS.get(kind, 500), said, {})

    def _reply(self, message: _Message) -> Reply:
        check_model(self._access, self.model, message.model, own_names=False)
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = Usage(
            calls=1,
            input_tokens=message.usage.input_tokens,
            output_tokens=message.usage.output_tokens,
            cache_read_tokens=message.usage.cache_read_input_tokens or 0,
            cache_write_tokens=message.usage.cache_creation_input_tokens or 0,
        )
        self.pace.weigh(usage.tokens)
        paid = (usage.tokens - usage.output_tokens, usage.output_tokens)
        if message.stop_reason == "refusal":
            raise BackendError(
                f"{self._access.url!r} refused to answer; look at what the task asks for",
                fault=Fault.REFUSED,
                input_tokens=paid[0],
                output_tokens=paid[1],
            )
        check_text(self._access, text, cut=message.stop_reason == "max_tokens", tokens=paid)
        return Reply(text=text, model=message.model, usage=usage)

    def _send(self, call: Callable[[], Any]) -> bytes:
        import anthropic  # noqa: PLC0415 - half a second, paid only by those who use it

        try:
            response = call()
            if isinstance(response, bytes):
                return response
            self.pace.learn(response.headers)
            return cast("bytes", response.http_response.content)
        except anthropic.APIStatusError as error:
            raise status_trouble(
                self._access, error.status_code, error.response.text, error.response.headers
            ) from None
        except anthropic.APITimeoutError:
            raise timeout_trouble(self._access, self._settings.timeout_s) from None
        except anthropic.APIConnectionError as error:
            raise connection_trouble(self._access, error) from None
        except (anthropic.AnthropicError, ValueError) as error:
            raise malformed(self._access, str(error)) from None

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        # The SDK knows a temperature no more, while most models still take one, up to 1.
        warmth = {} if prompt.temperature is None else {"temperature": min(1.0, prompt.temperature)}
        request: dict[str, Any] = {
            "model": self.model,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": one.role, "content": one.text} for one in prompt.messages],
            "extra_body": {**warmth, **self._settings.extra},
        }
        if prompt.system:
            request["system"] = [
                {"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}
            ]
        return request


def anthropic_url(settings: BackendSettings, world: World) -> str:
    """Return where Anthropic's API, or what stands in for it, is.

    Raises:
        ConfigError: The URL is none.
    """
    return url_of(settings, world, default=URL, variable="ANTHROPIC_BASE_URL")


def _access(settings: BackendSettings, world: World) -> Access:
    key, origin = key_of(settings, world, KEY_VARIABLES, needed=True)
    return Access(url=anthropic_url(settings, world), key=key, key_from=origin)


def _client(access: Access, timeout_s: float) -> Any:  # noqa: ANN401 - typed by an SDK not imported
    import anthropic  # noqa: PLC0415 - half a second, paid only by those who use it

    bearer = access.key_from == TOKEN_VARIABLE
    return anthropic.Anthropic(
        api_key=None if bearer else access.secret(),
        auth_token=access.secret() if bearer else None,
        base_url=access.url,
        timeout=timeout_s,
        max_retries=0,
        # Text goes to the host that was agreed to and to no other, so redirects are not followed.
        http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        open_telemetry=False,
    )


_CONFORMS: type[Backend] = AnthropicBackend
