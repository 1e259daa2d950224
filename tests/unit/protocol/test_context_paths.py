"""The tables of docs/protocols.md 6: operations on context paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol import context_paths


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("a", "a"), ("a/b", "a/b"), ("/a/", "a"), ("a//b", "a/b"), ("/", ""), ("", ""), ("///", ""), (" ", " "),
        ("a/ /b", "a/ /b"), ("a" * 300, "a" * 300),
    ],
)  # fmt: skip
def test_normalises(written: str, normal: str) -> None:
    assert context_paths.normalise(written) == normal


@pytest.mark.parametrize(("path", "root"), [("a/b/c", "a"), ("a", "a")])
def test_root(path: str, root: str) -> None:
    assert context_paths.root_segment(path) == root


@pytest.mark.parametrize(("path", "parent"), [("a/b/c", "a/b"), ("a", None)])
def test_parent(path: str, parent: str | None) -> None:
    assert context_paths.parent_path(path) == parent


@pytest.mark.parametrize(("path", "depth"), [("a/b/c", 3), ("a", 1)])
def test_depth(path: str, depth: int) -> None:
    assert context_paths.path_depth(path) == depth


@pytest.mark.parametrize(
    ("path", "other", "holds"),
    [("a", "a/b/c", True), ("a", "a", False), ("a", "ab/c", False), ("a/b", "a/bc", False), ("a/b", "a", False)],
)
def test_ancestor(path: str, other: str, holds: bool) -> None:
    assert context_paths.is_ancestor(path, other) is holds


@pytest.mark.parametrize(("other", "holds"), [("a", True), ("a/b", True), ("a/b/c", True), ("ab", False)])
def test_tree_of_a(other: str, holds: bool) -> None:
    assert context_paths.is_under("a", other) is holds


@pytest.mark.parametrize(("other", "holds"), [("a/b", True), ("a/b/c", False), ("a/d", True), ("a", False)])
def test_direct_children_of_a(other: str, holds: bool) -> None:
    assert context_paths.is_child("a", other) is holds


@given(st.lists(st.text(max_size=6)))
def test_quoted_ids_are_one_segment_each_and_differ(ids: list[str]) -> None:
    quoted = [context_paths.quote_segment(identifier) for identifier in ids]
    assert all("/" not in segment for segment in quoted)
    assert len(set(quoted)) == len(set(ids))
