"""A skill document: front matter, hand-written text and one marked region of learned rules.

Parsing and rendering give back the same bytes, whatever stands in the document. It knows no
edit; ``apply.py`` does.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from dataclasses import dataclass, replace

from skillopt_sleep.errors import SkillError
from skillopt_sleep.model.wording import estimate_tokens

BEGIN = "<!-- skillopt-sleep:rules -->"
END = "<!-- /skillopt-sleep:rules -->"
GUIDANCE_BEGIN = "<!-- skillopt-sleep:guidance -->"
GUIDANCE_END = "<!-- /skillopt-sleep:guidance -->"
REGION = "skillopt-sleep:rules"
"""Anchor that names the whole region."""
HEADING = "## Learned rules"

_ITEM = re.compile(r"^- ")
_MARK = re.compile(r"[ \t]*<!-- (rule|note):([A-Za-z0-9_-]{1,40}) -->")
_FENCE = re.compile(r"^ {0,5}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One learned rule.

    Attributes:
        id: Stable id, unique in the document; derived from the first words it had.
        text: What it says, lines joined by line feeds, without bullet, indentation and id.
        note: Whether it is a reminder of the appendix (a known lapse) rather than a rule.
        raw: Its bytes in the document.
    """

    id: str
    text: str
    note: bool = False
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDocument:
    """A parsed skill document; its parts joined in order are the document.

    Attributes:
        head: Front matter and hand-written text before the region; all of it if there is none.
        opening: The region's first marker and what stands before its first rule; "" without one.
        rules: The rules, reminders last, in order.
        guidance: The protected guidance block with its markers, or "".
        closing: The region's last marker with what stands before it, or "".
        tail: Hand-written text after the region.
    """

    head: str
    opening: str = ""
    rules: tuple[Rule, ...] = ()
    guidance: str = ""
    closing: str = ""
    tail: str = ""

    @property
    def region(self) -> str:
        """The learned region's bytes, "" where there is none."""
        items = "".join(rule.raw for rule in self.rules)
        return f"{self.opening}{items}{self.guidance}{self.closing}"

    @property
    def newline(self) -> str:
        """The line end that the document uses."""
        return "\r\n" if "\r\n" in self.head + self.region + self.tail else "\n"

    @property
    def tokens(self) -> int:
        """Estimated tokens of the learned region without its comments; the cap counts these."""
        words = [rule.text for rule in self.rules]
        return estimate_tokens("\n".join([*words, self.guidance_text]))

    @property
    def guidance_text(self) -> str:
        """The words of the guidance block, or ""."""
        rows = self.guidance.splitlines()
        kept = [row for row in rows if row.strip() not in (GUIDANCE_BEGIN, GUIDANCE_END)]
        return "\n".join(kept).strip()

    @property
    def hand_written(self) -> str:
        """Everything that no edit may touch, the guidance block aside."""
        return self.head + self.tail

    def render(self) -> str:
        """Return the document."""
        return f"{self.head}{self.region}{self.tail}"

    def rule(self, rule_id: str) -> Rule | None:
        """Return the rule with this id, or None."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)


def parse(document: str) -> SkillDocument:
    """Return the parts of a skill document.

    Raises:
        SkillError: Its markers do not pair up.
    """
    lines = document.splitlines(keepends=True)
    fenced = fenced_lines(lines)
    places = {
        marker: [n for n, row in enumerate(lines) if row.strip() == marker and not fenced[n]]
        for marker in (BEGIN, END, GUIDANCE_BEGIN, GUIDANCE_END)
    }
    begin, end = _pair(places, BEGIN, END)
    if begin < 0:
        if places[GUIDANCE_BEGIN] or places[GUIDANCE_END]:
            raise SkillError(f"a guidance block stands outside {BEGIN!r}; move it or remove it")
        return SkillDocument(head=document)
    first, last = _pair(places, GUIDANCE_BEGIN, GUIDANCE_END)
    if first >= 0 and not begin < first < last < end:
        raise SkillError(f"a guidance block stands outside {BEGIN!r}; move it or remove it")
    items_end = first if first >= 0 else end
    starts = [n for n in range(begin + 1, items_end) if _ITEM.match(lines[n]) and not fenced[n]]
    bounds = [*starts, items_end]
    raws = ["".join(lines[a:b]) for a, b in itertools.pairwise(bounds)]
    return SkillDocument(
        head="".join(lines[:begin]),
        opening="".join(lines[begin : bounds[0]]),
        rules=_rules(raws),
        guidance="".join(lines[first : last + 1]) if first >= 0 else "",
        closing="".join(lines[(last + 1 if first >= 0 else end) : end + 1]),
        tail="".join(lines[end + 1 :]),
    )


def fenced_lines(lines: list[str]) -> list[bool]:
    """Return for each line whether it stands in a code fence, the fences themselves included."""
    inside: list[bool] = []
    fence = ""
    for row in lines:
        found = _FENCE.match(row)
        mark = found.group(1) if found else ""
        if not fence and mark:
            fence = mark
            inside.append(True)
        elif fence:
            inside.append(True)
            closes = mark and mark[0] == fence[0] and len(mark) >= len(fence)
            if closes and not row.strip().strip(mark[0]):
                fence = ""
        else:
            inside.append(False)
    return inside


def managed_document(name: str, description: str) -> str:
    """Return a new skill document without rules, as it is made where none exists."""
    flat = " ".join(description.split())
    quoted = '"' + flat.replace("\\", "\\\\").replace('"', '\\"') + '"'
    title = name.replace("-", " ").replace("_", " ").strip().capitalize() or "Learned habits"
    return f"---\nname: {name}\ndescription: {quoted}\n---\n\n# {title}\n"


def rule_id(text: str, taken: frozenset[str] = frozenset()) -> str:
    """Return an id derived from a rule's words that is not in ``taken``."""
    words = " ".join(unicodedata.normalize("NFKC", text).split())
    base = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    for length in range(8, len(base)):
        if (name := base[:length]) not in taken:
            return name
    raise SkillError(f"no free id is left for the rule {text!r}; prune the skill")


