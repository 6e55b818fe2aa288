"""Which human words correct, accept or question the agent: lexicon and structure, no model.

Only turns that a human typed are looked at; what a tool or the agent wrote is context at most.
Measured on labelled turns of its own (see the documentation of mining); it does not know what
the agent's work really was, so a correction that only states a new fact can escape it.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.mine import complaints, lexicon, lexicon_scripts
from skillopt_sleep.mine.tokens import ends_asking, fold, line, script, tokens, words
from skillopt_sleep.model.session import Session, Turn, TurnKind

NEAR_REPEAT = 0.85
"""Share of an earlier request's words that a reworded one must hold."""
_NEW_WORK = (
    *("add", "create", "write", "implement", "now", "next", "let's", "lets", "generate", "build"),
    *("run", "also", "commit", "push", "open", "start", "document", "explain", "show", "list"),
    *("check", "review", "update", "translate"),
)
_SHORT = 14
_LOOKED_AT = 40
_STEM = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a human turn stands in.

    Attributes:
        earlier: Human prompts before it in the session, oldest first.
        agent: The agent's last words before it, or "".
        event: ``INTERRUPT``, ``REJECTION`` or ``REWIND`` since the agent's last words, or None.
        worked: Whether the agent said or did something since the human's last words.
    """

    earlier: tuple[str, ...] = ()
    agent: str = ""
    event: TurnKind | None = None
    worked: bool = True


_EVENTS = (TurnKind.INTERRUPT, TurnKind.REJECTION, TurnKind.REWIND)


def corrections(session: Session) -> tuple[Turn, ...]:
    """Return the human turns that correct the agent, in log order."""
    return tuple(turn for turn, moment in moments(session) if corrects(turn, moment))


def moments(session: Session) -> list[tuple[Turn, Moment]]:
    """Return every human turn with what it stands in, in log order."""
    called = {call.after for call in session.calls}
    refused = {call.after for call in session.calls if call.refused}
    found: list[tuple[Turn, Moment]] = []
    earlier: list[str] = []
    agent, event, worked = "", None, False
    for turn in session.turns:
        if turn.human:
            moment = Moment(earlier=tuple(earlier), agent=agent, event=event, worked=worked)
            found.append((turn, moment))
            if turn.text and not bare_command(turn):
                earlier.append(turn.text)
                event, worked = None, False
        elif turn.kind is TurnKind.ASSISTANT:
            agent, worked = turn.text or agent, True
            event = None
        elif turn.kind in _EVENTS:
            event = turn.kind
        if turn.index in called:
            worked = True
        if turn.index in refused and not turn.human:
            event = TurnKind.REJECTION
    return found


def corrects(turn: Turn, moment: Moment) -> bool:
    """Whether ``turn`` tells the agent that what it did or was about to do is wrong."""
    if not moment.earlier or not turn.text.strip() or bare_command(turn):
        return False
    if _flat(turn.text) == _flat(moment.earlier[-1]):
        return False
    if moment.event in _EVENTS and _redirects(turn.text):
        return True
    if not moment.worked and moment.event is None:
        return False
    if turn.kind is TurnKind.COMMAND:
        return False
    # A remark that nothing was refused for answers a question that the log does not repeat.
    after = "?" if turn.kind is TurnKind.REMARK and moment.event is None else moment.agent
    return complains(turn.text, after=after) or _rewords(turn.text, moment.earlier)


def bare_command(turn: Turn) -> bool:
    """Whether ``turn`` is a shell line, or a slash command without words of the human's own."""
    shell = turn.text.startswith("!")
    return turn.kind is TurnKind.COMMAND and (shell or len(turn.text.split()) < 2)


def complains(text: str, *, after: str = "") -> bool:
    """Whether the words alone say that something is wrong; ``after`` is what the agent said."""
    kind = script(text)
    if kind:
        return _complains_in_script(text, kind)
    said = line(text)
    if _answers(said, after):
        return False
    said = lexicon.HARMLESS.without(_beginning(said))
    if complaints.OPENERS.found(said) and not _one_question(said):
        return True
    if complaints.CLAUSES.found(said) and not _asks(said):
        return True
    new_work = said.split()[:1] and said.split()[0] in _NEW_WORK
    if complaints.ANYWHERE.found(said) and not new_work and not _asks(said):
        return True
    return not ends_asking(after) and _contrasts(said)


def accepts(text: str) -> bool:
    """Whether ``text`` begins with thanks or praise and complains of nothing."""
    kind = script(text)
    if kind:
        glad = bool(lexicon_scripts.ACCEPTANCE[kind].search(text))
        return glad and not _complains_in_script(text, kind)
    said = line(text)
    glad = lexicon.ACCEPTANCE.found(said) or said != lexicon.HARMLESS.without(said)
    return glad and not complains(text)


def continues(text: str) -> bool:
    """Whether ``text`` only tells the agent to go on; at most four words."""
    kind = script(text)
    if kind:
        return bool(lexicon_scripts.CONTINUE[kind].search(text)) and len(text) <= 8
    return len(words(text)) <= 4 and lexicon.CONTINUE.found(line(text))


def asks(text: str) -> bool:
    """Whether ``text`` is a question."""
    if script(text):
        return bool(lexicon_scripts.QUESTION.search(fold(text)))
    return _asks(line(text))


def _asks(said: str) -> bool:
    if said.rstrip().endswith("?"):
        return _one_question(said)
    return lexicon.QUESTION.found(said) and len(said.split()) <= _SHORT and " ? " not in said


def _beginning(said: str) -> str:
    # A complaint comes first; what follows in a long message is a specification or a paste.
    parts = said.split(maxsplit=_LOOKED_AT)
    return f" {' '.join(parts[:_LOOKED_AT])} " if len(parts) > _LOOKED_AT else said


def _one_question(said: str) -> bool:
    """Whether the words are one question; "no, the other one! where is it?" is more than that."""
    body = said.rstrip()
    return body.endswith("?") and not any(mark in body[:-1] for mark in (" . ", " ! ", " ? "))


def _answers(said: str, after: str) -> bool:
    return ends_asking(after) and len(said.split()) <= 3 and lexicon.ANSWER.found(said)


def _complains_in_script(text: str, kind: str) -> bool:
    flat = lexicon_scripts.HARMLESS[kind].sub(",", fold(text))
    if lexicon_scripts.QUESTION.search(flat):
        return False
    return bool(lexicon_scripts.CORRECTION[kind].search(flat))


def _contrasts(said: str) -> bool:
    parts = said.split()
    if len(parts) > _SHORT + 4 or not parts or parts[0] in _NEW_WORK or _asks(said):
        return False
    return " , not " in said or " , but not " in said


def _redirects(text: str) -> bool:
    return not (continues(text) or accepts(text) or asks(text))


def stems(text: str) -> frozenset[str]:
    """Return the words of ``text`` cut to five letters, or letter pairs where no blanks part."""
    if script(text):
        flat = "".join(words(text))
        return frozenset(flat[i : i + 2] for i in range(len(flat) - 1))
    return frozenset(token[:_STEM] for token in tokens(text) if token[0] not in ".,;:!?")


def _flat(text: str) -> str:
    return " ".join(words(text))


def _rewords(text: str, earlier: tuple[str, ...]) -> bool:
    new = stems(text)
    flat = _flat(text)
    for before in earlier[-3:]:
        old = stems(before)
        if len(old) < 4 or flat == _flat(before):
            continue
        if len(new) <= 2 * len(old) and len(old & new) / len(old) >= NEAR_REPEAT:
            return True
    return False
