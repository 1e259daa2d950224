"""Contexts written as objects."""

from __future__ import annotations

from typing import Any

from inspector.protocol.object_contexts import MAX_NESTED_PARENTS, context_and_parents, object_key


def test_object_keys() -> None:
    assert [object_key(c) for c in ({"id": "a"}, {"id": "", "topic": "t"}, {"id": 7}, {})] == ["a", "t", None, None]


def test_a_context_and_the_parents_in_it_are_levels() -> None:
    context = {"id": "c", "type": "x", "parent": {"id": "b", "metadata": {"a": 1}, "parent": "a"}}
    assert context_and_parents(context) == (
        {"id": "c", "type": "x", "parent": "b"},
        {"id": "b", "metadata": {"a": 1}, "parent": "a"},
    )


def test_no_more_levels_than_anybody_reads() -> None:
    context: dict[str, Any] = {"id": "0"}
    for number in range(3 * MAX_NESTED_PARENTS):
        context = {"id": str(number + 1), "parent": context}
    levels = context_and_parents(context)
    assert len(levels) == MAX_NESTED_PARENTS
    assert levels[-1]["parent"] == str(2 * MAX_NESTED_PARENTS)
