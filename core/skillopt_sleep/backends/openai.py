"""Chat Completions through OpenAI's SDK, for all providers that speak it; retries are ours.

What differs between providers stands in ``presets.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, Field

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.access import Access, key_of, model_of, url_of
from skillopt_sleep.backends.pace import Pace
from skillopt_sleep.backends.presets import OPENAI, Preset, preset_of
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

_THOUGHTS = ("<think>", "</think>")
_ENDPOINT = "/v1/chat/completions"


class _Said(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None


class _Completion(BaseModel):
    model: str = ""
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _File(BaseModel):
    id: str


class _Batch(BaseModel):
    id: str
    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None


class _Response(BaseModel):
    status_code: int
    body: dict[str, Any] = Field(default_factory=dict)


class _Unanswered(BaseModel):
    code: str | None = None


class _Entry(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: _Unanswered | None = None


class OpenAIBackend:
    """Asks one model of OpenAI or of a provider with the same API."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Make a client; nothing is sent.

        Raises:
            ConfigError: Key, model or URL is missing.
        """
        self.name = settings.name or "openai"
        self.model = model_of(settings)
        self._settings = settings
        self._world = world
        self._preset = preset_of(self.name)
        self.batches = self._preset.batches
        self._access = _access(settings, world, self._preset)
        self.pace = Pace(world)
        self._client = _client(self._access, settings.timeout_s, world.env)
        # Connections are kept between calls, and closed when this backend is no longer used.
        weakref.finalize(self, self._client.close)

    def complete(self, prompt: Prompt) -> Reply:
        """Return the model's answer; see ``Backend.complete``."""
        begun = self._world.monotonic()
        create = self._client.chat.completions.with_raw_response.create
        body = self._send(lambda: create(**self._request(prompt)))
        reply = self._reply(read_body(_Completion, self._access, body))
        return replace(reply, seconds=self._world.monotonic() - begun)

    def submit(self, wanted: Mapping[str, Prompt]) -> str:
        """Hand prompts in together; see ``BatchProvider.submit``."""
        lines = [
            orjson.dumps(
                {
                    "custom_id": key,
                    "method": "POST",
                    "url": _ENDPOINT,
                    "body": flat(self._request(prompt)),
                }
            )
            for key, prompt in wanted.items()
        ]
        whole = ("prompts.jsonl", b"\n".join(lines) + b"\n")
        files, batches = self._client.files.with_raw_response, self._client.batches
        body = self._send(lambda: files.create(file=whole, purpose="batch"))
        file = read_body(_File, self._access, body).id
        body = self._send(
            lambda: batches.with_raw_response.create(
                input_file_id=file, endpoint=_ENDPOINT, completion_window="24h"
            )
        )
        return read_body(_Batch, self._access, body).id

    def collect(self, batch: str) -> dict[str, Reply | BackendError] | None:
        """Return the answers once all are there; see ``BatchProvider.collect``."""
        body = self._send(lambda: self._client.batches.with_raw_response.retrieve(batch))
        found = read_body(_Batch, self._access, body)
        if found.status == "failed":
            raise malformed(self._access, f"the batch {batch!r} was refused as a whole")
        if found.status not in ("completed", "expired", "cancelled"):
            return None
        files = self._client.files.with_raw_response
        names = [name for name in (found.output_file_id, found.error_file_id) if name]
        bodies = [self._send(partial(files.content, name)) for name in names]
        lines = [line for whole in bodies for line in whole.splitlines() if line]
        entries = [read_body(_Entry, self._access, line) for line in lines]
        return {one.custom_id: answer_or_error(partial(self._of, one)) for one in entries}

    def cancel(self, batch: str) -> None:
        """Tell the provider that no answers are wanted any more."""
        self._send(lambda: self._client.batches.with_raw_response.cancel(batch))

    def _of(self, entry: _Entry) -> Reply:
        if entry.response is None:
            raise unprocessed(self._access, entry.error.code if entry.error else "")
        body = orjson.dumps(entry.response.body)
        if entry.response.status_code != 200:
            raise status_trouble(self._access, entry.response.status_code, body.decode(), {})
        return self._reply(read_body(_Completion, self._access, body))

    def _reply(self, completion: _Completion) -> Reply:
        check_model(self._access, self.model, completion.model, own_names=self._preset.own_names)
        choice = completion.choices[0]
        usage = _usage(completion.usage or _Usage())
        self.pace.weigh(usage.tokens)
        paid = (usage.tokens - usage.output_tokens, usage.output_tokens)
        if choice.finish_reason == "content_filter" or choice.message.refusal:
            raise BackendError(
                f"{self._access.url!r} refused to answer; look at what the task asks for",
                fault=Fault.REFUSED,
                input_tokens=paid[0],
                output_tokens=paid[1],
            )
        text = _without_thoughts(choice.message.content or "")
        check_text(self._access, text, cut=choice.finish_reason == "length", tokens=paid)
        return Reply(text=text, model=completion.model or self.model, usage=usage)

    def _send(self, call: Callable[[], Any]) -> bytes:
        import openai  # noqa: PLC0415 - half a second, paid only by those who use it

        try:
            response = call()
            self.pace.learn(response.headers)
            return cast("bytes", response.http_response.content)
        except openai.APIStatusError as error:
            raise status_trouble(
                self._access, error.status_code, error.response.text, error.response.headers
            ) from None
        except openai.APITimeoutError:
            raise timeout_trouble(self._access, self._settings.timeout_s) from None
        except openai.APIConnectionError as error:
            raise connection_trouble(self._access, error) from None
        except (openai.OpenAIError, ValueError) as error:
            raise malformed(self._access, str(error)) from None

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        messages = [{"role": one.role, "content": one.text} for one in prompt.messages]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        request: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            self._preset.tokens_field: prompt.max_tokens,
            "extra_body": {**self._preset.no_thinking, **self._settings.extra},
        }
        if prompt.temperature is not None:
            request["temperature"] = prompt.temperature
        return request


