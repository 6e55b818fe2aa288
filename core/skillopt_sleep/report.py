"""Night and proposal reports as Markdown and JSON: pure text from nouns, no file, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from skillopt_sleep.codec import plain
from skillopt_sleep.model.night import FunnelStep, Night, NightStatus
from skillopt_sleep.model.proposal import GateEvidence, Proposal, ProposalStatus
from skillopt_sleep.model.usage import Usage

_HEADLINE = {
    NightStatus.RUNNING: "is running",
    NightStatus.DONE: "is done",
    NightStatus.NOTHING: "found nothing to propose",
    NightStatus.WAITING: "waits for answers",
    NightStatus.BUDGET: "ended when its budget was spent",
    NightStatus.VOID: "is void",
    NightStatus.CANCELLED: "was cancelled",
    NightStatus.FAILED: "failed",
}

_STANDING = {
    ProposalStatus.SUPPORTED: "ready to adopt",
    ProposalStatus.PENDING: "pending, more nights needed",
    ProposalStatus.UNPROVEN: "unproven, yours to decide",
    ProposalStatus.ADOPTED: "adopted",
    ProposalStatus.REJECTED: "rejected",
    ProposalStatus.REVERTED: "reverted",
    ProposalStatus.STALE: "stale, the live skill changed",
}


def total(usage: Mapping[str, Usage]) -> Usage:
    """Return the sum over all stages."""
    return sum(usage.values(), Usage())


def funnel_lines(funnel: Sequence[FunnelStep]) -> tuple[str, ...]:
    """Return one aligned line per step, in order."""
    width = max((len(step.name) for step in funnel), default=0)
    return tuple(
        f"{step.name:<{width}}  {step.count:>6}{'  ' + step.note if step.note else ''}"
        for step in funnel
    )


def cost_line(usage: Usage) -> str:
    """Return what model calls cost, in one sentence."""
    parts = [
        f"{usage.calls} model call{'' if usage.calls == 1 else 's'}",
        f"{usage.tokens:,} tokens",
    ]
    if usage.cached_calls:
        parts.append(f"{usage.cached_calls} answered from the journal")
    if usage.unpriced:
        parts.append(f"price unknown for {usage.unpriced}")
    if usage.dollars or not usage.unpriced:
        parts.append(f"${usage.dollars:.2f}")
    if usage.saved >= 0.005:
        parts.append(f"${usage.saved:.2f} saved by the provider's cache and by batches")
    return ", ".join(parts)


def night_markdown(night: Night, proposals: Sequence[Proposal], diffs: Mapping[int, str]) -> str:
    """Return the morning report of a night, one screen where it can be.

    Args:
        night: The night.
        proposals: Those it staged or updated, any order.
        diffs: Unified diff per proposal number.
    """
    lines = [f"# Night {night.id} {_HEADLINE[night.status]}", ""]
    if any(p.evidence.policy == "off" for p in proposals):
        lines += ["**Nothing here was validated: the gate is off.**", ""]
    if night.reason:
        lines += [night.reason, ""]
    lines += ["## From sessions to rules", "", "```", *funnel_lines(night.funnel), "```", ""]
    for proposal in sorted(proposals, key=lambda p: p.number):
        lines += _proposal_section(proposal, diffs.get(proposal.number, ""))
    lines += _forecast_section(night) if night.forecast else _cost_section(night)
    if night.notes:
        lines += ["## Notes", "", *[f"- {note}" for note in night.notes], ""]
    return "\n".join(lines)


def _cost_section(night: Night) -> list[str]:
    lines = ["## What it cost", "", cost_line(total(night.usage)) + _took(night), ""]
    if night.usage:
        lines += ["| stage | calls | tokens | $ |", "|---|---|---|---|"]
        lines += [
            f"| {stage} | {use.calls} | {use.tokens:,} | {_dollars(use)} |"
            for stage, use in sorted(night.usage.items())
        ]
        lines.append("")
    return lines


def _dollars(use: Usage) -> str:
    return "unknown" if use.unpriced and not use.dollars else f"{use.dollars:.4f}"


def _forecast_section(night: Night) -> list[str]:
    figures = night.forecast
    money = f"${figures['dollars']:.2f}" if "dollars" in figures else "at a price not known"
    return [
        "## What it would cost",
        "",
        f"About {figures.get('calls', 0):,.0f} model calls and {figures.get('tokens', 0):,.0f}"
        f" tokens, {money}; an estimate on the high side, and the budget is a hard cap",
        "",
    ]


def night_json(night: Night, proposals: Sequence[Proposal], diffs: Mapping[int, str]) -> Any:  # noqa: ANN401
    """Return the same as JSON-ready values: the night, its total and its proposals."""
    return {
        "night": plain(night),
        "total": plain(total(night.usage)),
        "proposals": [
            {**proposal_json(p), "diff": diffs.get(p.number, "")}
            for p in sorted(proposals, key=lambda p: p.number)
        ],
    }


def proposal_markdown(proposal: Proposal, diff: str) -> str:
    """Return one proposal with its diff, its evidence and what to type."""
    return "\n".join(_proposal_section(proposal, diff, level=1))


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """Return one proposal as JSON-ready values, without the whole documents."""
    whole: dict[str, Any] = plain(proposal)
    return {key: value for key, value in whole.items() if key not in {"before", "after"}}


def evidence_lines(evidence: GateEvidence) -> tuple[str, ...]:
    """Return the gate's evidence, a sentence a line."""
    nights = "one night" if evidence.nights == 1 else f"{evidence.nights} nights"
    lines = [
        f"Gate `{evidence.policy}` on the {evidence.metric} score says: {evidence.reason}",
        f"Held-out comparisons over {nights}: {evidence.tasks}"
        f" ({evidence.wins} better, {evidence.losses} worse)",
        f"Mean score live {evidence.live_mean:.3f}, candidate {evidence.candidate_mean:.3f}",
        f"Evidence E = {evidence.e_value:.2f} for it, {evidence.e_harm:.2f} against it"
        " (1 is none, 10 supports, 20 supports adoption by itself)",
        f"The strict rule alone would have said {'yes' if evidence.strict_agrees else 'no'}",
    ]
    return tuple(lines)


