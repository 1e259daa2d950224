"""Texts and numbers of nodes that follow the tree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts import context_tree
from inspector.analysis.passes.contexts.context_pass import STATES
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.node_ancestry import NodeAncestry
from inspector.analysis.passes.contexts.node_columns import NodeTable
from tests.builders import GrowingLog, clean_up
from tests.strategies import context_conversations


def test_texts_by_node_and_one() -> None:
    tree = ContextTree()
    table = NodeTable(tree, tree.path)
    assert (len(table), table[0]) == (1, "")
    node = tree.node_of_key(0, "a/b")
    assert (len(table), table[node + 1], table[MAIN + 1]) == (3, "a/b", "")


def test_lines_grow_and_are_made_anew() -> None:
    tree = ContextTree()
    lines = NodeAncestry(tree)
    assert (lines.depths.tolist(), lines.roots.tolist()) == ([0], [MAIN])
    alone = tree.node_of_key(0, "b")
    tree.node_of_key(0, "a")
    assert (lines.depths.tolist(), lines.roots.tolist()) == ([1, 1, 0], [0, 1, MAIN])
    tree.node_of_key(0, "a/b")
    assert (lines.depths.tolist(), lines.roots.tolist()) == ([1, 1, 2, 0], [0, 1, 1, MAIN])
    tree.declare_context(0, "b", tree.node_of_key(0, "a"), None)
    assert (lines.depths.tolist(), lines.roots.tolist()) == ([2, 1, 2, 0], [1, 1, 1, MAIN])
    assert lines.depths[[alone, MAIN]].tolist() == [2, 0]


def test_parents_come_first_even_when_they_appeared_later() -> None:
    tree = ContextTree()
    nodes = [tree.node_of_key(0, name) for name in ("c", "b", "a")]
    for node, above in pairwise(nodes):
        tree.declare_context(0, tree.name[node], above, None)
    lines = NodeAncestry(tree)
    assert (lines.roots.tolist(), lines.depths.tolist()) == ([2, 2, 2, MAIN], [3, 2, 1, 0])


def test_deep_trees_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_tree, "MAX_LEVELS", 20_000)
    tree = ContextTree()
    lines = NodeAncestry(tree)
    tree.node_of_key(0, "x/x")
    assert lines.depths.tolist() == [1, 2, 0]
    tree.node_of_key(0, "/".join("x" * 20_000))
    assert lines.depths[-2] == 20_000
    assert set(lines.roots[:-1].tolist()) == {0}


@given(context_conversations, st.integers(1, 4))
def test_lines_and_types_are_those_of_the_nodes(messages: list[dict[str, Any]], size: int) -> None:
    """Whenever they are asked for, what arrays say of all nodes is what the tree says of each."""
    log = GrowingLog()
    contexts = log.document.analysis.contexts
    for place in range(0, len(messages), size):
        log.write(*messages[place : place + size])
        tree = contexts.tree
        for node in tree.alive():
            assert tree.lines.depths[node] == len(tree.ancestry(node))
            assert tree.lines.roots[node] == tree.ancestry(node)[0]
        shown = contexts.types()
        wanted = [contexts.type(n) if n != MAIN else None for n in contexts.nodes().tolist()]
        assert [contexts.type_names[t] or None for t in shown.tolist()] == wanted
        states = contexts.states()
        assert (len(states), states[MAIN]) == (len(tree) + 1, 0)
        assert [STATES[states[node]] for node in tree.alive()] == [contexts.state(node) for node in tree.alive()]
    clean_up()
