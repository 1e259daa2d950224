"""What of a text tells it from others."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.waste.distinctive_words import (
    PASSAGE_WORDS,
    distinctive_words,
    flatten_json,
    passage_hashes,
)


def test_ids_names_numbers_and_paths_tell_a_lot_longer_words_a_little() -> None:
    strong, weak = distinctive_words(
        "Visit 17 of Mertens & Sons (id mem-204, 1,024 bytes) see /srv/a.md; the evening, ok"
    )
    assert strong == {"visit", "mertens", "sons", "mem-204", "204", "024", "srv/a.md"}
    assert weak == {"1", "17", "evening"}


def test_json_inside_of_a_text_is_taken_apart() -> None:
    inner = json.dumps({"name": "Mertens", "rows": [1, {"deep": None}], "ok": True})
    assert flatten_json({"text": inner}, keys=False) == "Mertens 1"
    assert flatten_json({"text": inner}, keys=True) == "text name Mertens rows 1 deep ok"
    assert flatten_json("{broken", keys=True) == "{broken"


@given(st.lists(st.sampled_from("abcdefgh"), max_size=80), st.integers(0, 20), st.integers(0, 20))
def test_a_passage_is_found_wherever_it_stands(words: list[str], before: int, after: int) -> None:
    inside, _ = passage_hashes(" ".join(words))
    around, count = passage_hashes(f"{'x ' * before}{', '.join(words)}{' y' * after}")
    assert count == before + len(words) + after
    assert set(inside.tolist()) <= set(around.tolist())


def test_passages_of_other_texts_are_others() -> None:
    one, _ = passage_hashes(" ".join(str(number) for number in range(400)))
    other, _ = passage_hashes(" ".join(str(number) for number in range(400, 800)))
    assert len(one) > 50
    assert not np.isin(one, other).any()
    assert len(passage_hashes("a " * (PASSAGE_WORDS - 1))[0]) == 0