class CompatibleBackend(OpenAIBackend):
    """Asks a server that speaks OpenAI's API; the backend's name may be that of a preset."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Make a client; nothing is sent.

        Raises:
            ConfigError: Key, model or URL is missing.
        """
        named = settings.model_copy(update={"name": settings.name or "openai_compatible"})
        super().__init__(named, world)


def openai_url(settings: BackendSettings, world: World) -> str:
    """Return where a provider with OpenAI's API is.

    Raises:
        ConfigError: There is no URL, or one that is none.
    """
    preset = preset_of(settings.name or "openai")
    url = url_of(settings, world, default=preset.base_url, variable=preset.url_env)
    return url if url.endswith(preset.path) else url + preset.path


def _access(settings: BackendSettings, world: World, preset: Preset) -> Access:
    key, origin = key_of(settings, world, preset.key_env, needed=preset.needs_key)
    return Access(url=openai_url(settings, world), key=key, key_from=origin)


def _usage(said: _Usage) -> Usage:
    cached = said.prompt_cache_hit_tokens or 0
    if said.prompt_tokens_details is not None:
        cached = said.prompt_tokens_details.cached_tokens or cached
    return Usage(
        calls=1,
        input_tokens=max(0, said.prompt_tokens - cached),
        output_tokens=said.completion_tokens,
        cache_read_tokens=cached,
    )


def _without_thoughts(text: str) -> str:
    # Open models think aloud in the answer itself; an unclosed thought is all thought.
    opening, closing = _THOUGHTS
    if not text.lstrip().startswith(opening):
        return text
    return text.partition(closing)[2].lstrip()


def _client(access: Access, timeout_s: float, env: Mapping[str, str]) -> Any:  # noqa: ANN401 - typed by an SDK not imported
    import openai  # noqa: PLC0415 - half a second, paid only by those who use it

    client = openai.OpenAI(
        api_key=access.secret() or "none",
        base_url=access.url,
        timeout=timeout_s,
        max_retries=0,
        # Text goes to the host that was agreed to and to no other, so redirects are not followed.
        http_client=openai.DefaultHttpxClient(follow_redirects=False),
    )
    # The SDK reads these from the process, and would name the user's account at OpenAI to whoever
    # speaks the same API.
    theirs = urlsplit(access.url).hostname == urlsplit(OPENAI.base_url).hostname
    client.organization = env.get("OPENAI_ORG_ID") if theirs else None
    client.project = env.get("OPENAI_PROJECT_ID") if theirs else None
    return client


_CONFORMS: type[Backend] = OpenAIBackend
