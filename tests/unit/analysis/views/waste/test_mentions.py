"""Who holds which key, against a plain dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.waste.mentions import MAX_OWNERS, WordIndex, word_keys

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=6)


@given(st.lists(WORDS, max_size=8), WORDS)
def test_it_agrees_with_a_dictionary(held: list[list[str]], asked: list[str]) -> None:
    index, plain = WordIndex(1_000), dict[str, list[int]]()
    for owner, words in enumerate(held):
        assert index.add(word_keys(words, 3), owner)
        for word in set(words):
            plain.setdefault(word, []).append(owner)
    index.finish()
    found = sorted(owners.tolist() for _, owners in index.owners(word_keys(asked, 3)))
    assert found == sorted(plain[word] for word in set(asked) if word in plain)
    assert index.owners(word_keys(asked, 4)) == []


def test_it_takes_in_only_so_much() -> None:
    index = WordIndex(2)
    assert index.add(word_keys("ab", 0), 0)
    assert not index.add(word_keys("c", 0), 1)
    assert not WordIndex(2).add(word_keys("c", 0), MAX_OWNERS)
    index.finish()
    assert index.owners(word_keys("abc", 0)) == index.owners(word_keys("ab", 0))
    assert np.concatenate([owners for _, owners in index.owners(word_keys("ab", 0))]).tolist() == [0, 0]
