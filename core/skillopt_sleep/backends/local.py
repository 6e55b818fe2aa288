"""Any GGUF file as a model in this process, through llama.cpp; the extra ``local`` brings it.

No text leaves the machine. The file is loaded once, however many roles it plays.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, Field, ValidationError

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.access import model_of
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import World

DEFAULT_CONTEXT = 8192
"""Tokens of prompt and answer together."""

_LOADING = ("context", "threads", "gpu_layers")


class _Delta(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: int = 0


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details = _Details()


class _Said(BaseModel):
    code: int = 0
    message: str = ""


class _Chunk(BaseModel):
    choices: list[_Choice] = Field(default_factory=list[_Choice])
    usage: _Usage | None = None
    error: _Said | None = None


class _Engine:
    """One loaded file; ``lock`` is held while another thread loads it."""

    def __init__(self, settings: BackendSettings) -> None:
        try:
            # An extra, and a hundred megabytes of library.
            library: Any = import_module("xllamacpp")
        except ImportError as error:
            raise ConfigError(
                "the backend 'local' needs a package that is not installed; install"
                " 'skillopt-sleep[local]'"
            ) from error
        found: Any = library.CommonParams()
        found.model.path = settings.model
        found.n_parallel = settings.workers
        found.n_ctx = settings.workers * int(settings.extra.get("context", DEFAULT_CONTEXT))
        found.verbosity = -1
        # It listens on a loopback port besides, which nobody else on this machine shall use.
        found.api_keys = [secrets.token_hex()]
        if threads := int(settings.extra.get("threads", 0)):
            found.cpuparams.n_threads = threads
        if layers := int(settings.extra.get("gpu_layers", 0)):
            found.n_gpu_layers = layers
        try:
            self.server: Any = library.Server(found)
        except (RuntimeError, ValueError) as error:
            raise ConfigError(
                f"the model {settings.model!r} cannot be loaded: {error}; see that it is a whole"
                " GGUF file and that there is memory for it"
            ) from error


_loaded: weakref.WeakValueDictionary[str, _Engine] = weakref.WeakValueDictionary()
_loading = threading.Lock()


class LocalBackend:
    """Asks a model in this process; equal prompts and draws get equal answers."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Find the file; it is loaded when it is first asked.

        Raises:
            ConfigError: There is no such file, or ``extra`` holds no numbers where it must.
        """
        self.name = settings.name or "local"
        self.model = model_of(settings)
        self._settings = settings
        self._world = world
        self._engine: _Engine | None = None
        path = Path(self.model)
        if not path.is_file():
            raise ConfigError(
                f"the backend {self.name!r} has the model {self.model!r}, which is no file; set"
                " 'model' to the path of a GGUF file"
            )
        for name in _LOADING:
            if not isinstance(settings.extra.get(name, 0), int):
                raise ConfigError(f"'extra.{name}' must be a whole number; change it")

    def complete(self, prompt: Prompt) -> Reply:
        """Return the model's answer; see ``Backend.complete``.

        Raises:
            ConfigError: The extra is not installed or the file cannot be loaded.
        """
        engine = self._ready()
        begun = self._world.monotonic()
        late = begun + self._settings.timeout_s
        heard: list[object] = []

        def listen(told: object) -> bool:
            heard.append(told)
            return self._world.monotonic() > late

        try:
            engine.server.handle_chat_completions(self._request(prompt), listen)
        except (ValueError, RuntimeError) as error:
            raise self._trouble(str(error), Fault.REFUSED) from None
        seconds = self._world.monotonic() - begun
        chunks = [chunk for told in heard for chunk in _chunks(told)]
        return self._reply(chunks, seconds, stopped=begun + seconds > late)

    def _reply(self, heard: list[_Chunk], seconds: float, *, stopped: bool) -> Reply:
        for chunk in heard:
            if chunk.error is not None:
                raise self._trouble(chunk.error.message, Fault.REFUSED)
        choices = [choice for chunk in heard for choice in chunk.choices]
        ended = [one.finish_reason for one in choices if one.finish_reason]
        if not ended and stopped:
            raise BackendError(
                f"the model {self.model!r} did not end within {self._settings.timeout_s:g} s; raise"
                " 'timeout_s' or lower 'max_tokens'",
                fault=Fault.TIMEOUT,
            )
        text = "".join(one.delta.content or "" for one in choices)
        if not text.strip() or not ended:
            raise self._trouble("it said nothing", Fault.MALFORMED)
        used = next((chunk.usage for chunk in reversed(heard) if chunk.usage), _Usage())
        cached = used.prompt_tokens_details.cached_tokens
        return Reply(
            text=text,
            model=self.model,
            usage=Usage(
                calls=1,
                input_tokens=max(0, used.prompt_tokens - cached),
                output_tokens=used.completion_tokens,
                cache_read_tokens=cached,
            ),
            seconds=seconds,
        )

    def _ready(self) -> _Engine:
        settings = self._settings
        loading = {name: settings.extra.get(name) for name in _LOADING}
        key = f"{settings.model}|{settings.workers}|{sorted(loading.items())}"
        with _loading:
            if self._engine is None:
                self._engine = _loaded.get(key) or _Engine(settings)
                _loaded[key] = self._engine
            return self._engine

    def _request(self, prompt: Prompt) -> dict[str, object]:
        messages = [{"role": one.role, "content": one.text} for one in prompt.messages]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        request: dict[str, object] = {
            "messages": messages,
            "max_tokens": prompt.max_tokens,
            "seed": prompt.draw,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if prompt.temperature is not None:
            request["temperature"] = prompt.temperature
        others = {k: v for k, v in self._settings.extra.items() if k not in _LOADING}
        return {**request, **others}

    def _trouble(self, why: str, fault: Fault) -> BackendError:
        return BackendError(
            f"the model {self.model!r} gave no answer: {why}; see 'extra.context', its tokens for"
            " prompt and answer together",
            fault=fault,
        )


def _chunks(told: object) -> list[_Chunk]:
    many: list[object] = cast("list[object]", told) if isinstance(told, list) else [told]
    try:
        return [_Chunk.model_validate(one) for one in many]
    except ValidationError as error:
        raise BackendError(
            f"the model in process sent no usable answer: {error.title}; update 'xllamacpp'",
            fault=Fault.MALFORMED,
        ) from None


_CONFORMS: type[Backend] = LocalBackend
