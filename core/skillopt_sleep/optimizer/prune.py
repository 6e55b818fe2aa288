"""Leave-one-rule-out pruning: what each learned rule still does, so that a skill can shrink.

Asked for by the human; it deletes nothing itself. The comparison is the gate's own, with the
document without the rule in the place of the live one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.reuse import Uses
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.model.skill import Rule, parse, without_rule
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.evaluate import evaluate
from skillopt_sleep.optimizer.update import candidate
from skillopt_sleep.replay import Rollouts
from skillopt_sleep.world import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWorth:
    """What one rule does where it stands.

    Attributes:
        rule: The rule.
        evidence: The document with it against the document without it; ``e_value`` speaks for
            the rule and ``e_harm`` against it.
        word: "earns" its place, "harms", is "idle" (nothing changed without it), or "unclear".
        pruned: The document without it, as a candidate for the gate or the human.
    """

    rule: Rule
    evidence: GateEvidence
    word: str
    pruned: Candidate


def weigh_rules(
    document: str,
    *,
    tasks: Sequence[Task],
    rollouts: Rollouts,
    settings: GateSettings,
    uses: Uses,
    rng: Random,
) -> tuple[RuleWorth, ...]:
    """Return what each learned rule does on ``tasks``, in the document's order.

    Args:
        document: The live skill document.
        tasks: What it is tried on; train tasks cost the gate nothing.
        rollouts: Attempts what is wanted, in parallel.
        settings: Metric and thresholds of the gate.
        uses: What each task has tested before, see ``evaluate``.
        rng: Decides the order of the tasks.

    Raises:
        SkillError: The document's markers do not pair up.
        BackendError: The model could not be asked, or a budget is spent.
    """
    judged_by = settings.model_copy(update={"policy": "evidence"})
    found: list[RuleWorth] = []
    for rule in parse(document).rules:
        shorter = without_rule(document, rule.id)
        whole = candidate(shorter, document, [], night="")
        (judged,) = evaluate(
            live=shorter,
            candidates=[whole],
            held_out=tasks,
            rollouts=rollouts,
            settings=judged_by,
            uses=uses,
            rng=rng,
        )
        evidence = judged.candidate.evidence
        if evidence is None:
            raise ValueError("the gate gave no evidence")
        dropping = Edit(kind=EditKind.DELETE, anchor=rule.id, why=f"without it: {evidence.reason}")
        found.append(
            RuleWorth(
                rule=rule,
                evidence=evidence,
                word=_word(evidence, settings),
                pruned=candidate(document, shorter, [dropping], night=""),
            )
        )
    return tuple(found)


def _word(evidence: GateEvidence, settings: GateSettings) -> str:
    if evidence.e_value >= settings.support_at:
        return "earns"
    if evidence.e_harm >= settings.harm_at:
        return "harms"
    if evidence.tasks and not any(evidence.differences):
        return "idle"
    return "unclear"
