"""Nodes by key, start and move: the tables of docs/protocols.md 6 and 7."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.arrays import text_column
from inspector.analysis.passes.contexts import context_tree, node_index
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.base import siblings
from inspector.store.columns.block import OBJECT_KEY
from tests.builders import clean_up, document_of
from tests.strategies import context_conversations


def paths(tree: ContextTree, space: int = 0) -> list[str]:
    return [tree.path(node) for node in tree.walk(space)]


def tree_of(*keys: str) -> ContextTree:
    tree = ContextTree()
    for key in keys:
        tree.node_of_key(0, key)
    return tree


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (["a", "a/b", "a/b/c", "ab"], ["a", "a/b", "a/b/c", "ab"]),
        (["a/b/c"], ["a", "a/b", "a/b/c"]),
        (["/a//b/", "a/b"], ["a", "a/b"]),
        (["", "/", "//"], []),
        (["b", "a/x", "a", "b/y", "a/w"], ["b", "b/y", "a", "a/x", "a/w"]),
        (["a b/ü"], ["a b", "a b/ü"]),
        (["a%2Fb"], ["a%252Fb"]),
    ],
    ids=["tree of a", "implied ancestors", "edges", "main", "order first seen", "any characters", "percent"],
)
def test_string_paths(keys: list[str], shown: list[str]) -> None:
    assert paths(tree_of(*keys)) == shown


def test_implied_ancestors_are_marked_until_they_are_used() -> None:
    tree = tree_of("a/b/c")
    assert [tree.implicit[node] for node in tree.walk(0)] == [True, True, False]
    tree.node_of_key(0, "a/b")
    assert [tree.implicit[node] for node in tree.walk(0)] == [True, False, False]


def test_spaces_are_apart() -> None:
    tree = ContextTree()
    assert tree.node_of_key(1, "a") != tree.node_of_key(2, "a")
    assert (paths(tree, 1), paths(tree, 2), paths(tree, 3)) == (["a"], ["a"], [])


def test_main_is_no_node() -> None:
    tree = tree_of("a")
    assert (tree.node_of_key(0, "/"), tree.resolve(MAIN), tree.depth(MAIN), tree.path(MAIN)) == (MAIN, MAIN, 0, "")


def test_operations() -> None:
    tree = tree_of("a/b/c")
    node = tree.node_of_key(0, "a/b/c")
    assert (tree.depth(node), tree.path(tree.ancestry(node)[0]), tree.name[node]) == (3, "a", "c")


# Reasoning starts: their id is one opaque name (docs/protocols.md 6)


def test_a_start_s_id_is_a_root() -> None:
    tree = ContextTree()
    node = tree.declare_context(0, "r1", MAIN, "Why so")
    assert (tree.node_of_key(0, "r1"), tree.label[node], paths(tree)) == (node, "Why so", ["r1"])


def test_an_id_with_a_slash_is_one_node() -> None:
    tree = ContextTree()
    node = tree.declare_context(0, "a/b", None, None)
    assert tree.node_of_key(0, "a/b") == node
    assert paths(tree) == ["a%2Fb"]
    tree.node_of_key(0, "a/b/c")
    assert paths(tree) == ["a%2Fb", "a%2Fb/c"]
    assert tree.node_of_key(0, "a") != node


def test_a_late_start_takes_the_provisional_node_over() -> None:
    tree = ContextTree()
    provisional, child = tree.node_of_key(0, "a/b"), tree.node_of_key(0, "a/b/c")
    tree.count(provisional, 2)
    tree.count(child, 3)
    node = tree.declare_context(0, "a/b", None, "Why")
    assert paths(tree) == ["a%2Fb", "a%2Fb/c"]
    assert tree.resolve(provisional) == tree.node_of_key(0, "a/b") == node
    assert (tree.own[node], tree.subtree[node], tree.own[child]) == (2, 5, 3)
    assert tree.merged == [(provisional, node)]
    assert len(tree.alive()) == 2


def test_a_late_start_leaves_ancestors_that_are_used() -> None:
    tree = tree_of("a", "a/b", "a/x")
    tree.declare_context(0, "a/b", None, None)
    assert paths(tree) == ["a", "a/x", "a%2Fb"]


def test_a_start_in_a_context_hangs_below_it() -> None:
    tree = ContextTree()
    above = tree.node_of_key(0, "r1")
    node = tree.declare_context(0, "r2", above, None)
    assert paths(tree) == ["r1", "r1/r2"]
    assert tree.node_of_key(0, "r2") == tree.node_of_key(0, "r1/r2") == node


def test_both_names_used_before_the_start_become_one_node() -> None:
    tree = ContextTree()
    alone, nested = tree.node_of_key(0, "r2"), tree.node_of_key(0, "r1/r2")
    for twin in ("r2/x", "r1/r2/x"):
        tree.node_of_key(0, twin)
    tree.count(alone, 1)
    tree.count(nested, 2)
    tree.declare_context(0, "r2", tree.node_of_key(0, "r1"), "Why")
    assert paths(tree) == ["r1", "r1/r2", "r1/r2/x"]
    assert tree.resolve(alone) == tree.node_of_key(0, "r2") == nested
    assert (tree.own[nested], tree.subtree[tree.node_of_key(0, "r1")], tree.label[nested]) == (3, 3, "Why")


def test_the_first_place_stays() -> None:
    tree = ContextTree()
    node = tree.declare_context(0, "r2", tree.node_of_key(0, "r1"), None)
    moves = tree.moves
    assert tree.declare_context(0, "r2", tree.node_of_key(0, "other"), None) == node
    assert (tree.path(node), tree.moves) == ("r1/r2", moves)


@pytest.mark.parametrize("above", ["r1", "r1/x", "r1/x/y"])
def test_nothing_hangs_below_itself(above: str) -> None:
    tree = ContextTree()
    node = tree.declare_context(0, "r1", tree.node_of_key(0, above), None)
    assert tree.depth(node) == 1


# Object contexts: identity is the id, the path is computed (docs/protocols.md 7)


def related(tree: ContextTree, identifier: str, above: str) -> str:
    node = tree.node_of_key(0, OBJECT_KEY + identifier)
    node = tree.place(node, tree.node_of_id(0, above))
    return tree.path(node)


def test_scan_why_job() -> None:
    tree = ContextTree()
    assert related(tree, "scan", "why") == "why/scan"
    assert [tree.implicit[node] for node in tree.walk(0)] == [True, False]
    assert related(tree, "why", "job") == "job/why"
    assert tree.path(tree.node_of_key(0, OBJECT_KEY + "scan")) == "job/why/scan"
    assert related(tree, "job", "scan") == "job"
    assert paths(tree) == ["job", "job/why", "job/why/scan"]


def test_ids_with_slashes_are_quoted() -> None:
    assert related(ContextTree(), "a/b", "c%d") == "c%25d/a%2Fb"


def test_string_and_object_forms_share_nodes() -> None:
    tree = ContextTree()
    related(tree, "scan", "why")
    assert tree.node_of_key(0, "scan") == tree.node_of_key(0, "why/scan") == tree.node_of_key(0, OBJECT_KEY + "scan")


def test_a_parent_named_by_nobody_else_stays() -> None:
    tree = ContextTree()
    tree.node_of_key(0, "p/q")
    tree.node_of_id(0, "p")
    tree.declare_context(0, "p/q", None, None)
    assert paths(tree) == ["p", "p%2Fq"]


# Size and damage


@pytest.fixture
def deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths become nodes however long they are: trees grow deep in other ways too."""
    monkeypatch.setattr(context_tree, "MAX_LEVELS", 1_000_000)


