"""Texts and numbers of nodes that follow the tree."""

from __future__ import annotations

from itertools import pairwise

from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.node_columns import NodeNumbers, NodeTable


def test_texts_by_node_and_one() -> None:
    tree = ContextTree()
    table = NodeTable(tree, tree.path)
    assert (len(table), table[0]) == (1, "")
    node = tree.of_key(0, "a/b")
    assert (len(table), table[node + 1], table[MAIN + 1]) == (3, "a/b", "")


def test_numbers_grow_and_are_made_anew() -> None:
    tree = ContextTree()
    asked: list[int] = []

    def depth(node: int, above: int) -> int:
        asked.append(node)
        return above + 1

    numbers = NodeNumbers(tree, depth)
    assert (numbers.values(0).tolist(), len(numbers)) == ([0], 0)
    alone = tree.of_key(0, "b")
    tree.of_key(0, "a")
    assert (numbers.values(tree.moves).tolist(), len(numbers)) == ([1, 1, 0], 2)
    tree.of_key(0, "a/b")
    assert numbers.values(tree.moves).tolist() == [1, 1, 2, 0]
    assert asked == [0, 1, 2]
    tree.declare(0, "b", tree.of_key(0, "a"), None)
    assert numbers.values(tree.moves).tolist() == [2, 1, 2, 0]
    assert numbers.values(tree.moves)[[alone, MAIN]].tolist() == [2, 0]


def test_parents_are_numbered_first_even_when_they_appeared_later() -> None:
    tree = ContextTree()
    nodes = [tree.of_key(0, name) for name in ("c", "b", "a")]
    for node, above in pairwise(nodes):
        tree.declare(0, tree.name[node], above, None)
    roots = NodeNumbers(tree, lambda node, above: node if above == MAIN else above, MAIN)
    depths = NodeNumbers(tree, lambda _, above: above + 1)
    assert (roots.values(0).tolist(), depths.values(0).tolist()) == ([2, 2, 2, MAIN], [3, 2, 1, 0])


def test_deep_trees_are_numbered_once_a_node() -> None:
    tree = ContextTree()
    tree.of_key(0, "/".join("x" * 20_000))
    asked: list[int] = []
    numbers = NodeNumbers(tree, lambda node, above: asked.append(node) or above + 1)
    assert numbers.values(0)[-2] == len(asked) == 20_000
