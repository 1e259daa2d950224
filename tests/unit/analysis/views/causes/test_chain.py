"""Causal chains: causes to their roots, effects to their ends, answers beside their calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.analysis.views.causes.chain import may_change_chain
from inspector.analysis.views.causes.likely_links import likely_chain
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, clean_up, document_of, envelope, tool_call, tool_result

WIRE = Path(__file__).parents[4] / "data" / "captures" / "model-wire.jsonl"


def chain(document: CaptureDocument, number: int) -> list[tuple[int, str]]:
    """(No., relation) from 1."""
    return [(step.message + 1, step.relation) for step in document.chain(number - 1)]


def test_a_question_its_reasoning_and_its_answer() -> None:
    document = document_of(
        envelope(id="q", sender="human"),
        envelope("reasoning/start", {"message": "x"}, id="r", correlation_id=["q"]),
        envelope("reasoning/thought", {"message": "x"}, id="t", context="r"),
        envelope(id="other"),
        envelope("reasoning/conclusion", {}, id="c", context="r"),
        envelope(id="a", correlation_id=["q"]),
    )
    assert chain(document, 1) == [(1, "said"), (2, "started"), (6, "said")]
    assert chain(document, 3) == [(1, "said"), (2, "started"), (3, "thought")]
    assert chain(document, 4) == [(4, "said")]
    assert chain(document, 5) == [(1, "said"), (2, "started"), (5, "concluded")]


def test_a_proposal_to_its_answer() -> None:
    call = {"method": "tools/call", "params": {"name": "write_file"}}
    document = document_of(
        envelope("mcp/proposal", call, id="p", sender="coder"),
        envelope("mcp/reject", {}, sender="files", correlation_id=["p"]),
        envelope("mcp/request", call, id="f", sender="lead", to=["files"], correlation_id=["p"]),
        envelope("mcp/response", {"result": {}}, sender="files", correlation_id=["f"]),
    )
    whole = [(1, "proposed"), (2, "rejected"), (3, "fulfilled by lead"), (4, "answered")]
    assert [chain(document, number) for number in (1, 3, 4)] == [whole] * 3


def test_a_transient_result_s_life() -> None:
    hint = {"tool": "search", "lifecycle": "transient", "consumedBy": "store"}
    asks = [tool_call(tool, id=tool) for tool in ("workflow", "search", "store")]
    metas: list[Any] = [
        {"contextHints": [hint]},
        {"context": {"lifecycle": "transient"}},
        {"context": {"consumed": True}},
    ]
    lines = [line for ask, meta in zip(asks, metas, strict=True) for line in (ask, tool_result(ask, meta=meta))]
    document = document_of(*lines)
    whole = [(1, "asked"), (2, "hinted"), (3, "asked"), (4, "collapsed"), (5, "asked"), (6, "consumed")]
    assert chain(document, 4) == whole
    assert chain(document, 6) == whole
    assert chain(document, 5) == whole, "the request that consumed says what it consumed"
    assert chain(document, 3) == whole
    assert chain(document, 2) == [(1, "asked"), (2, "hinted")]


def test_the_chain_of_a_waiting_request_grows_by_what_its_answer_consumes() -> None:
    hint = {"tool": "search", "lifecycle": "transient", "consumedBy": "store"}
    search, store = tool_call("search"), tool_call("store")
    growing = GrowingLog()
    growing.write(
        search, tool_result(search, meta={"contextHints": [hint], "context": {"lifecycle": "transient"}}), store
    )
    assert chain(growing.document, 3) == [(3, "asked")]
    (changes,) = growing.write(tool_result(store, meta={"context": {"consumed": True}}))
    assert may_change_chain(growing.document.analysis, 2, {2}, changes)
    assert [number for number, _ in chain(growing.document, 3)] == [1, 2, 3, 4]


def test_deltas_count_from_the_message_itself() -> None:
    document = document_of(
        tool_call("grep", id="q", ts="2026-01-05T09:00:00.000Z"),
        envelope("mcp/response", {"result": {}}, correlation_id=["q"], ts="2026-01-05T09:00:00.412Z"),
        envelope("mcp/response", {"result": {}}, correlation_id=["q"], ts=None),
    )
    assert [step.delta_ns for step in document.chain(0)] == [0, 412_000_000, None]
    assert [step.delta_ns for step in document.chain(1)] == [-412_000_000, 0, None]
    assert [step.delta_ns for step in document.chain(2)] == [None, None, None]


def test_a_ring_ends() -> None:
    document = document_of(envelope(id="a", correlation_id=["b"]), envelope(id="b", correlation_id=["a"]))
    assert chain(document, 1) == [(1, "said"), (2, "said")]


def test_long_chains_keep_their_nearest_links() -> None:
    lines = [envelope(id="m0"), *(envelope(id=f"m{n}", correlation_id=[f"m{n - 1}"]) for n in range(1, 300))]
    steps = chain(document_of(*lines), 150)
    assert len(steps) == 64
    assert (150, "said") in steps


def test_a_result_that_is_sent_again_with_each_request_answers_once() -> None:
    document = CaptureDocument()
    document.load(WIRE)
    assert chain(document, 7) == [(7, "asked"), (13, "answered"), (40, "answered")], "the client cleared it in No. 40"
    assert chain(document, 16) == [(16, "asked"), (24, "failed"), (25, "asked"), (33, "answered")], "asked twice"
    assert chain(document, 40) == chain(document, 7)
    assert [step.message + 1 for step in likely_chain(document.analysis, 6).steps] == [7, 13, 40]
    document.close()


def test_words_for_the_odd_ones() -> None:
    document = document_of({"kind": "never/heard-of"}, "{torn", {"kind": "chat/cancel"})
    assert [chain(document, number) for number in (1, 2, 3)] == [
        [(1, "heard-of")],
        [(2, "unreadable")],
        [(3, "cancel")],
    ]


CALL = {"method": "tools/call", "params": {"name": "grep"}}
KINDS = ("chat", "reasoning/start", "reasoning/thought", "mcp/proposal", "mcp/request", "mcp/response", "mcp/reject")
ONE = st.tuples(st.sampled_from(KINDS), st.integers(0, 5), st.none() | st.integers(0, 5), st.none() | st.integers(0, 5))


# A call in the context of a reasoning that a message of the chain began.
@example([[("chat", 0, None, None)], [("reasoning/start", 3, 0, None)], [("mcp/proposal", 0, None, 3)]], 0)
@given(st.lists(st.lists(ONE, min_size=1, max_size=3), min_size=2, max_size=4), st.integers(0, 3))
def test_what_cannot_have_changed_a_chain_has_not(
    batches: list[list[tuple[str, int, int | None, int | None]]], which: int
) -> None:
    log = GrowingLog()
    known: set[int] | None = None
    try:
        for batch in batches:
            lines = [
                envelope(kind, CALL, id=f"i{own}", correlation_id=None if named is None else [f"i{named}"],
                         context=None if inside is None else f"i{inside}")
                for kind, own, named, inside in batch
            ]  # fmt: skip
            for changes in log.write(*lines):
                row = min(which, len(log.document.capture) - 1)
                now = {step.message for step in log.document.chain(row)}
                if (
                    known is not None
                    and row == which
                    and not may_change_chain(log.document.analysis, row, known, changes)
                ):
                    assert now == known
                known = now if row == which else None
    finally:
        clean_up()