def render_rule(name: str, text: str, *, note: bool = False, newline: str = "\n") -> str:
    """Return the bytes of a rule: an item whose first line ends with its id in a comment."""
    first, *rest = text.split("\n")
    kind = "note" if note else "rule"
    rows = [f"- {first} <!-- {kind}:{name} -->", *(f"  {row}" if row else "" for row in rest)]
    return "".join(row + newline for row in rows)


def without_rule(document: str, name: str) -> str:
    """Return the document without one rule, as pruning tries it.

    Raises:
        SkillError: There is no such rule.
    """
    parts = parse(document)
    if parts.rule(name) is None:
        known = ", ".join(rule.id for rule in parts.rules) or "none"
        raise SkillError(f"no rule has the id {name!r}; known: {known}")
    kept = tuple(rule for rule in parts.rules if rule.id != name)
    return replace(parts, rules=kept).render()


def _pair(places: dict[str, list[int]], opening: str, closing: str) -> tuple[int, int]:
    begins, ends = places[opening], places[closing]
    if not begins and not ends:
        return -1, -1
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise SkillError(
            f"found {len(begins)} of {opening!r} and {len(ends)} of {closing!r}; one of each is"
            " wanted, in this order; mend the document by hand"
        )
    return begins[0], ends[0]


def _rules(raws: list[str]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    taken: frozenset[str] = frozenset()
    for raw in raws:
        rule = _rule(raw, taken)
        taken |= {rule.id}
        rules.append(rule)
    return tuple(rules)


def _rule(raw: str, taken: frozenset[str]) -> Rule:
    rows = raw.replace("\r\n", "\n").rstrip().split("\n")
    first = rows[0].removeprefix("- ")
    mark = _MARK.search(first)
    words = _MARK.sub("", first, count=1) if mark else first
    rest = [row[2:] if row.startswith("  ") else row for row in rows[1:]]
    text = "\n".join(row.rstrip() for row in [words, *rest]).strip()
    named = mark.group(2) if mark else ""
    return Rule(
        id=named if named and named not in taken else rule_id(text, taken),
        text=text,
        note=mark is not None and mark.group(1) == "note",
        raw=raw,
    )