def test_the_rest_of_a_very_long_path_is_one_name() -> None:
    long = "/".join(f"s{number}" for number in range(1_500))
    tree = tree_of(long, long + "/more", f"s0/{long}")
    node = tree.node_of_key(0, long)
    assert (tree.depth(node), tree.name[node]) == (1_500, long[long.index("s999") :])
    assert tree.cut == {node, tree.node_of_key(0, long + "/more"), tree.node_of_key(0, f"s0/{long}")}
    assert len(tree) == 999 + 2 + 999
    shorter = tree_of("/".join("x" * 1_000))
    assert (len(shorter), shorter.cut) == (1_000, set())


@pytest.mark.sweep
def test_ten_million_characters_are_a_few_nodes() -> None:
    tree = tree_of("ab/" * 3_300_000, "/" * 10_000_000, "a" * 10_000_000)
    assert (len(tree), tree.node_of_key(0, "/" * 10_000_000)) == (1_001, MAIN)


@pytest.mark.usefixtures("deep")
def test_paths_may_be_as_deep_as_they_like() -> None:
    tree = tree_of("/".join("x" * 20_000), "/".join("x" * 20_001))
    assert tree.depth(tree.node_of_key(0, "/".join("x" * 20_001))) == 20_001
    assert len(tree.walk(0)) == 20_001


