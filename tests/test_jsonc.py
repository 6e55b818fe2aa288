"""JSON with comments, edited in place: what is not ours keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.harness.jsonc import append, drop, drop_items, get, put, scan

PLACE = ("our place", "skillopt")
ITEMS = ("our hooks", "SessionStart")
ENTRY: dict[str, Any] = {"command": "x", "args": ["-m", "y"], "env": {}}

keys = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
trees = st.dictionaries(keys, values, min_size=1, max_size=4)
indents = st.sampled_from([None, 1, 2, 4, "\t"])


@settings(max_examples=80, deadline=None)
@given(tree=trees, indent=indents, crlf=st.booleans())
def test_an_entry_put_in_and_taken_out_leaves_the_bytes(
    tree: dict[str, Any], indent: int | str | None, *, crlf: bool
) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    changed = put("f", text, PLACE, ENTRY)
    assert json.loads(changed) == {**tree, PLACE[0]: {PLACE[1]: ENTRY}}
    assert put("f", changed, PLACE, ENTRY) == changed
    assert drop("f", changed, PLACE) == text


@settings(max_examples=60, deadline=None)
@given(trees, indents)
def test_items_appended_and_taken_out_leave_the_bytes(
    tree: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(tree, indent=indent)
    once = append("f", text, ITEMS, {"ours": 1})
    twice = append("f", once, ITEMS, {"ours": 2})
    assert get("f", twice, ITEMS) == [{"ours": 1}, {"ours": 2}]
    assert drop_items("f", twice, ITEMS, lambda item: item == {"ours": 2}) == once
    assert drop_items("f", twice, ITEMS, lambda _item: True) == text


COMMENTED = """\
// mine
{
  "a": 1, // one
  /* two */ "list": [
    {"theirs": true}, // keep
  ],
  unquoted: 'it''s "so"',
  "last": {"x": +1.5e3} // three
  // four
}
// five
""".replace("it''s", "it\\'s")


def test_comments_order_and_commas_stay() -> None:
    changed = put("f", COMMENTED, ("last", "skillopt"), ENTRY)
    changed = append("f", changed, ("list",), {"ours": True})
    changed = put("f", changed, ("new",), [1])
    for comment in ("// mine", "// one", "/* two */", "// keep", "// three", "// four", "// five"):
        assert changed.count(comment) == 1
    assert get("f", changed, ("unquoted",)) == 'it\'s "so"'
    assert get("f", changed, ("list",)) == [{"theirs": True}, {"ours": True}]
    changed = drop("f", changed, ("new",))
    changed = drop_items("f", changed, ("list",), lambda item: "ours" in item)
    assert drop("f", changed, ("last", "skillopt")) == COMMENTED


def test_a_value_that_differs_is_replaced_where_it_stands() -> None:
    text = '{\n  "s": {\n    "skillopt": {"old": 1}, // note\n    "z": 2\n  }\n}\n'
    changed = put("f", text, ("s", "skillopt"), {"new": 1})
    assert '      "new": 1\n    }, // note\n    "z": 2' in changed


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{oops", "':' was wanted after 'oops'"),
        ('{"a": 1', "',' or '}' was wanted"),
        ('{"a": maybe}', "a value was wanted"),
        ('{"a": 1} {}', "text after the end"),
        ('{"a": "open\n"}', "a value was wanted"),
        ("[1]", "holds list, not an object"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "a value was wanted"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, what: str) -> None:
    with pytest.raises(ConfigError, match="'f'") as caught:
        scan("f", text)
    assert what in str(caught.value)


def test_a_value_in_the_way_is_refused() -> None:
    with pytest.raises(ConfigError, match="where an object was wanted above 'skillopt'"):
        put("f", '{"mcpServers": []}', ("mcpServers", "skillopt"), ENTRY)
    with pytest.raises(ConfigError, match="not an array"):
        append("f", '{"hooks": {"SessionStart": 3}}', ("hooks", "SessionStart"), ENTRY)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('{}[]",:/*\\\n1a '), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        scan("f", text)
    except ConfigError:
        return
    assert put("f", put("f", text, PLACE, 1), PLACE, 2) != text
