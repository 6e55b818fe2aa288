"""Static checks: a good edit passes in silence, what copies, repeats or is tainted does not."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.gate.capability import Flag, Severity
from skillopt_sleep.gate.static import static_flags
from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.edit import Edit, EditKind

SKILL = "---\nname: shop\ndescription: Work in the shop repository\n---\n\n- Use tabs.\n"
PROMPT = "add a discount column to the invoice table and show it in the weekly report"
RUBRIC = "the answer names the column and explains why it was added to the table"


def _edit(text: str, *, quote: str = "from now on", role: str = "human") -> Edit:
    heard = Evidence(session="s", turn=2, role=role, quote=quote)
    return Edit(kind=EditKind.ADD, text=text, support=2, evidence=(heard,))


def _flags(
    *edits: Edit,
    held_out: tuple[str, ...] = (PROMPT,),
    judges: tuple[str, ...] = (RUBRIC, "uv", "uv run pytest -q tests/unit"),
    rejected: tuple[str, ...] = (),
    max_edits: int = 3,
) -> tuple[Flag, ...]:
    return static_flags(
        before=SKILL,
        after=SKILL + "".join(f"- {edit.text}\n" for edit in edits),
        edits=edits,
        held_out_prompts=held_out,
        judge_strings=judges,
        rejected=rejected,
        max_edits=max_edits,
    )


def test_an_ordinary_good_edit_raises_no_flag() -> None:
    assert _flags(_edit("Use uv instead of pip."), _edit("Name columns in snake_case.")) == ()


def test_a_rule_may_name_the_command_that_its_check_looks_for() -> None:
    assert _flags(_edit("Run `uv run pytest -q tests/unit` after each change.")) == ()


def test_a_copied_held_out_prompt_blocks() -> None:
    (flag,) = _flags(
        _edit("When asked to add a discount column to the invoice table, use numeric.")
    )
    assert (flag.kind, flag.severity) == ("copies a held-out prompt", Severity.BLOCK)
    assert "discount column" in flag.excerpt


def test_words_of_the_human_in_training_may_be_said_again() -> None:
    words = "always add a discount column to the invoice table"
    assert _flags(_edit("Add a discount column to the invoice table.", quote=words)) == ()


def test_a_copied_rubric_blocks() -> None:
    (flag,) = _flags(_edit("See that the answer names the column and explains why it was added."))
    assert flag.kind == "copies a check"


def test_a_short_rubric_quoted_as_it_is_blocks() -> None:
    (flag,) = _flags(
        _edit("Make sure it sounds polite."), judges=("sounds polite", "it sounds polite")
    )
    assert flag.kind == "copies a check"


def test_a_copied_prompt_without_blanks_between_words_blocks() -> None:
    prompt = "请在发票表里增加折扣列并在周报中显示出来"
    (flag,) = _flags(_edit("请在发票表里增加折扣列时使用小数。"), held_out=(prompt,))
    assert flag.kind == "copies a held-out prompt"
    assert _flags(_edit("发票表用小数。"), held_out=(prompt,)) == ()


def test_an_edit_without_a_human_behind_it_is_tainted() -> None:
    (flag,) = _flags(_edit("Use spaces in YAML.", role="tool"))
    assert flag.kind == "tainted"
    assert flag.severity is Severity.SIGNOFF
    assert flag.reason == "no human's words support it, only: tool"


def test_a_deletion_needs_no_human_behind_it() -> None:
    assert _flags(Edit(kind=EditKind.DELETE, anchor="use-tabs")) == ()


def test_what_the_gate_turned_down_does_not_come_back_in_other_order() -> None:
    (flag,) = _flags(_edit("Use spaces in YAML files."), rejected=("In YAML files use spaces.",))
    assert flag.kind == "rejected before"
    assert _flags(_edit("Use spaces in YAML files."), rejected=("Use tabs in Makefiles.",)) == ()


def test_more_edits_than_allowed_block() -> None:
    (flag,) = _flags(_edit("Use spaces in YAML."), _edit("Sort imports."), max_edits=1)
    assert (flag.kind, flag.excerpt) == ("too many edits", "2 edits")


def test_a_secret_blocks_and_is_not_repeated_in_the_flag() -> None:
    token = "gh" + "p_" + sha256(b"planted").hexdigest()[:36]
    flags = _flags(_edit(f"Log in with {token}."))
    assert "secret" in {flag.kind for flag in flags}
    assert token not in "".join(flag.excerpt for flag in flags if flag.kind == "secret")


@given(st.lists(st.text(min_size=1, max_size=60).filter(str.strip), max_size=3))
def test_the_same_texts_give_the_same_flags(rules: list[str]) -> None:
    edits = [_edit(rule) for rule in rules]
    assert _flags(*edits) == _flags(*edits)