@pytest.mark.usefixtures("deep")
def test_twins_may_be_as_deep_as_they_like() -> None:
    deep = "/".join("x" * 5_000)
    tree = tree_of("r2/" + deep, "r1/r2/" + deep)
    tree.declare_context(0, "r2", tree.node_of_key(0, "r1"), None)
    assert len(tree.alive()) == 5_002


@pytest.mark.usefixtures("deep")
def test_many_starts_with_slashes_do_not_slow_long_paths() -> None:
    tree = ContextTree()
    for number in range(200):
        tree.declare_context(0, f"s/{number}", None, None)
    assert tree.depth(tree.node_of_key(0, "/".join("y" * 20_000))) == 20_000


def test_an_id_that_is_written_as_no_path_is() -> None:
    tree = ContextTree()
    started = tree.declare_context(0, "/r1/", None, None)
    assert tree.node_of_key(0, "/r1/") == started
    assert tree.node_of_key(0, "r1") != started


def test_a_chain_of_starts_is_as_cheap_as_it_is_long() -> None:
    tree, above = ContextTree(), MAIN
    steps: list[int] = []
    tree._is_below = lambda node, other: steps.append(node) is not None  # type: ignore[method-assign]
    for number in range(100):
        above = tree.declare_context(0, f"s{number}", above, None)
    assert (tree.depth(above), steps) == (100, [])


def test_cycles_of_nodes_with_children_are_refused() -> None:
    tree = tree_of("a/b/c", "d")
    node = tree.node_of_key(0, "a/b/c")
    assert tree.place(tree.node_of_key(0, "a"), node) == tree.node_of_key(0, "a")
    tree.place(tree.node_of_key(0, "a"), tree.node_of_key(0, "d"))
    tree.place(tree.node_of_key(0, "d"), node)
    assert paths(tree) == ["d", "d/a", "d/a/b", "d/a/b/c"]


def test_the_way_through_many_merges_is_walked_once() -> None:
    tree = tree_of("a")
    nodes = [tree.node_of_key(0, f"n{number}") for number in range(50)]
    for node, into in pairwise(nodes):
        tree._merge(node, into)
    assert tree.resolve(nodes[0]) == nodes[-1]
    assert tree.aliases[nodes[0]] == tree.aliases[nodes[25]] == nodes[-1]


@given(context_conversations, st.sampled_from((2, 1000)))
def test_the_tree_holds_together(lines: list[dict[str, object]], at_once: int) -> None:
    with contextlib.ExitStack() as batches:
        for module in (node_index, siblings, text_column):
            batches.enter_context(patch.object(module, "_WRITE_BATCH", at_once))
        contexts = document_of(*lines).analysis.contexts
    tree, alive = contexts.tree, contexts.tree.alive()
    assert sorted(node for space in set(tree.space) for node in tree.walk(space)) == alive
    held = contexts.nodes().tolist()
    for node in alive:
        assert tree.own[node] == held.count(node)
        assert tree.subtree[node] == tree.own[node] + sum(tree.subtree[child] for child in tree.children[node])
        assert all(tree.parent[child] == node for child in tree.children[node])
    assert len({(tree.space[node], tree.path(node)) for node in alive}) == len(alive)
    assert set(held) <= {MAIN, *alive}
    clean_up()
