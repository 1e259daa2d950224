"""Nodes found by owner and name, as a dict of pairs would find them."""

from __future__ import annotations

import tracemalloc
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts import node_index
from inspector.analysis.passes.contexts.node_index import NodeIndex

_STEPS = st.lists(
    st.tuples(st.sampled_from(("put", "remove", "move")), st.integers(0, 299), st.integers(0, 5)), max_size=400
)


@given(_STEPS, st.sampled_from((1, 3, 70, 1000)))
def test_it_finds_what_a_dict_of_pairs_finds(steps: list[tuple[str, int, int]], at_once: int) -> None:
    with patch.object(node_index, "_WRITE_BATCH", at_once):
        _compare(steps)


def _compare(steps: list[tuple[str, int, int]]) -> None:
    owners, names = [n % 7 for n in range(300)], [f"n{n % 11}" for n in range(300)]
    index, plain = NodeIndex(owners, names), dict[tuple[int, str], int]()
    for what, node, owner in steps:
        key = (owners[node], names[node])
        if what == "put":
            index.map_node(node, names[node])
            plain[key] = node
        else:
            index.remove(node)
            if plain.get(key) == node:
                del plain[key]
            owners[node] = owner if what == "move" else owners[node]
    for owner in range(8):
        for name in (f"n{n}" for n in range(12)):
            assert index.find(owner, name) == plain.get((owner, name), -1)
    pairs = [(owner, f"n{n}") for owner in range(8) for n in range(12)]
    # Equal hashes of 31 bits do not occur among these.
    assert index.may_have(pairs).tolist() == [pair in plain for pair in pairs]


@pytest.mark.sweep
def test_many_take_some_bytes_each() -> None:
    count = 50_000
    owners, names = [0] * count, [f"part-{n:x}" for n in range(count)]
    tracemalloc.start()
    try:
        index = NodeIndex(owners, names)
        for node in range(count):
            index.map_node(node, names[node])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * count
    assert all(index.find(0, names[node]) == node for node in range(0, count, 7))
