"""The stages one by one: merging, ranking, scheduling, guidance, variants, advice to itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.optimizer.bench import Agent, make_task

from skillopt_sleep.config import OptimizerSettings
from skillopt_sleep.model.apply import NO_LIMITS, apply_edits
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.prompt import Prompt
from skillopt_sleep.model.skill import parse
from skillopt_sleep.model.task import Split
from skillopt_sleep.optimizer.advisor import Advisor, Answer, read
from skillopt_sleep.optimizer.aggregate import aggregate, fold
from skillopt_sleep.optimizer.brief import Brief
from skillopt_sleep.optimizer.meta import learn
from skillopt_sleep.optimizer.quoting import quote
from skillopt_sleep.optimizer.reflect import Reflection
from skillopt_sleep.optimizer.schedule import edit_budget
from skillopt_sleep.optimizer.select import select
from skillopt_sleep.optimizer.slow import guide, sort_trials
from skillopt_sleep.optimizer.trials import Trial, trials
from skillopt_sleep.optimizer.update import RuleAnswer, candidates, edits_between
from skillopt_sleep.optimizer.widen import dream, recall
from skillopt_sleep.replay import Rollout
from skillopt_sleep.testing import ScriptedBackend

BRIEF = Brief(document="", budget=4)


def rule(text: str, *tasks: str) -> Edit:
    return Edit(kind=EditKind.ADD, text=text, tasks=tasks, support=len(tasks))


def answering(answer: Callable[[Prompt], object]) -> tuple[Advisor, ScriptedBackend]:
    backend = ScriptedBackend(lambda prompt: json.dumps(answer(prompt)))
    return Advisor(backend), backend


def test_patches_that_do_not_touch_are_put_together_without_a_call() -> None:
    advisor, backend = answering(lambda _prompt: {})
    reflection = Reflection(
        failures=((rule("Use tabs.", "a"),), (rule("Answer in German.", "b"),)),
        successes=((rule("Name the file first.", "c"), rule("use TABS", "d")),),
    )
    merged = aggregate(advisor, BRIEF, reflection, width=8)
    assert backend.asked == []
    assert [(edit.text, edit.tasks, edit.support) for edit in merged] == [
        ("Use tabs.", ("a", "d"), 2),
        ("Answer in German.", ("b",), 1),
        ("Name the file first.", ("c",), 1),
    ]


def test_a_merged_edit_has_the_support_of_its_sources_and_no_other() -> None:
    nothing: list[int] = []

    def answer(_prompt: Prompt) -> object:
        return {
            "edits": [
                {"from": [1, 2], "op": "add", "text": "Run lint and tests first.", "why": "both"},
                {"from": nothing, "op": "add", "text": "Invented."},
                {"from": [9], "op": "add", "text": "Invented too."},
            ]
        }

    advisor, backend = answering(answer)
    touching = (
        (rule("Run lint before each commit.", "a"),),
        (rule("Run tests on each commit.", "b", "c"),),
    )
    merged = aggregate(advisor, BRIEF, Reflection(failures=touching), width=8)
    assert [(edit.text, edit.tasks) for edit in merged] == [
        ("Run lint and tests first.", ("a", "b", "c"))
    ]
    assert len(backend.asked) == 1


@pytest.mark.parametrize("width", [2, 3, 8])
def test_many_patches_are_merged_in_a_tree_of_the_given_width(width: int) -> None:
    advisor, backend = answering(lambda _prompt: "no answer")
    many = tuple(
        (rule(f"Run check {n} on each file.", f"t{n}"), rule(f"Run test {n} twice.", f"u{n}"))
        for n in range(9)
    )
    merged = aggregate(advisor, BRIEF, Reflection(failures=many), width=width)
    assert all(
        prompt.messages[0].text.count("(support") <= 2 * width * width for prompt in backend.asked
    )
    assert merged


def test_of_two_edits_that_disagree_the_one_from_failures_stays() -> None:
    advisor, _ = answering(lambda _prompt: "no answer")
    reflection = Reflection(
        failures=((rule("Use tabs, not spaces.", "a"),),),
        successes=((rule("Use spaces, not tabs.", "b"),),),
    )
    merged = aggregate(advisor, BRIEF, reflection, width=8)
    assert [edit.text for edit in merged] == ["Use tabs, not spaces."]


def test_of_two_edits_of_which_one_says_more_that_one_stays_with_the_support_of_both() -> None:
    narrow = rule("Run lint before each commit.", "a")
    wide = rule("Run lint and tests before each commit.", "b")
    (only,) = fold([narrow, wide])
    assert (only.text, only.tasks) == (wide.text, ("a", "b"))


def test_a_replacement_and_a_deletion_of_one_rule_do_not_both_stay() -> None:
    change = Edit(kind=EditKind.REPLACE, anchor="aaaa1111", text="Use tabs.")
    drop = Edit(kind=EditKind.DELETE, anchor="aaaa1111")
    assert fold([change, drop]) == (change,)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 5)), max_size=8))
def test_folding_loses_no_task(pairs: list[tuple[str, int]]) -> None:
    edits = [rule(f"Rule {name} holds", f"{name}{n}") for name, n in pairs]
    folded = fold(edits)
    assert {task for edit in folded for task in edit.tasks} == {t for e in edits for t in e.tasks}
    assert fold(folded) == folded


def test_without_a_usable_ranking_the_better_supported_edits_come_first() -> None:
    advisor, _ = answering(lambda _prompt: {"order": []})
    edits = [rule("One.", "a"), rule("Two.", "a", "b"), rule("Three.", "a", "b", "c")]
    chosen = select(advisor, Brief(document="", budget=2), edits)
    assert [edit.text for edit in chosen.edits] == ["Three.", "Two."]
    assert "no usable ranking" in chosen.how


def test_what_fits_the_budget_is_not_ranked_by_the_model() -> None:
    advisor, backend = answering(lambda _prompt: {})
    assert len(select(advisor, BRIEF, [rule("One."), rule("Two.")]).edits) == 2
    assert backend.asked == []


@pytest.mark.parametrize(
    ("schedule", "budgets"),
    [
        ("none", [None] * 5),
        ("constant", [4, 4, 4, 4, 4]),
        ("linear", [4, 4, 3, 2, 2]),
        ("cosine", [4, 4, 3, 2, 2]),
        ("autonomous", [4, 4, 4, 4, 4]),
    ],
)
def test_the_textual_learning_rate_follows_its_schedule(
    schedule: str, budgets: list[int | None]
) -> None:
    settings = OptimizerSettings.model_validate({"schedule": schedule})
    assert [edit_budget(settings, step, 5) for step in range(5)] == budgets


def test_a_run_of_one_step_has_the_full_budget_and_later_nights_keep_it() -> None:
    assert [edit_budget(OptimizerSettings(), step, 1) for step in (0, 3)] == [4, 4]


def trial(number: int, skill: str) -> Trial:
    task = make_task(number)
    (found,) = trials([task], Agent()([Rollout(task=task, skill=skill)]))
    return found


def test_tasks_are_sorted_by_what_the_last_epoch_did_to_them() -> None:
    first, second = "Mention citron. Mention bramble", "Mention bramble. Mention harbor"
    old = [trial(n, first) for n in range(4)]
    new = [trial(n, second) for n in range(4)]
    kinds = {
        kind: [now.task.id for _, now in pairs] for kind, pairs in sort_trials(old, new).items()
    }
    assert kinds == {
        "regressed": ["train-0"],
        "stable": ["train-1"],
        "improved": ["train-2"],
        "still failing": ["train-3"],
    }


def test_guidance_names_the_tasks_that_moved_and_can_be_left_unsaid() -> None:
    old, new = [trial(0, "")], [trial(0, "Mention citron")]
    advisor, _ = answering(lambda _prompt: {"guidance": " Look twice. "})
    edit = guide(advisor, BRIEF, old, new)
    assert edit is not None
    assert (edit.kind, edit.text, edit.tasks) == (EditKind.GUIDE, "Look twice.", ("train-0",))
    silent, _ = answering(lambda _prompt: {"guidance": ""})
    assert guide(silent, BRIEF, old, new) is None


def test_the_meta_skill_stays_as_it_was_without_news_or_a_fit_answer() -> None:
    advisor, backend = answering(lambda _prompt: {"advice": "hidden \u200b text"})
    assert learn(advisor, "old", accepted=(), rejected=()) == "old"
    assert backend.asked == []
    assert learn(advisor, "old", accepted=[rule("Use tabs.")], rejected=()) == "old"
    better, _ = answering(lambda _prompt: {"advice": "Propose less."})
    assert learn(better, "old", accepted=(), rejected=[rule("Use tabs.")]) == "Propose less."


def test_rules_written_anew_become_deletions_changes_and_additions() -> None:
    live, _ = apply_edits("", [rule("Use tabs."), rule("Answer in German."), rule("Be brief.")])
    first, second, _ = parse(live).rules
    anew = [
        RuleAnswer(id=first.id, text="Use tabs."),
        RuleAnswer(id=f"[{second.id}]", text="Answer in German or English."),
        RuleAnswer(text="Name the file first."),
    ]
    edits = edits_between(live, anew, [rule("x", "t1", "t2")])
    assert [(edit.kind, edit.support) for edit in edits] == [
        (EditKind.DELETE, 2),
        (EditKind.REPLACE, 2),
        (EditKind.ADD, 2),
    ]
    after, _ = apply_edits(live, edits)
    assert [one.text for one in parse(after).rules] == [one.text for one in anew]


def test_an_edit_that_cannot_be_applied_makes_no_candidate_and_sinks_no_other() -> None:
    bad = Edit(kind=EditKind.DELETE, anchor="nowhere")
    made, applied = candidates("", [bad, rule("Use tabs.")], limits=NO_LIMITS, night="n")
    assert [[edit.text for edit in one.edits] for one in made] == [["Use tabs."]]
    assert [str(one.status) for one in applied] == ["no_match", "applied"]


def test_variants_are_not_made_of_held_out_tasks_nor_where_the_answer_is_known() -> None:
    advisor, backend = answering(lambda _prompt: {"requests": ["a", "b", "c"]})
    known = replace(make_task(1), reference="42")
    made = dream(advisor, [make_task(0), known, make_task(2, split=Split.HELD_OUT)], 2)
    assert [(task.id, task.prompt) for task in made] == [
        ("train-0~dream1", "a"),
        ("train-0~dream2", "b"),
    ]
    assert len(backend.asked) == 1


def test_the_most_similar_past_train_tasks_are_recalled() -> None:
    archive = [make_task(n) for n in range(10, 14)] + [make_task(7, split=Split.HELD_OUT)]
    found = recall([make_task(12)], archive, 2)
    assert len(found) == 2
    assert all(task.split is Split.TRAIN and task.id != "train-12" for task in found)


class Pair(Answer):
    left: int
    right: int = 0


@pytest.mark.parametrize(
    "text",
    [
        '{"left": 1, "right": 2}',
        'Here it is:\n```json\n{"left": 1, "right": 2}\n```\nDone.',
        "{'left': 1, 'right': 2,}",
        '{"left": 1, "right": 2, "extra": true}',
    ],
)
def test_json_that_is_slightly_off_is_read(text: str) -> None:
    assert read(text, Pair) == Pair(left=1, right=2)


@pytest.mark.parametrize("text", ["no idea", '{"right": 2}', "[1, 2]", '{"left": "many"}'])
def test_what_lacks_the_shape_is_refused_with_the_trouble_named(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(text, Pair)


@given(st.text(max_size=200))
def test_no_text_can_close_its_own_quotation(text: str) -> None:
    first, *middle, last = quote(text).split("\n")
    mark = first.removeprefix("<<<DATA ")
    assert last == f"DATA {mark}>>>"
    assert "\n".join(middle) == text
    assert last not in text


def test_long_text_keeps_its_head_and_tail() -> None:
    quoted = quote("a" * 500 + "b" * 500, cap=90)
    assert "a" * 60 in quoted
    assert "b" * 30 in quoted
    assert "910 characters left out" in quoted
