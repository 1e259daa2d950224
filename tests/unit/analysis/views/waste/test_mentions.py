"""Who holds which key, against a plain dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.waste.mentions import MOST_OWNERS, Index, keys_of

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=6)


@given(st.lists(WORDS, max_size=8), WORDS)
def test_it_agrees_with_a_dictionary(held: list[list[str]], asked: list[str]) -> None:
    index, plain = Index(1_000), dict[str, list[int]]()
    for owner, words in enumerate(held):
        assert index.add(keys_of(words, 3), owner)
        for word in set(words):
            plain.setdefault(word, []).append(owner)
    index.finish()
    found = sorted(owners.tolist() for _, owners in index.owners(keys_of(asked, 3)))
    assert found == sorted(plain[word] for word in set(asked) if word in plain)
    assert index.owners(keys_of(asked, 4)) == []


def test_it_takes_in_only_so_much() -> None:
    index = Index(2)
    assert index.add(keys_of("ab", 0), 0)
    assert not index.add(keys_of("c", 0), 1)
    assert not Index(2).add(keys_of("c", 0), MOST_OWNERS)
    index.finish()
    assert index.owners(keys_of("abc", 0)) == index.owners(keys_of("ab", 0))
    assert np.concatenate([owners for _, owners in index.owners(keys_of("ab", 0))]).tolist() == [0, 0]
