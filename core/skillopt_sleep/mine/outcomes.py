"""What the agent had produced at a point of the log, in the shape in which judges see attempts.

The recorded answer holds the agent's words, the text it wrote into files and the commands it ran,
as an attempt without tools would show them. Knows no check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from skillopt_sleep.model.attempt import Outcome, Step
from skillopt_sleep.model.episode import Episode, Stretch
from skillopt_sleep.model.session import ToolCall

_WRITTEN = ("content", "new_string", "new_str", "file_text", "new_source", "code")
_PATCHED = ("patch", "input", "diff")
_TEXT_CAP = 20_000


def outcome(stretches: Sequence[Stretch]) -> Outcome:
    """Return what the agent had said, written and run in ``stretches``, oldest first."""
    calls = [call for stretch in stretches for call in stretch.calls]
    commands = tuple(call.command for call in calls if call.command)
    blocks = [stretch.answer for stretch in stretches if stretch.answer]
    blocks += [f"```code\n{text}\n```" for call in calls for text in written(call)]
    if commands:
        blocks.append("```bash\n" + "\n".join(commands) + "\n```")
    return Outcome(
        answer="\n\n".join(blocks)[:_TEXT_CAP],
        steps=tuple(_steps(stretches)),
        commands=commands,
        tools=tuple(call.name for call in calls),
    )


def good_outcome(episode: Episode) -> Outcome | None:
    """Return what the human let stand: the work since the last correction, or None.

    There is none where the work was cut off or nothing followed the last correction.
    """
    last = _last_correction(episode)
    kept = [stretch for stretch in episode.stretches[last:] if not stretch.empty]
    if not kept or episode.stretches[-1].broken:
        return None
    return outcome(kept)


def bad_outcome(episode: Episode, place: int) -> Outcome | None:
    """Return the work that the human turn at ``place`` among the stretches corrected, or None."""
    before = episode.stretches[:place]
    first = max((n for n, s in enumerate(before) if s.correcting), default=0)
    kept = [stretch for stretch in before[first:] if not stretch.empty]
    return outcome(kept) if kept else None


def written(call: ToolCall) -> Iterator[str]:
    """Yield the texts that a tool call put into files, added lines only where it is a patch."""
    try:
        arguments: object = json.loads(call.arguments)
    except ValueError:
        return
    yield from _texts(arguments, call.command)


def _texts(value: object, command: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _texts(item, command)
    if not isinstance(value, dict):
        return
    for key, inner in cast("dict[str, Any]", value).items():
        if not isinstance(inner, str):
            yield from _texts(inner, command)
        elif key in _WRITTEN and inner != command:
            yield inner
        elif key in _PATCHED and inner != command:
            yield _added(inner)


def _added(patch: str) -> str:
    lines = patch.splitlines()
    return "\n".join(x[1:] for x in lines if x.startswith("+") and not x.startswith("+++"))


def _steps(stretches: Sequence[Stretch]) -> Iterator[Step]:
    for stretch in stretches:
        if stretch.answer:
            yield Step(role="assistant", text=stretch.answer)
        for call in stretch.calls:
            yield Step(role="tool", tool=call.name, arguments=call.arguments, text=call.output)


def _last_correction(episode: Episode) -> int:
    return max((n for n, s in enumerate(episode.stretches) if s.correcting), default=0)
