"""The words at the end of a row."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.present.message_row import row_content
from inspector.present.row_state import took_ns
from inspector.present.states import QUIET_COLOR
from tests.builders import document_of, envelope
from tests.findings import answer, ask, at, fulfil, gateway, later, propose
from tests.unit.analysis.passes.calls.test_departed_waits import moved

ERROR = {"error": {"code": -1, "message": "no"}}
REFUSED = gateway("system/error", {"error": "capability_violation"}, correlation_id=["q1"])
REJECT = envelope("mcp/reject", {"reason": "unsafe\nreally"}, sender="files", correlation_id=["p1"])


@pytest.mark.parametrize(
    ("lines", "word", "short", "quiet"),
    [
        ([ask(), answer(ts=at(0.034))], "answered in 34 ms", "34 ms", True),
        ([ask(), answer(ts=None)], "answered", "answered", True),
        ([ask(), answer(ts=at(0.034), payload=ERROR)], "failed in 34 ms", "failed", False),
        ([ask(), REFUSED], "failed (refused)", "failed", False),
        ([ask(), later(16)], "unanswered", "unanswered", False),
        ([ask(), moved("lead", ts=at(1)), later(16)], "cancelled (asker left)", "asker left", True),
        ([ask()], "waiting", "waiting", False),
        ([propose()], "waiting", "waiting", False),
        ([propose(), fulfil()], "fulfilled by human", "fulfilled", True),
        ([propose(), REJECT], "rejected (unsafe really)", "rejected", False),
        ([propose(), {**REJECT, "payload": {"reason": 5}}], "rejected", "rejected", False),
        ([envelope("reasoning/start", {"input": "why"})], "running", "running", False),
    ],
)
def test_words(lines: list[Any], word: str, short: str, quiet: bool) -> None:
    state = row_content(document_of(*lines), 0).state
    assert state is not None
    assert (state.word, state.short, state.token == QUIET_COLOR) == (word, short, quiet)


def test_what_has_no_state_says_nothing() -> None:
    document = document_of(ask(), answer(ts=at(0.5)))
    assert row_content(document, 1).state is None
    assert (took_ns(document, 0), took_ns(document, 1)) == (500_000_000, None)


def test_a_secret_in_a_reason_is_masked() -> None:
    token = "ghp_" + "a1B2" * 9
    state = row_content(document_of(propose(), {**REJECT, "payload": {"reason": f"uses {token}"}}), 0).state
    assert state is not None
    assert token not in state.word
