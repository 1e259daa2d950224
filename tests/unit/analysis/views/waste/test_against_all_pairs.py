"""Results nobody referred to, against a version that looks at every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.waste import WasteFinder, WasteKind
from inspector.base.slices import run_to_end
from tests.builders import document_of, envelope
from tests.waste import asked

WORDS = ("mem-101", "mem-202", "mem-303", "mem-404")
STEPS = st.lists(
    st.tuples(st.sampled_from(["lead", "coder"]), st.booleans(), st.integers(0, 3)), max_size=12
)  # fmt: skip
"""Who does what: fetch a result that holds one of the words, or say the word."""


def plainly(steps: list[tuple[str, bool, int]]) -> list[int]:
    """Places of results whose word their asker did not say later, although it went on."""
    found: list[int] = []
    for place, (who, fetches, word) in enumerate(steps):
        later = [step for step in steps[place + 1 :] if step[0] == who]
        holders = sum(1 for step in steps if step[:2] == (who, True) and step[2] == word)
        said = any(not step[1] and step[2] == word for step in later)
        if fetches and later and not (said and holders < 3):
            found.append(place)
    return found


@given(STEPS)
def test_what_nobody_refers_to_agrees_with_a_plain_version(steps: list[tuple[str, bool, int]]) -> None:
    lines: list[dict[str, Any]] = []
    step_of: dict[int, int] = {}
    for place, (who, fetches, word) in enumerate(steps):
        if fetches:
            step_of[len(lines) + 1] = place
            lines += asked("read_file", f"{WORDS[word]} " * 80, {"step": chr(97 + place)}, sender=who)
        else:
            lines.append(envelope("chat", {"text": f"I mean {WORDS[word]}."}, sender=who))
    document = document_of(*lines)
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    found = run_to_end(WasteFinder(document.analysis).search())
    silent = [step_of[one.message] for one in found.wastes if one.kind is WasteKind.UNREFERRED]
    assert sorted(silent) == plainly(steps)
