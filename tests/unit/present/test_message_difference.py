"""What differs between two messages: each difference once, where it stands, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.present.message_difference import align_lines, change_counts, text_changes, value_changes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab ", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"a": 1, "b": [1]}, {"b": [1], "a": 1}, []),
        ({"a": 1}, {"a": 2}, [("changed", ("a",))]),
        ({"a": 1}, {"a": "1"}, [("changed", ("a",))]),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, [("removed", ("a", "b")), ("added", ("a", "c"))]),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, [("added", ("a", 2))]),
        ([], {}, [("changed", ())]),
    ],
)
def test_values_are_compared_by_their_structure(one: Any, other: Any, found: list[Any]) -> None:
    assert [(change.kind, change.steps) for change in value_changes(one, other)] == found


@given(JSON, JSON)
def test_the_same_has_no_difference_and_another_has_some(one: Any, other: Any) -> None:
    assert value_changes(one, one) == []
    assert bool(value_changes(one, other)) == (repr_of(one) != repr_of(other))


def repr_of(value: Any) -> str:
    """Members in any order; true is not 1."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{repr_of(value[key])}" for key in sorted(value)) + "}"
    return f"[{','.join(map(repr_of, value))}]" if isinstance(value, list) else repr(value)


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=40))
def test_what_does_not_differ_is_the_same_in_both_texts(one: str, other: str) -> None:
    changes = text_changes(one, other)
    kept = ["", ""]
    for place, text in enumerate((one, other)):
        at = 0
        for change in changes:
            start, stop = (change.before, change.after)[place]
            kept[place] += text[at:start]
            at = stop
        kept[place] += text[at:]
    assert kept[0] == kept[1]


def test_texts_differ_by_words() -> None:
    (change,) = text_changes("the quick brown fox", "the slow brown fox")
    assert ("the quick brown fox"[slice(*change.before)], "the slow brown fox"[slice(*change.after)]) == (
        "quick", "slow",
    )  # fmt: skip


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_lines_stand_beside_each_other(one: str, other: str) -> None:
    left, right = (text.split("\n") for text in align_lines(one, other))
    assert len(left) == len(right)
    assert [line for line in left if line] == [line for line in one.splitlines() if line]


def test_counts_in_words() -> None:
    assert change_counts(value_changes({"a": 1, "b": 1}, {"a": 2, "c": 1})) == "1 changed, 1 added, 1 removed"
    assert change_counts([]) == "no difference"


@pytest.mark.real
def test_nothing_is_imported_before_it_is_asked_for() -> None:
    modules = "inspector.ui.features.comparison, inspector.present.message_difference"
    code = f"import sys, {modules}; print('deepdiff' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_many_changes_of_long_texts_are_found_soon() -> None:
    lines = [f"line {number}\n" for number in range(30_000)]
    changed = [f"changed {place}\n" if place % 10 == 3 else line for place, line in enumerate(lines)]
    del changed[20_000:20_100]
    one, other = "".join(lines), "".join(changed)
    began = time.process_time()
    found = text_changes(one, other)
    assert time.process_time() - began < 5  # by quadratic matching it takes minutes
    assert len(found) == 2_991
    assert [one[slice(*change.before)] for change in found[:2]] == ["line 3\n", "line 13\n"]
    assert [other[slice(*change.after)] for change in found[:2]] == ["changed 3\n", "changed 13\n"]
