"""Cuts a session into episodes and lists the signals of each.

A human prompt opens an episode unless it is about the last one: a correction, praise, "go on",
the answer to a question, or the same words again. Knows nothing of other sessions.
"""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skillopt_sleep.codec import digest
from skillopt_sleep.mine.commands import landed, reverted, verifies
from skillopt_sleep.mine.frames import standing
from skillopt_sleep.mine.signals import (
    Moment,
    accepts,
    asks,
    bare_command,
    continues,
    corrects,
    moments,
)
from skillopt_sleep.mine.tokens import ends_asking, script, words
from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.episode import Episode, Signal, SignalKind, Stretch
from skillopt_sleep.model.session import Session, ToolCall, Turn, TurnKind

_QUOTE = 500
_CONTEXT = 1200
_RESETS = ("/clear", "/new", "/reset")
_EVENT_SIGNALS = {
    TurnKind.INTERRUPT: SignalKind.INTERRUPT,
    TurnKind.REJECTION: SignalKind.REJECTION,
    TurnKind.REWIND: SignalKind.REWIND,
}


def quote(session: Session, turn: Turn, *, role: str = "human") -> Evidence:
    """Return ``turn`` as evidence, its words cut at 500 characters."""
    return Evidence(session=session.id, turn=turn.index, role=role, quote=turn.text[:_QUOTE])


def episodes(session: Session) -> tuple[Episode, ...]:
    """Return the episodes of ``session``, oldest first; none where the human asked nothing."""
    seen: Counter[str] = Counter()
    found: list[Episode] = []
    for cut in _cuts(session):
        text = _asked(cut.human[0][0])
        found.append(_built(session, cut, nth=seen[text]))
        seen[text] += 1
    return tuple(found)


@dataclass(slots=True)
class _Cut:
    first: int
    human: list[tuple[Turn, Moment]] = field(default_factory=list[tuple[Turn, Moment]])
    last: int = 0
    context: str = ""


def _cuts(session: Session) -> Iterator[_Cut]:
    current: _Cut | None = None
    said: list[str] = []
    for turn, moment in moments(session):
        if bare_command(turn) or not turn.text.strip():
            if current is not None and turn.text.strip().startswith(_RESETS):
                yield _closed(current, turn.index)
                current, said = None, []
            continue
        if current is None or not _about(turn, moment, current):
            if current is not None:
                yield _closed(current, turn.index)
            current = _Cut(first=turn.index, context="\n".join(said)[-_CONTEXT:])
        current.human.append((turn, moment))
        # What a human demanded of the agent would give the answer away to a later attempt.
        if not corrects(turn, moment) and not standing(turn.text):
            said.append(turn.text)
    if current is not None:
        yield _closed(current, len(session.turns))


def _closed(cut: _Cut, last: int) -> _Cut:
    cut.last = last
    return cut


def _about(turn: Turn, moment: Moment, cut: _Cut) -> bool:
    if turn.kind is TurnKind.COMMAND:
        return False
    if turn.kind is TurnKind.REMARK or corrects(turn, moment):
        return True
    if accepts(turn.text) and len(words(turn.text)) <= 6:
        return True
    return continues(turn.text) or _replies(turn, moment) or _same(turn, cut.human[0][0])


def _replies(turn: Turn, moment: Moment) -> bool:
    size = len(turn.text) / 3 if script(turn.text) else len(words(turn.text))
    return ends_asking(moment.agent) and size <= 8 and not asks(turn.text)


def _same(turn: Turn, request: Turn) -> bool:
    return words(turn.text) == words(request.text)


def _built(session: Session, cut: _Cut, *, nth: int) -> Episode:
    request = cut.human[0][0]
    stretches = tuple(_stretches(session, cut))
    return Episode(
        id=digest("episode", session.id, _asked(request), nth),
        session=session.id,
        harness=session.harness,
        request=request,
        text=_asked(request),
        stretches=stretches,
        cwd=session.cwd,
        commit=session.commit,
        at=request.at or session.started_at,
        context=cut.context,
        signals=tuple(_signals(session, cut, stretches)),
        skills=session.skills,
    )


def _asked(request: Turn) -> str:
    if request.kind is TurnKind.COMMAND:
        return request.text.split(maxsplit=1)[1].strip()
    return request.text.strip()


def _stretches(session: Session, cut: _Cut) -> Iterator[Stretch]:
    bounds = [turn.index for turn, _ in cut.human] + [cut.last]
    for place, (turn, moment) in enumerate(cut.human):
        low, high = bounds[place], bounds[place + 1]
        inside = session.turns[low + 1 : high]
        yield Stretch(
            prompted=turn,
            correcting=place > 0 and corrects(turn, moment),
            answer="\n\n".join(t.text for t in inside if t.kind is TurnKind.ASSISTANT and t.text),
            calls=tuple(c for c in session.calls if low <= c.after < high and not c.refused),
            broken=any(t.kind in _EVENT_SIGNALS for t in inside),
        )


def _signals(session: Session, cut: _Cut, stretches: Sequence[Stretch]) -> Iterator[Signal]:
    for place, (turn, moment) in enumerate(cut.human[1:], 1):
        if stretches[place].correcting:
            yield Signal(kind=SignalKind.CORRECTION, evidence=quote(session, turn))
        elif accepts(turn.text):
            yield Signal(kind=SignalKind.ACCEPTANCE, evidence=quote(session, turn))
        elif _same(turn, cut.human[0][0]) and moment.worked:
            yield Signal(kind=SignalKind.REPEAT, evidence=quote(session, turn))
    for turn in session.turns[cut.first : cut.last]:
        if kind := _EVENT_SIGNALS.get(turn.kind):
            yield Signal(kind=kind, evidence=quote(session, turn))
    yield from _command_signals(session, [c for s in stretches for c in s.calls])


def _command_signals(session: Session, calls: Sequence[ToolCall]) -> Iterator[Signal]:
    red: set[str] = set()
    for call in calls:
        evidence = Evidence(
            session=session.id, turn=max(call.after, 0), role="tool", quote=call.command[:_QUOTE]
        )
        checked = verifies(call.command)
        if call.error and call.command:
            yield Signal(kind=SignalKind.FAILED_COMMAND, evidence=evidence)
        if checked and call.error:
            red.add(checked)
        elif checked in red:
            red.discard(checked)
            yield Signal(kind=SignalKind.RED_TO_GREEN, evidence=evidence)
        if landed(call.command) and not call.error:
            yield Signal(kind=SignalKind.COMMIT, evidence=evidence)
        if reverted(call.command) and not call.error:
            yield Signal(kind=SignalKind.REVERT, evidence=evidence)


def repository(cwd: str) -> str:
    """Return a short name of the folder worked in, or ""."""
    return os.path.basename(cwd.replace("\\", "/").rstrip("/"))
