"""Edits put on a skill document, and taken back.

Front matter, hand-written text and the guidance block stay as they are to the byte. An edit that
cannot be applied is reported and changes nothing; the others are applied all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.model.edit import Applied, ApplyStatus, Edit, EditKind
from skillopt_sleep.model.legible import clean, unfit
from skillopt_sleep.model.skill import (
    BEGIN,
    END,
    GUIDANCE_BEGIN,
    GUIDANCE_END,
    HEADING,
    REGION,
    Rule,
    SkillDocument,
    fenced_lines,
    parse,
    render_rule,
    rule_id,
)
from skillopt_sleep.model.wording import contradicts, covers, says_same

GUIDANCE = "skillopt-sleep:guidance"
"""Anchor that names the guidance block, for edits that undo one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much edits may bring in.

    Attributes:
        max_tokens: Estimated tokens of the learned region, as ``SkillDocument.tokens`` counts.
        max_growth_tokens: Estimated tokens that one call may add to it.
    """

    max_tokens: int = 2000
    max_growth_tokens: int = 400


NO_LIMITS = Limits(max_tokens=1_000_000_000, max_growth_tokens=1_000_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _No:
    status: ApplyStatus
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    parts: SkillDocument
    rule: str = ""
    reason: str = ""


def apply_edits(
    document: str, edits: Sequence[Edit], *, limits: Limits = NO_LIMITS
) -> tuple[str, tuple[Applied, ...]]:
    """Return the document after ``edits``, in order, and what became of each.

    An added rule that one learned rule contradicts replaces it; one that says all that a learned
    rule says and more is merged into it. An edit that makes the region smaller is never too
    large.

    Raises:
        SkillError: The document's markers do not pair up.
    """
    parts = parse(document)
    most = min(limits.max_tokens, parts.tokens + limits.max_growth_tokens)
    applied: list[Applied] = []
    for edit in edits:
        step = _undo(parts, edit) if edit.verbatim else _edit(parts, edit)
        if isinstance(step, _Done) and step.parts.tokens > max(most, parts.tokens):
            words = f"the learned rules would take {step.parts.tokens} tokens of {most}"
            step = _No(status=ApplyStatus.TOO_LARGE, reason=f"{words}; merge or delete some first")
        if (
            isinstance(step, _Done)
            and step.parts.opening
            and not parse(step.parts.render()).opening
        ):
            words = "the document ends in a code fence that is never closed; close it first"
            step = _No(status=ApplyStatus.REFUSED, reason=words)
        if isinstance(step, _No):
            applied.append(Applied(edit=edit, status=step.status, reason=step.reason))
            continue
        parts = parse(step.parts.render())
        applied.append(
            Applied(edit=edit, status=ApplyStatus.APPLIED, reason=step.reason, rule=step.rule)
        )
    return parts.render(), tuple(applied)


def inverse(document: str, applied: Sequence[Applied]) -> tuple[Edit, ...]:
    """Return edits that bring the edited document back to the bytes of ``document``.

    Args:
        document: The document before ``applied``.
        applied: What ``apply_edits`` reported for it.

    Raises:
        SkillError: The document's markers do not pair up.
    """
    undoing: list[Edit] = []
    now = document
    for one in applied:
        if one.status is ApplyStatus.APPLIED:
            before, (now, _) = now, apply_edits(now, [one.edit])
            undoing.insert(0, _inverse_of_one(parse(before), parse(now)))
    return tuple(undoing)


def _edit(parts: SkillDocument, edit: Edit) -> _Done | _No:
    text = clean(edit.text)
    if edit.kind is not EditKind.DELETE and (trouble := unfit(text)):
        return _No(status=ApplyStatus.REFUSED, reason=trouble)
    if edit.kind is EditKind.GUIDE:
        return _guide(parts, text)
    if edit.kind in (EditKind.ADD, EditKind.NOTE):
        return _add(parts, edit, text)
    found = _find(parts, edit.anchor)
    if isinstance(found, _No):
        return found
    if edit.kind is EditKind.DELETE:
        kept = tuple(rule for rule in parts.rules if rule.id != found.id)
        return _Done(parts=replace(parts, rules=kept), rule=found.id)
    if edit.kind is EditKind.REPLACE:
        return _replace(parts, found, text)
    return _add(parts, edit, text, after=found)


def _add(parts: SkillDocument, edit: Edit, text: str, *, after: Rule | None = None) -> _Done | _No:
    opposed = [rule for rule in parts.rules if contradicts(rule.text, text)]
    if len(opposed) == 1:
        step = _replace(parts, opposed[0], text)
        words = f"it contradicted rule {opposed[0].id!r} and replaced it"
        return replace(step, reason=words) if isinstance(step, _Done) else step
    if narrow := next((rule for rule in parts.rules if covers(text, rule.text)), None):
        step = _replace(parts, narrow, text)
        words = f"it was merged into rule {narrow.id!r}"
        return replace(step, reason=words) if isinstance(step, _Done) else step
    if trouble := _clash(parts, text, ""):
        return trouble
    name = edit.rule or rule_id(text, frozenset(rule.id for rule in parts.rules))
    note = edit.kind is EditKind.NOTE
    open_parts = parts if parts.opening else _opened(parts)
    rule = Rule(
        id=name, text=text, note=note, raw=render_rule(name, text, note=note, newline=parts.newline)
    )
    return _Done(parts=_insert(open_parts, rule, after=after), rule=name)


def _replace(parts: SkillDocument, old: Rule, text: str) -> _Done | _No:
    if trouble := _clash(parts, text, old.id):
        return trouble
    if old.text == text:
        return _No(status=ApplyStatus.DUPLICATE, reason=f"rule {old.id!r} says that already")
    # What blank lines followed the old rule stay.
    gap = old.raw[len(old.raw.rstrip()) :]
    raw = render_rule(old.id, text, note=old.note, newline=parts.newline).rstrip() + gap
    new = replace(old, text=text, raw=raw)
    rules = tuple(new if rule.id == old.id else rule for rule in parts.rules)
    return _Done(parts=replace(parts, rules=rules), rule=old.id)


def _clash(parts: SkillDocument, text: str, own: str) -> _No | None:
    """Return why ``text`` cannot stand beside the other rules and the hand-written text."""
    for rule in parts.rules:
        if rule.id != own and contradicts(rule.text, text):
            return _No(
                status=ApplyStatus.CONTRADICTS,
                reason=f"it contradicts rule {rule.id!r}; replace it",
            )
    for rule in parts.rules:
        if rule.id != own and says_same(rule.text, text):
            return _No(status=ApplyStatus.DUPLICATE, reason=f"rule {rule.id!r} says that already")
    for row in open_text(f"{parts.hand_written}\n{parts.guidance_text}").splitlines():
        if contradicts(row, text):
            return _No(
                status=ApplyStatus.CONTRADICTS, reason=f"it contradicts protected text {row!r}"
            )
        if says_same(row, text):
            return _No(status=ApplyStatus.DUPLICATE, reason=f"protected text says that: {row!r}")
    return None


def open_text(text: str) -> str:
    """Return ``text`` with the lines of code fences blanked."""
    lines = text.replace("\r\n", "\n").split("\n")
    fenced = fenced_lines(lines)
    return "\n".join("\0" if hidden else row for row, hidden in zip(lines, fenced, strict=True))


def _find(parts: SkillDocument, anchor: str) -> Rule | _No:
    wanted = anchor.strip().replace("\r\n", "\n")
    if named := parts.rule(wanted.removeprefix("rule:").removeprefix("note:")):
        return named
    hits = [rule for rule in parts.rules for _ in range(_count(open_text(rule.text), wanted))]
    fixed = _count(open_text(f"{parts.head}\n\0\n{parts.guidance}\n\0\n{parts.tail}"), wanted)
    if len(hits) + fixed > 1:
        reason = f"the anchor {anchor!r} matches {len(hits) + fixed} places; name a rule id"
        return _No(status=ApplyStatus.AMBIGUOUS, reason=reason)
    if fixed:
        reason = f"the anchor {anchor!r} stands in protected text; anchor at a learned rule"
        return _No(status=ApplyStatus.PROTECTED, reason=reason)
    if not hits:
        reason = f"the anchor {anchor!r} is no rule id and matches nothing outside code fences"
        return _No(status=ApplyStatus.NO_MATCH, reason=reason)
    return hits[0]


def _count(text: str, wanted: str) -> int:
    return sum(text.startswith(wanted, n) for n in range(len(text))) if wanted else 0


def _insert(parts: SkillDocument, rule: Rule, *, after: Rule | None) -> SkillDocument:
    rules = list(parts.rules)
    if after is not None:
        place = rules.index(after) + 1
    elif rule.note:
        place = len(rules)
    else:
        place = next((n for n, known in enumerate(rules) if known.note), len(rules))
    return replace(parts, rules=(*rules[:place], rule, *rules[place:]))


def _opened(parts: SkillDocument) -> SkillDocument:
    """Return the document with an empty region at its end."""
    line, head = parts.newline, parts.head
    lacking = 0 if not head or head.endswith(line * 2) else 1 if head.endswith(line) else 2
    last = line if not head or head.endswith(line) else ""
    return SkillDocument(
        head=head + line * lacking,
        opening=f"{BEGIN}{line}{HEADING}{line}{line}",
        closing=f"{END}{last}",
    )


def _guide(parts: SkillDocument, text: str) -> _Done | _No:
    fixed = open_text(parts.hand_written).splitlines()
    for row in [*fixed, *(rule.text for rule in parts.rules)]:
        if contradicts(row, text):
            return _No(status=ApplyStatus.CONTRADICTS, reason=f"it contradicts {row!r}")
    if parts.guidance_text == text:
        return _No(status=ApplyStatus.DUPLICATE, reason="the guidance says that already")
    line = parts.newline
    rows = [GUIDANCE_BEGIN, *text.split("\n"), GUIDANCE_END]
    block = "".join(row + line for row in rows)
    return _Done(parts=replace(parts if parts.opening else _opened(parts), guidance=block))


def _undo(parts: SkillDocument, edit: Edit) -> _Done | _No:
    """Put back, or take out, exact bytes; what they say has stood in the document before."""
    if edit.kind is EditKind.GUIDE:
        return _Done(parts=replace(parts, guidance=edit.verbatim))
    if edit.kind is EditKind.DELETE and edit.anchor == GUIDANCE:
        return _Done(parts=replace(parts, guidance=""))
    if edit.kind is EditKind.DELETE and edit.anchor == REGION:
        text = parts.render()
        if not text.endswith(edit.verbatim):
            reason = "the learned region has changed since; take its rules out one by one"
            return _No(status=ApplyStatus.NO_MATCH, reason=reason)
        return _Done(parts=SkillDocument(head=text.removesuffix(edit.verbatim)))
    rule = Rule(id=edit.rule, text=edit.text, raw=edit.verbatim)
    if edit.kind is EditKind.INSERT_AFTER and edit.anchor == REGION:
        return _Done(parts=replace(parts, rules=(rule, *parts.rules)), rule=edit.rule)
    found = _find(parts, edit.anchor)
    if isinstance(found, _No):
        return found
    if edit.kind is EditKind.REPLACE:
        rules = tuple(rule if one.id == found.id else one for one in parts.rules)
        return _Done(parts=replace(parts, rules=rules), rule=edit.rule)
    return _Done(parts=_insert(parts, rule, after=found), rule=edit.rule)


def _inverse_of_one(before: SkillDocument, after: SkillDocument) -> Edit:
    if not before.opening:
        added = after.render()[len(before.render()) :]
        return Edit(kind=EditKind.DELETE, anchor=REGION, verbatim=added)
    if before.guidance != after.guidance:
        if before.guidance:
            words = before.guidance_text or GUIDANCE
            return Edit(kind=EditKind.GUIDE, text=words, verbatim=before.guidance)
        return Edit(kind=EditKind.DELETE, anchor=GUIDANCE, verbatim=after.guidance)
    if len(after.rules) > len(before.rules):
        known = {rule.id for rule in before.rules}
        new = next(rule for rule in after.rules if rule.id not in known)
        return Edit(kind=EditKind.DELETE, anchor=new.id)
    place = next(
        n
        for n, rule in enumerate(before.rules)
        if n >= len(after.rules) or after.rules[n].raw != rule.raw
    )
    old = before.rules[place]
    kind, anchor = EditKind.REPLACE, old.id
    if len(after.rules) < len(before.rules):
        kind, anchor = EditKind.INSERT_AFTER, before.rules[place - 1].id if place else REGION
    return Edit(kind=kind, text=old.text or "-", anchor=anchor, rule=old.id, verbatim=old.raw)