def _proposal_section(proposal: Proposal, diff: str, *, level: int = 2) -> list[str]:
    lines = [
        f"{'#' * level} Proposal {proposal.number}: {_STANDING[proposal.status]}",
        "",
        f"Skill `{proposal.skill_name}` in `{proposal.target}`",
        "",
    ]
    lines += [f"- **{flag}**" for flag in proposal.flags]
    lines += [""] if proposal.flags else []
    if diff:
        lines += ["```diff", diff.rstrip("\n"), "```", ""]
    lines += [f"- {edit.why}" for edit in proposal.edits if edit.why]
    if proposal.edited:
        lines.append("- edited by a person after the gate; the evidence is of the text before that")
    lines += [f"- {line}" for line in evidence_lines(proposal.evidence)]
    lines += _origins(proposal)
    lines += ["", *_next_steps(proposal), ""]
    return lines


def _origins(proposal: Proposal) -> list[str]:
    quotes: list[str] = []
    for edit in proposal.edits:
        for evidence in edit.evidence[:3]:
            words = " ".join(evidence.quote.split())[:160]
            quotes.append(f"- From {evidence.session} turn {evidence.turn}: \u201c{words}\u201d")
    return list(dict.fromkeys(quotes))


def _next_steps(proposal: Proposal) -> list[str]:
    number = proposal.number
    match proposal.status:
        case ProposalStatus.SUPPORTED:
            return [f"`skillopt-sleep adopt {number}` or `skillopt-sleep reject {number}`"]
        case ProposalStatus.PENDING:
            return [f"It is tested again next night; `skillopt-sleep reject {number}` ends that"]
        case ProposalStatus.UNPROVEN:
            return [
                f"`skillopt-sleep adopt {number} --unproven` or `skillopt-sleep reject {number}`"
            ]
        case ProposalStatus.ADOPTED:
            return [f"`skillopt-sleep revert {number}` brings back the text before it"]
        case ProposalStatus.REJECTED | ProposalStatus.REVERTED | ProposalStatus.STALE:
            return [f"Closed: {proposal.reason}"] if proposal.reason else []


def _took(night: Night) -> str:
    ended: datetime | None = night.ended_at
    if ended is None:
        return ""
    seconds = (ended - night.started_at).total_seconds()
    minutes, rest = divmod(int(seconds), 60)
    return f", {minutes} min {rest} s" if minutes else f", {seconds:.1f} s"
