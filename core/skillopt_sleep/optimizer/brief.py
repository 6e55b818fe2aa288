"""What every question to the optimizer begins with: the document, its budget, what was learned.

Of the gate it holds nothing but the words of edits that were rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.model.skill import parse
from skillopt_sleep.optimizer.quoting import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The standing of a step.

    Attributes:
        document: The present skill document.
        budget: At most so many edits per answer, or None for no bound.
        rejected: Words of edits that the gate rejected, newest last.
        meta: What the optimizer learned about optimizing, or "".
        preferences: House rules of the user, a prior for all proposals.
        thrift: Whether fewer tokens or seconds count beside the score.
    """

    document: str
    budget: int | None = None
    rejected: tuple[str, ...] = ()
    meta: str = ""
    preferences: tuple[str, ...] = ()
    thrift: bool = False

    def words(self) -> str:
        """Return the brief as the optimizer reads it."""
        parts = parse(self.document)
        rules = "\n".join(
            f"[{rule.id}]{' (reminder)' if rule.note else ''} {rule.text}" for rule in parts.rules
        )
        rejected = "\n".join(f"- {text}" for text in self.rejected)
        rows = [
            f"# The document\nHand-written, never changed:\n{quote(parts.hand_written)}",
            f"Learned rules, each with its id:\n{quote(rules or '(none yet)', cap=12_000)}",
            f"Guidance:\n{quote(parts.guidance_text)}" if parts.guidance_text else "",
            f"Edits rejected before, do not propose them again:\n{quote(rejected)}"
            if rejected
            else "",
            f"Your own advice from earlier rounds:\n{quote(self.meta)}" if self.meta else "",
            "House rules of the user; propose nothing against them:\n"
            + "\n".join(f"- {one}" for one in self.preferences)
            if self.preferences
            else "",
            "Shorter work at equal quality counts as an improvement." if self.thrift else "",
            f"Propose at most {self.budget} edits." if self.budget is not None else "",
        ]
        return "\n\n".join(row for row in rows if row)


def question(stage: Stage, system: str, *parts: str) -> Prompt:
    """Return a prompt of one user message made of ``parts``."""
    text = "\n\n".join(part for part in parts if part)
    return Prompt(stage=stage, system=system, messages=(Message(role="user", text=text),))
