"""Requests fall into the same clusters whatever their order, copies and wrapping."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mine.labelled import REQUESTS, SHARED, b_cubed, labelled

from skillopt_sleep.mine.linkage import average_linkage
from skillopt_sleep.mine.recurrence import cluster
from skillopt_sleep.mine.vectors import Matrix, centred, lexical_vectors


def partition(texts: Sequence[str], numbers: Sequence[int]) -> set[frozenset[str]]:
    return {
        frozenset(text for text, other in zip(texts, numbers, strict=True) if other == number)
        for number in numbers
    }


def test_developer_requests_in_other_words_are_found_again() -> None:
    texts, labels = labelled(REQUESTS)
    exact = b_cubed(texts, labels)
    found = b_cubed(cluster(texts), labels)
    assert found > 0.82
    assert found > exact + 0.15


def test_requests_that_have_nothing_in_common_stay_apart() -> None:
    texts, labels = labelled(REQUESTS)
    alone = [text for text, label in zip(texts, labels, strict=True) if label.startswith("alone")]
    sizes = Counter(cluster(alone)).values()
    assert sum(size for size in sizes if size > 1) <= 0.15 * len(alone)


@pytest.mark.parametrize(("name", "least"), [("nl2bash", 0.69), ("clinc", 0.67)])
def test_public_labelled_requests_are_clustered_without_their_labels(
    name: str, least: float
) -> None:
    path = SHARED / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the labelled sets are not beside this checkout")
    texts, labels = labelled(path)
    assert b_cubed(cluster(texts), labels) >= least


def test_few_requests_are_judged_by_what_is_known_beforehand() -> None:
    assert cluster([]) == []
    assert cluster(["run the tests"]) == [0]
    assert cluster(["run the tests", "run the tests please"]) == [0, 0]
    assert cluster(["can you please run the tests", "can you please write the docs"]) == [0, 1]
    assert cluster(
        ["fix the failing tests", "draw a cat", "please fix the failing tests in src/a.py"]
    ) == [0, 1, 0]


@pytest.mark.parametrize(
    "again",
    [
        "Run the tests!",
        "  run   the tests ",
        "RUN THE TESTS.",
        "run the tests\n",
        "run\u3000the\u00a0tests\uff01",
    ],
)
def test_case_spacing_and_closing_marks_never_tell_two_requests_apart(again: str) -> None:
    assert cluster(["run the tests", "what time is it", again]) == [0, 1, 0]


def test_one_word_in_common_is_not_enough_where_all_else_is_strange() -> None:
    rng = random.Random(5)
    signs = [chr(0x4E00 + at) for at in range(3000)]
    rng.shuffle(signs)
    strange = ["".join(signs[at : at + 12]) for at in range(0, 1200, 12)]
    found = cluster([*strange, strange[0][:3] + "".join(signs[2000:2010])])
    assert len(set(found)) == len(found)


def test_requests_without_any_word_are_clustered_too() -> None:
    assert cluster(["", "   ", "???", "👍", "👍"]) == [0, 0, 1, 2, 2]


def test_requests_in_scripts_without_spaces_recur() -> None:
    noise = ["为什么天空是蓝色的", "推荐一本小说", "解释量子力学", "今天天气怎么样", "画一只猫"]
    found = cluster(["请帮我运行单元测试", "帮我运行单元测试吧", *noise])
    assert found[0] == found[1]
    assert len(set(found)) == 1 + len(noise)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(2, 60))
def test_neither_order_nor_copies_change_what_is_together(seed: int, size: int) -> None:
    texts = labelled(REQUESTS)[0]
    rng = random.Random(seed)
    chosen = rng.sample(texts, size)
    mixed = chosen + rng.choices(chosen, k=size // 2)
    rng.shuffle(mixed)
    assert partition(chosen, cluster(chosen)) == partition(mixed, cluster(mixed))


def test_numbers_count_up_in_the_order_of_appearance() -> None:
    found = cluster(labelled(REQUESTS)[0])
    assert list(dict.fromkeys(found)) == list(range(len(set(found))))


def test_what_a_request_led_to_can_join_what_words_leave_apart() -> None:
    texts, _ = labelled(REQUESTS)
    pair = ["make it green again please", "the suite is red once more"]
    known = frozenset({"tool:Bash", "cmd:pytest -x", "ext:.py", "err:AssertionError"})
    rest = [frozenset({f"cmd:other {at}"}) for at in range(60)]
    without = cluster([*pair, *texts[:60]])
    assert without[0] != without[1]
    beside = cluster([pair[0], "make the suite green", *texts[:60]], sides=[known, known, *rest])
    assert beside[0] == beside[1]


def test_random_pairs_come_from_different_repositories() -> None:
    texts, labels = labelled(REQUESTS)
    groups = [f"repo {label}" for label in labels]
    assert b_cubed(cluster(texts, groups=groups), labels) > 0.75


def test_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        cluster(["one", "two"], sides=[frozenset()])
    with pytest.raises(ValueError, match="zip"):
        cluster(["one", "two"], groups=["repo"])


def test_vectors_by_meaning_join_what_shares_no_word() -> None:
    texts, labels = labelled(REQUESTS)
    rng = np.random.default_rng(7)
    directions = {label: rng.normal(size=48) for label in dict.fromkeys(labels)}
    meaning = {
        " ".join(text.casefold().split()).strip(" .,:;!?"): directions[label]
        for text, label in zip(texts, labels, strict=True)
    }

    def embed(asked: Sequence[str]) -> Matrix:
        rows = np.array([meaning[text] for text in asked], dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    assert b_cubed(cluster(texts, embed=embed), labels) > 0.97


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_linking_in_parts_gives_the_clusters_of_linking_the_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, 12))
    rows = centred((centres[rng.integers(8, size=60)] + rng.normal(size=(60, 12))).astype("f4"))
    penalty = rng.uniform(0, 0.1, size=60).astype(np.float32)
    whole = average_linkage(rows, penalty, 0.45)
    parts = average_linkage(rows, penalty, 0.45, whole=0)
    names = [str(at) for at in range(60)]
    assert partition(names, whole.tolist()) == partition(names, parts.tolist())


def test_average_linkage_joins_by_the_mean_and_not_by_the_nearest() -> None:
    at = np.deg2rad([0.0, 30.0, 60.0, 90.0])
    chain = np.stack([np.cos(at), np.sin(at)], axis=1).astype(np.float32)
    labels = average_linkage(chain, np.zeros(4, dtype=np.float32), 0.8)
    assert len(set(labels.tolist())) == 2


def test_rare_words_weigh_more_than_everyday_ones() -> None:
    rows = lexical_vectors(
        ["please can you rebase it", "rebase now", "please can you draw it", "paint", "sing"]
    )
    alike = rows @ rows.T
    assert alike[0, 1] > alike[0, 2]
