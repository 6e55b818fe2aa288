"""Stage Update: selected edits, or rules written anew, become candidate documents.

Rules written anew become edits too, by comparison with the present ones, so that they meet the
same protection, caps and report.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.codec import digest, text_hash
from skillopt_sleep.model.apply import Limits, apply_edits
from skillopt_sleep.model.edit import Applied, ApplyStatus, Edit, EditKind
from skillopt_sleep.model.legible import clean
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.skill import parse
from skillopt_sleep.optimizer.advisor import Advisor, Answer
from skillopt_sleep.optimizer.brief import Brief, question
from skillopt_sleep.optimizer.instructions import REWRITE, REWRITE_FROM_TRIALS
from skillopt_sleep.optimizer.proposed import backed, numbered
from skillopt_sleep.optimizer.quoting import quote
from skillopt_sleep.optimizer.reflect import labelled
from skillopt_sleep.optimizer.trials import Trial, evidence_of


class RuleAnswer(Answer):
    """One rule of a document written anew; ``id`` is "" for a new one."""

    id: str = ""
    text: str


class RulesAnswer(Answer):
    """All rules of a document written anew, in order."""

    rules: tuple[RuleAnswer, ...]


def candidates(
    document: str,
    edits: Sequence[Edit],
    *,
    limits: Limits,
    night: str,
    live: str | None = None,
    apart: bool = True,
) -> tuple[tuple[Candidate, ...], tuple[Applied, ...]]:
    """Return the single edits and their union as candidates, and what became of each edit.

    Each single is made from ``document`` alone, so that a bad edit does not sink a good one.

    Args:
        document: The present skill document.
        edits: What to do, in order.
        limits: Caps on the learned region.
        night: Night they are born in, "" in a training run.
        live: The live text, where it is another than ``document``, as when there is none yet.
        apart: Whether singles are wanted beside the union.

    Raises:
        SkillError: The document's markers do not pair up.
    """
    union, applied = apply_edits(document, edits, limits=limits)
    done = tuple(one.edit for one in applied if one.status is ApplyStatus.APPLIED)
    base = document if live is None else live
    found: dict[str, Candidate] = {}
    for group in [*((edit,) for edit in edits if apart), done]:
        text, became = apply_edits(document, group, limits=limits)
        if text != document and all(one.status is ApplyStatus.APPLIED for one in became):
            found.setdefault(text, candidate(base, text, group, night=night))
    if union != document and union not in found:
        found[union] = candidate(base, union, done, night=night)
    return tuple(found.values()), applied


def apply_all(document: str, edits: Sequence[Edit], *, limits: Limits) -> str:
    """Return the document after those of ``edits`` that can be applied."""
    return apply_edits(document, edits, limits=limits)[0]


def candidate(live: str, content: str, edits: Sequence[Edit], *, night: str) -> Candidate:
    """Return a document made from ``live`` by ``edits`` as a candidate."""
    return Candidate(
        id=digest(text_hash(live), text_hash(content)),
        base_hash=text_hash(live),
        content=content,
        edits=tuple(edits),
        night=night,
    )


def rewrite(advisor: Advisor, brief: Brief, suggestions: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that lead to rules written anew from suggestions; () without an answer.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    if not suggestions:
        return ()
    prompt = question(
        Stage.UPDATE,
        REWRITE,
        brief.words(),
        f"# Suggestions\n{quote(numbered(suggestions), cap=20_000)}",
    )
    answer = advisor.ask(prompt, RulesAnswer)
    return edits_between(brief.document, answer.rules, suggestions) if answer else ()


def rewrite_from_trials(advisor: Advisor, brief: Brief, batch: Sequence[Trial]) -> tuple[Edit, ...]:
    """Return the edits that lead to rules written anew from one minibatch; () without an answer.

    Raises:
        BackendError: The optimizer's model could not be asked.
    """
    prompt = question(
        Stage.REFLECT, REWRITE_FROM_TRIALS, brief.words(), f"# Trials\n{labelled(batch)}"
    )
    answer = advisor.ask(prompt, RulesAnswer)
    if answer is None:
        return ()
    source = Edit(
        kind=EditKind.ADD,
        text="trials",
        tasks=tuple(dict.fromkeys(trial.task.id for trial in batch)),
        evidence=tuple(dict.fromkeys(one for trial in batch for one in evidence_of(trial.task))),
    )
    return edits_between(brief.document, answer.rules, [source])


def edits_between(
    document: str, rules: Sequence[RuleAnswer], sources: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Return the edits from a document's rules to ``rules``: deletions, changes, additions.

    All carry the support of all sources, since the rules were written from them together.
    """
    parts = parse(document)
    known = {rule.id: rule for rule in parts.rules}
    wanted = [(rule.id.strip().strip("[]"), clean(rule.text)) for rule in rules]
    kept = {name for name, text in wanted if name in known and text}
    made = [
        Edit(kind=EditKind.DELETE, anchor=rule.id, why="left out of the rewritten rules")
        for rule in parts.rules
        if rule.id not in kept
    ]
    for name, text in wanted:
        if not text:
            continue
        if name not in known:
            made.append(Edit(kind=EditKind.ADD, text=text, why="written anew"))
        elif known[name].text != text:
            made.append(Edit(kind=EditKind.REPLACE, anchor=name, text=text, why="written anew"))
    return tuple(backed(edit, sources) for edit in made)
