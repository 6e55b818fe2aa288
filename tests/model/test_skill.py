"""Skill documents: what parsing keeps, what edits may and may not do, and how they are undone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import SkillError
from skillopt_sleep.model.apply import Limits, apply_edits, inverse
from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.edit import ApplyStatus, Edit, EditKind, origins
from skillopt_sleep.model.skill import managed_document, parse, without_rule

HAND = (
    "---\nname: house\ndescription: Ours\nallowed-tools: Bash\n---\n\n# House\n\n"
    "Keep modules small.\n\n```sh\nmake check\n```\n"
)

REGION = (
    "<!-- skillopt-sleep:rules -->\n## Learned rules\n\n"
    "- Answer in German. <!-- rule:aaaa1111 -->\n\n"
    "- Name the file first, then the line:\n  ```\n  a.py:3\n  ```\n"
    "-  Odd   spacing by hand\n\n"
    "- Run the linter twice. <!-- rule:bbbb2222 -->\n  Only then commit.\n"
    "- Reread the task. <!-- note:cccc3333 -->\n"
    "<!-- skillopt-sleep:guidance -->\nBreathe.\n<!-- /skillopt-sleep:guidance -->\n"
    "<!-- /skillopt-sleep:rules -->\n"
)

WORDS = ("tabs", "spaces", "tests", "commit", "German", "branch", "header", "quote", "table")

rule_texts = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda w: "Never " + " ".join(w)),
    st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map(
        lambda w: f"First {w[0]}.\n\n    indented {w[1]}\n```\ncode {w[0]}\n```"
    ),
    st.text(max_size=30).filter(lambda t: t.strip() != ""),
)

documents = st.one_of(
    st.sampled_from(
        [
            "",
            HAND,
            HAND.rstrip(),
            HAND + REGION,
            HAND + REGION + "\n## After\n\ntext",
            (HAND + REGION).replace("\n", "\r\n"),
            managed_document("x", 'say "hi"'),
            "```\nnever closed\n",
            "a\u2028b\rc",
        ]
    ),
    st.text(max_size=40),
)


@st.composite
def edit_lists(draw: st.DrawFn) -> list[Edit]:
    edits: list[Edit] = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(EditKind))
        edits.append(
            Edit(
                kind=kind,
                text="" if kind is EditKind.DELETE else draw(rule_texts),
                anchor=draw(
                    st.sampled_from(
                        ["aaaa1111", "bbbb2222", "cccc3333", "Odd", "German", "make check", *WORDS]
                    )
                ),
            )
        )
    return edits


@given(documents)
def test_rendering_a_parsed_document_gives_the_same_bytes(document: str) -> None:
    assert parse(document).render() == document


@settings(max_examples=300)
@given(documents, edit_lists())
def test_edits_and_their_inverse_give_back_the_same_bytes(document: str, edits: list[Edit]) -> None:
    after, applied = apply_edits(document, edits)
    back, undone = apply_edits(after, inverse(document, applied))
    assert back == document
    assert all(one.status is ApplyStatus.APPLIED for one in undone)


@settings(max_examples=200)
@given(documents, edit_lists())
def test_edits_never_change_front_matter_or_hand_written_text(
    document: str, edits: list[Edit]
) -> None:
    before, after = parse(document), parse(apply_edits(document, edits)[0])
    if before.opening:
        assert after.head == before.head
    else:
        assert after.head.rstrip("\r\n") == before.head.rstrip("\r\n")
        assert after.head.startswith(before.head)
    assert after.tail == before.tail


@settings(max_examples=200)
@given(documents, edit_lists())
def test_rule_ids_are_unique_and_the_growth_cap_holds(document: str, edits: list[Edit]) -> None:
    limits = Limits(max_tokens=60, max_growth_tokens=15)
    before, after = parse(document), parse(apply_edits(document, edits, limits=limits)[0])
    ids = [rule.id for rule in after.rules]
    assert len(set(ids)) == len(ids)
    assert after.tokens <= max(before.tokens, min(60, before.tokens + 15))


def test_a_new_region_is_put_at_the_end_and_keeps_the_missing_newline() -> None:
    after, applied = apply_edits("# House\r\n\r\nText", [_add("Use tabs.\nAlways.")])
    name = applied[0].rule
    assert after == (
        "# House\r\n\r\nText\r\n\r\n<!-- skillopt-sleep:rules -->\r\n## Learned rules\r\n\r\n"
        f"- Use tabs. <!-- rule:{name} -->\r\n  Always.\r\n<!-- /skillopt-sleep:rules -->"
    )
    assert parse(after).rules[0].text == "Use tabs.\nAlways."


def test_replacing_a_rule_keeps_its_id() -> None:
    edit = Edit(kind=EditKind.REPLACE, anchor="linter twice", text="Run the linter once.")
    after, applied = apply_edits(HAND + REGION, [edit])
    assert applied[0].rule == "bbbb2222"
    found = parse(after).rule("bbbb2222")
    assert found is not None
    assert found.text == "Run the linter once."


@pytest.mark.parametrize(
    ("edit", "status"),
    [
        (Edit(kind=EditKind.DELETE, anchor="nowhere"), ApplyStatus.NO_MATCH),
        (Edit(kind=EditKind.DELETE, anchor="a.py:3"), ApplyStatus.NO_MATCH),
        (Edit(kind=EditKind.DELETE, anchor="make check"), ApplyStatus.NO_MATCH),
        (Edit(kind=EditKind.DELETE, anchor="the"), ApplyStatus.AMBIGUOUS),
        (Edit(kind=EditKind.DELETE, anchor="Keep modules"), ApplyStatus.PROTECTED),
        (Edit(kind=EditKind.DELETE, anchor="name: house"), ApplyStatus.PROTECTED),
        (Edit(kind=EditKind.DELETE, anchor="Breathe."), ApplyStatus.PROTECTED),
        (Edit(kind=EditKind.ADD, text="run  the LINTER twice"), ApplyStatus.DUPLICATE),
        (Edit(kind=EditKind.ADD, text="Keep modules small"), ApplyStatus.DUPLICATE),
        (Edit(kind=EditKind.ADD, text="Do not keep modules small"), ApplyStatus.CONTRADICTS),
        (
            Edit(kind=EditKind.REPLACE, anchor="bbbb2222", text="Never answer in German."),
            ApplyStatus.CONTRADICTS,
        ),
        (Edit(kind=EditKind.ADD, text="x <!-- rule:aaaa1111 -->"), ApplyStatus.REFUSED),
        (Edit(kind=EditKind.ADD, text="in\u200bvisible"), ApplyStatus.REFUSED),
        (Edit(kind=EditKind.ADD, text="\u202eright to left"), ApplyStatus.REFUSED),
        (Edit(kind=EditKind.ADD, text="tag\U000e0041"), ApplyStatus.REFUSED),
        (Edit(kind=EditKind.ADD, text="open\n```\nfence"), ApplyStatus.REFUSED),
        (Edit(kind=EditKind.ADD, text="word " * 395), ApplyStatus.TOO_LARGE),
    ],
)
def test_an_edit_that_cannot_be_applied_says_why_and_changes_nothing(
    edit: Edit, status: ApplyStatus
) -> None:
    document = HAND + REGION
    after, applied = apply_edits(document, [edit], limits=Limits(max_growth_tokens=100))
    assert after == document
    assert applied[0].status is status
    assert applied[0].reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use tabs.", "Don't use tabs."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("Use pnpm instead of npm.", "Use npm."),
        ("Keep subject lines below 50 characters", "Keep subject lines below 72 characters"),
    ],
)
def test_an_added_rule_replaces_the_one_it_contradicts(old: str, new: str) -> None:
    after, applied = apply_edits("", [_add(old), _add(new)])
    assert [rule.text for rule in parse(after).rules] == [new]
    assert applied[1].rule == applied[0].rule


def test_an_added_rule_that_says_more_is_merged_into_the_narrower_one() -> None:
    wide = "Run make lint and make test before committing."
    after, applied = apply_edits("", [_add("Run make lint before committing."), _add(wide)])
    assert [rule.text for rule in parse(after).rules] == [wide]
    assert applied[1].reason == f"it was merged into rule {applied[0].rule!r}"


def test_a_skill_at_its_cap_can_still_shrink() -> None:
    full, _ = apply_edits("", [_add("Use tabs in every file of this project")])
    name = parse(full).rules[0].id
    shorter = Edit(kind=EditKind.REPLACE, anchor=name, text="Use tabs")
    after, applied = apply_edits(full, [shorter], limits=Limits(max_tokens=1))
    assert applied[0].status is ApplyStatus.APPLIED
    assert parse(after).tokens < parse(full).tokens


def test_a_rule_can_be_left_out_for_pruning() -> None:
    shorter = without_rule(HAND + REGION, "bbbb2222")
    assert "linter twice" not in shorter
    assert "Answer in German" in shorter
    with pytest.raises(SkillError, match="no rule has the id 'zzz'; known: aaaa1111"):
        without_rule(HAND + REGION, "zzz")


def test_reminders_stand_after_the_rules_and_guidance_after_both() -> None:
    edits = [
        Edit(kind=EditKind.GUIDE, text="Slow down."),
        Edit(kind=EditKind.NOTE, text="Reread the task."),
        _add("Answer in German."),
    ]
    after, _ = apply_edits("", edits)
    parts = parse(after)
    assert [(rule.text, rule.note) for rule in parts.rules] == [
        ("Answer in German.", False),
        ("Reread the task.", True),
    ]
    assert parts.guidance_text == "Slow down."


def test_markers_that_do_not_pair_up_are_an_error() -> None:
    with pytest.raises(SkillError, match="mend the document by hand"):
        parse(REGION + REGION)


def test_a_rule_knows_the_sessions_it_came_from_and_whether_a_human_supports_it() -> None:
    evidence = (
        Evidence(session="claude:1", turn=3, role="human"),
        Evidence(session="claude:2", turn=1, role="tool"),
    )
    _, applied = apply_edits(
        "", [Edit(kind=EditKind.ADD, text="Use tabs.", evidence=evidence, tasks=("t1",))]
    )
    (origin,) = origins(applied)
    assert (origin.sessions, origin.tasks, origin.tainted) == (
        ("claude:1", "claude:2"),
        ("t1",),
        False,
    )


def _add(text: str) -> Edit:
    return Edit(kind=EditKind.ADD, text=text)
