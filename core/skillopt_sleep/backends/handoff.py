"""Prompts to files, answers from files: the user's own agent, or the user, is the model.

Every prompt is one self-contained file and is meant to be answered in a context of its own. It
holds what the model would have seen and nothing more. A page about a held-out task says that
whoever improves the skill must not answer it, and is taken away once it has its answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.backends import Backend
from skillopt_sleep.codec import decode, digest, encode
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import AnswersWantedError, BackendError, Fault
from skillopt_sleep.files import PRIVATE_FILE, make_private, write_atomic
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import World

PROMPT_ENDING = ".prompt.md"
ANSWER_ENDING = ".answer.md"
RECORD_ENDING = ".json"
FOLDER = "handoff"

_HEAD = """\
# {stage} {key}

Answer this in a fresh context, from this page alone. Write the answer, and nothing else, to
`{answer}` beside this file.

{blind}---
"""
_BLIND = """\
This is about a task that the skill is tested on. Whoever answers it must not also answer pages of
the stages reflect, aggregate, select, update, slow or meta, nor carry anything from it there.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One prompt without an answer.

    Attributes:
        key: Its name.
        prompt: What is asked.
        page: The prompt as a page for a person.
    """

    key: str
    prompt: Prompt
    page: str


class HandoffBackend:
    """Finds the answer to a prompt in a folder, or leaves the prompt there."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        self.name = settings.name or "handoff"
        self.model = settings.model or "handoff"
        self._folder = handoff_folder(settings, world)

    def complete(self, prompt: Prompt) -> Reply:
        """Return the answer that lies in the folder; see ``Backend.complete``.

        Raises:
            AnswersWantedError: There is none yet; the prompt lies there now.
            BackendError: The folder cannot be read or written.
        """
        key = prompt_key(prompt)
        try:
            text = _answer(self._folder, key)
            if text:
                if prompt.blind:
                    _take_away(self._folder, key)
                return Reply(text=text, model=self.model, usage=Usage(calls=1))
            _leave(self._folder, key, prompt)
        except (OSError, UnicodeDecodeError) as error:
            raise BackendError(
                f"the handoff folder {str(self._folder)!r} cannot be used: {error}; make it"
                " readable and writable",
                fault=Fault.UNREACHABLE,
            ) from None
        raise AnswersWantedError(
            f"a prompt waits in {str(self._folder / (key + PROMPT_ENDING))!r}; write its answer"
            f" to {key + ANSWER_ENDING!r} beside it and run again",
            folder=str(self._folder),
            waiting=1,
        )


def handoff_folder(settings: BackendSettings, world: World) -> Path:
    """Return where prompts are left: the settings' ``folder``, else one below our own data."""
    return Path(settings.folder) if settings.folder else world.roots.data / FOLDER


def prompt_key(prompt: Prompt) -> str:
    """Return the name of a prompt's files."""
    messages = [(one.role, one.text) for one in prompt.messages]
    return digest(prompt.stage.value, prompt.system, messages, prompt.draw)[:16]


def waiting(folder: Path) -> tuple[Waiting, ...]:
    """Return the prompts of a folder that have no answer yet, by name.

    Raises:
        OSError: The folder cannot be read.
    """
    found: list[Waiting] = []
    for page in sorted(folder.glob(f"*{PROMPT_ENDING}")):
        key = page.name.removesuffix(PROMPT_ENDING)
        record = folder / f"{key}{RECORD_ENDING}"
        if not _answer(folder, key) and record.exists():
            prompt = decode(Prompt, record.read_bytes())
            found.append(Waiting(key=key, prompt=prompt, page=page.read_text(encoding="utf-8")))
    return tuple(found)


def give_answer(folder: Path, key: str, text: str) -> None:
    """Put an answer beside its prompt.

    Raises:
        BackendError: No prompt has this key, or the answer is empty.
        OSError: The file cannot be written.
    """
    known = {one.name.removesuffix(PROMPT_ENDING) for one in folder.glob(f"*{PROMPT_ENDING}")}
    if key not in known:
        raise BackendError(
            f"no prompt is called {key!r} in {str(folder)!r}; there are"
            f" {', '.join(sorted(known)) or 'none'}",
            fault=Fault.REFUSED,
        )
    if not text.strip():
        raise BackendError(f"the answer to {key!r} is empty; say something", fault=Fault.MALFORMED)
    write_atomic(folder / f"{key}{ANSWER_ENDING}", text.encode(), mode=PRIVATE_FILE)


def _answer(folder: Path, key: str) -> str:
    path = folder / f"{key}{ANSWER_ENDING}"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _leave(folder: Path, key: str, prompt: Prompt) -> None:
    make_private(folder)
    record = folder / f"{key}{RECORD_ENDING}"
    write_atomic(record, encode(prompt).encode(), mode=PRIVATE_FILE)
    page = folder / f"{key}{PROMPT_ENDING}"
    write_atomic(page, _page(key, prompt).encode(), mode=PRIVATE_FILE)


def _take_away(folder: Path, key: str) -> None:
    # The answer stays, so that a night that died finds it again; it holds no check.
    for ending in (PROMPT_ENDING, RECORD_ENDING):
        (folder / f"{key}{ending}").unlink(missing_ok=True)


def _page(key: str, prompt: Prompt) -> str:
    head = _HEAD.format(
        stage=prompt.stage,
        key=key,
        answer=key + ANSWER_ENDING,
        blind=_BLIND if prompt.blind else "",
    )
    parts = [head]
    if prompt.system:
        parts.append(f"## Instructions\n\n{prompt.system}\n")
    parts += [f"## {message.role.capitalize()}\n\n{message.text}\n" for message in prompt.messages]
    return "\n".join(parts)


_CONFORMS: type[Backend] = HandoffBackend
