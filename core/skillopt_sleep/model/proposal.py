"""A proposal: a candidate skill that the gate let through or left pending, staged for the human."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from skillopt_sleep.model.edit import Edit


class ProposalStatus(StrEnum):
    """Where a proposal stands.

    ``supported`` may be adopted; ``pending`` waits for more nights; ``unproven`` needs the
    human's explicit word; the others are final.
    """

    SUPPORTED = "supported"
    PENDING = "pending"
    UNPROVEN = "unproven"
    ADOPTED = "adopted"
    REJECTED = "rejected"
    REVERTED = "reverted"
    STALE = "stale"


OPEN_STATUSES = frozenset(
    {ProposalStatus.SUPPORTED, ProposalStatus.PENDING, ProposalStatus.UNPROVEN}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEvidence:
    """What the gate saw of a candidate, enough to recompute its decision.

    Attributes:
        policy: "strict", "evidence" or "off".
        metric: Which part of the score counted.
        tasks: Held-out task clusters compared.
        live_mean: Mean score of the live skill on them, in [0, 1].
        candidate_mean: Mean score of the candidate on them, in [0, 1].
        e_value: Evidence for the candidate; 1 is none.
        e_harm: Evidence against it; 1 is none.
        wins: Clusters that rose.
        losses: Clusters that fell.
        log_sums: Per lambda the sum of log(1 + lambda * D), carried over nights.
        nights: Nights the evidence comes from.
        attempts: Ids of the attempts it was computed from.
        differences: The D of each compared cluster, in test order, over all nights.
        decision: The gate's word: accept, pending, reject, unproven.
        reason: One sentence for the human.
        strict_agrees: What the strict policy would have said.
        peak: Highest ``e_value`` after any of the differences; what the thresholds look at.
        rivals: How many candidates reached the test together, >= 1; thresholds times this.
        sizes: How many of ``attempts`` each difference was computed from, same order.
        guarded: Ids of the attempts that only the guard against one broken task looked at.
        dropped: Pairs of attempts left out because one of the two failed.
        co_metric: "none", "tokens" or "seconds".
        savings: Per compared cluster the saving in the co-metric, in [-1, 1], where 1 is 15 % or
            more; empty without a co-metric.
        live_cost: Mean co-metric (tokens or seconds) per attempt of the live skill, >= 0.
        candidate_cost: The same of the candidate.
    """

    policy: str
    metric: str
    tasks: int
    live_mean: float
    candidate_mean: float
    e_value: float = 1.0
    e_harm: float = 1.0
    wins: int = 0
    losses: int = 0
    log_sums: tuple[float, ...] = ()
    nights: int = 1
    attempts: tuple[str, ...] = ()
    differences: tuple[float, ...] = ()
    decision: str = ""
    reason: str = ""
    strict_agrees: bool = False
    peak: float = 1.0
    rivals: int = 1
    sizes: tuple[int, ...] = ()
    guarded: tuple[str, ...] = ()
    dropped: int = 0
    co_metric: str = "none"
    savings: tuple[float, ...] = ()
    live_cost: float = 0.0
    candidate_cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A skill document after edits, not yet accepted.

    Attributes:
        id: Hash of base and content.
        base_hash: Hash of the skill document it was made from.
        content: The whole new document.
        edits: What was done, in order.
        night: Night it was born in.
        evidence: What the gate saw so far; None before the gate.
    """

    id: str
    base_hash: str
    content: str
    edits: tuple[Edit, ...]
    night: str
    evidence: GateEvidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate staged for the human.

    Attributes:
        number: Small number to type, unique in the store.
        candidate: Candidate id.
        project: Folder of the project it was learned in.
        skill_name: Name of the skill document.
        target: Path of the live file it would change.
        before: The live document it was made from; None where there was no file.
        after: The document it would become.
        before_hash: Hash of the live bytes reviewed, "" where there was no file.
        after_hash: Hash of the bytes it would write.
        status: Where it stands.
        edits: What was done, in order.
        evidence: What the gate saw.
        night: Night that staged it.
        created_at: When.
        decided_at: When adopted, rejected or reverted.
        reason: The human's or the engine's word on the decision.
        flags: Marks that need the human's eye, such as "brings in a URL".
        edited: Whether a person changed it after the gate; the evidence then does not cover it.
        backup: Path of the backup of the replaced bytes, or "".
        extra: Further facts, such as support by sessions.
    """

    number: int
    candidate: str
    project: str
    skill_name: str
    target: str
    before: str | None
    after: str
    before_hash: str
    after_hash: str
    status: ProposalStatus
    edits: tuple[Edit, ...]
    evidence: GateEvidence
    night: str
    created_at: datetime
    decided_at: datetime | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    edited: bool = False
    backup: str = ""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
