"""Texts looked for in the names of all contexts are those that stand in their displayed paths."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts import path_search
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.node_columns import LeafTable, PathTable, RootTable
from inspector.protocol import context_paths

LETTERS = st.text("aAß/%…1\u017f\u212a\ud83d", max_size=5)
OPERATIONS = st.lists(st.tuples(st.sampled_from(("key", "id", "declare")), LETTERS, LETTERS), max_size=12)


def tree_of(operations: list[tuple[str, str, str]]) -> ContextTree:
    tree = ContextTree()
    for what, name, above in operations:
        if what == "key":
            tree.node_of_key(0, name)
        elif what == "id" and name:
            tree.node_of_id(0, name)
        elif name:
            tree.declare_context(0, name, tree.node_of_key(0, above) if above else None, None)
    return tree


@given(OPERATIONS, st.lists(LETTERS, min_size=1, max_size=3), st.sampled_from((2, 4, 32)))
def test_it_is_told_from_names_what_the_paths_say(
    operations: list[tuple[str, str, str]], texts: list[str], levels: int
) -> None:
    shortened = patch.object(context_paths, "MAX_SEGMENT_LENGTH", 4), patch.object(path_search, "MAX_SEGMENT_LENGTH", 4)
    cut = (
        patch("inspector.analysis.passes.contexts.context_tree.MAX_SHOWN_LEVELS", levels),
        patch.object(path_search, "MAX_SHOWN_LEVELS", levels),
    )
    with (
        shortened[0],
        shortened[1],
        cut[0],
        cut[1],
        patch("inspector.analysis.passes.contexts.context_tree.LAST_SHOWN", 1),
    ):
        tree = tree_of(operations)
        search = PathTable(tree).search()
        for text in (text.casefold() for text in texts):
            begin, hold = search.with_prefix(text).tolist(), search.holding(text).tolist()
            for node in tree.alive():
                path = tree.path(node).casefold()
                if len(tree.ancestry(node)) > levels:  # a cut path may be among them, and must be where it holds it
                    assert begin[node] >= path.startswith(text)
                    assert hold[node] >= (text in path)
                else:
                    assert (begin[node], hold[node]) == (path.startswith(text), text in path)


@given(OPERATIONS)
def test_names_made_together_are_those_made_alone(operations: list[tuple[str, str, str]]) -> None:
    tree = tree_of(operations)
    roots = RootTable(tree, lambda node: int(tree.lines.roots[node]))
    for table in (LeafTable(tree), roots):
        texts = table.texts()
        assert len(texts) == len(table)
        assert [texts[node + 1] for node in (MAIN, *tree.alive())] == [
            table[node + 1] for node in (MAIN, *tree.alive())
        ]
