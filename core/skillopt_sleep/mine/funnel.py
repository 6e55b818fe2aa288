"""The funnel of mining: how many sessions there were, what fell away and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillopt_sleep.mine.groups import Group
from skillopt_sleep.mine.recurring import Sorted
from skillopt_sleep.model.check import Validity
from skillopt_sleep.model.night import FunnelStep
from skillopt_sleep.model.session import Session
from skillopt_sleep.model.task import Split, Task


def funnel(
    *,
    sessions: Sequence[Session],
    mined: Sequence[Session],
    sorted_out: Sorted,
    groups: Sequence[Group],
    tasks: Sequence[Task],
) -> tuple[FunnelStep, ...]:
    """Return the narrowing from sessions seen to tasks with checks, in order."""
    asked = len(sorted_out.requests)
    recur = sum(len(group.episodes) for group in groups)
    checked = [task for task in tasks if task.checks]
    proven = [t for t in checked if any(c.validity is not Validity.UNPROVEN for c in t.checks)]
    sides = Counter(task.split for task in checked)
    gone = _counted(
        (sorted_out.idle, "greetings, praise or copies"),
        (sorted_out.automation, "set aside as automation"),
    )
    return (
        FunnelStep(name="sessions", count=len(sessions)),
        FunnelStep(name="sessions mined", count=len(mined), note=_left_out(sessions, mined)),
        FunnelStep(name="human prompts", count=sum(len(session.prompts) for session in mined)),
        FunnelStep(name="requests", count=asked, note=gone),
        FunnelStep(
            name="requests that came again",
            count=recur,
            note=_counted((asked - recur, "came once")),
        ),
        FunnelStep(name="different requests among them", count=len(groups)),
        FunnelStep(name="tasks", count=len(tasks)),
        FunnelStep(
            name="tasks with checks",
            count=len(checked),
            note=", ".join(f"{sides[side]} {side.value}" for side in Split if sides[side]),
        ),
        FunnelStep(name="with a proven or reviewed check", count=len(proven)),
    )


def _counted(*parts: tuple[int, str]) -> str:
    return "; ".join(f"{count} {what}" for count, what in parts if count)


def _left_out(sessions: Sequence[Session], mined: Sequence[Session]) -> str:
    kept = {session.id for session in mined}
    counts = Counter(session.origin.value for session in sessions if session.id not in kept)
    return ", ".join(f"{count} {origin}" for origin, count in sorted(counts.items()))


def automation_notes(sources: Sequence[tuple[str, str]], per_day: int) -> Iterator[str]:
    """Yield a sentence per text that was set aside since a machine repeats it."""
    for folder, text in sources:
        yield (
            f"set aside as automation: {text!r} came more than {per_day} times on a day from"
            f" {folder or 'an unknown folder'!r}"
        )
