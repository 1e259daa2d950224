"""Contexts written as objects."""

from __future__ import annotations

from typing import Any

from inspector.protocol.object_contexts import MOST_NESTED, levels_of, object_key


def test_object_keys() -> None:
    assert [object_key(c) for c in ({"id": "a"}, {"id": "", "topic": "t"}, {"id": 7}, {})] == ["a", "t", None, None]


def test_a_context_and_the_parents_in_it_are_levels() -> None:
    context = {"id": "c", "type": "x", "parent": {"id": "b", "metadata": {"a": 1}, "parent": "a"}}
    assert levels_of(context) == (
        {"id": "c", "type": "x", "parent": "b"},
        {"id": "b", "metadata": {"a": 1}, "parent": "a"},
    )


def test_no_more_levels_than_anybody_reads() -> None:
    context: dict[str, Any] = {"id": "0"}
    for number in range(3 * MOST_NESTED):
        context = {"id": str(number + 1), "parent": context}
    levels = levels_of(context)
    assert len(levels) == MOST_NESTED
    assert levels[-1]["parent"] == str(2 * MOST_NESTED)
