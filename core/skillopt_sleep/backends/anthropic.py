"""Anthropic's Messages API through its SDK, imported when the backend is made; retries are ours."""

from __future__ import annotations

import weakref
from typing import Any, cast

from pydantic import BaseModel, Field

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.access import Access, key_of, model_of, url_of
from skillopt_sleep.backends.pace import Pace
from skillopt_sleep.backends.wire import (
    check_model,
    check_text,
    connection_trouble,
    malformed,
    read_body,
    status_trouble,
    timeout_trouble,
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


class AnthropicBackend:
    """Asks one model; the system prompt is marked as the prefix to cache."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Make a client; nothing is sent.

        Raises:
            ConfigError: Key, model or URL is missing.
        """
        self.name = settings.name or "anthropic"
        self.model = model_of(settings)
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
        message = read_body(_Message, self._access, self._post(prompt))
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
        seconds = self._world.monotonic() - begun
        return Reply(text=text, model=message.model, usage=usage, seconds=seconds)

    def _post(self, prompt: Prompt) -> bytes:
        import anthropic  # noqa: PLC0415 - half a second, paid only by those who use it

        try:
            response = self._client.messages.with_raw_response.create(**self._request(prompt))
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
