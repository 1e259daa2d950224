"""Numbers of context keys, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_keys import UNKNOWN, ContextNumbers
from inspector.analysis.passes.contexts.node_facts import MAIN

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1, 2, 3, 5_000])), max_size=30)


@given(PAIRS, PAIRS)
def test_pairs_are_numbered_once(added: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    refs, plain = ContextNumbers(), dict[tuple[int, int], int]()
    for pair in added:
        if refs.find(*pair) == UNKNOWN:
            plain[pair] = refs.add(*pair, node=10 * len(plain))
    asked = [*asked, (0, 0), (1, 9_000)]
    found = refs.find_all(np.array([space for space, _ in asked]), np.array([key for _, key in asked]))
    assert found.tolist() == [plain.get(pair, UNKNOWN) if pair[1] else 0 for pair in asked]
    assert sorted(plain.values()) == list(range(1, len(plain) + 1))
    assert [refs.node(ref) for ref in plain.values()] == [10 * place for place in range(len(plain))]


def test_nodes_are_followed() -> None:
    refs = ContextNumbers()
    here = [refs.add(0, 7, 1), refs.add(1, 7, 0)]
    refs.follow(np.array([0, 0, MAIN], np.int32))
    assert refs.nodes(np.array([0, *here])).tolist() == [MAIN, 0, 0]
