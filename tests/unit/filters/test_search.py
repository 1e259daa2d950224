"""Filters on their way to being in force: what must be decoded is decoded in slices, while traffic comes."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters import batch_size, compile_filter
from inspector.filters import compile as compiling
from inspector.filters.search import Search
from inspector.filters.visible import Scope, VisibleRows
from inspector.store.messages.payload_values import PayloadValues
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.strategies import share_of_examples, traffic
from tests.unit.filters.test_visible import FILTERS, slow_decoding


def search(document: CaptureDocument, text: str, scope: Scope | None = None) -> Search:
    return Search(VisibleRows(document.analysis), compile_filter(text), scope)


def test_what_decodes_nothing_is_done_at_once() -> None:
    found = search(document_of(*[envelope()] * 5), "kind == chat")
    assert found.step()
    assert found.result().tolist() == [0, 1, 2, 3, 4]


def test_it_says_how_far_it_is_and_what_it_found() -> None:
    document = document_of(*(envelope("chat", {"n": n % 2}) for n in range(10)))
    found = search(document, "payload.n == 1")
    with slow_decoding():
        steps = []
        while not found.step():
            steps.append((round(found.fraction, 1), found.found))
    assert steps[0] == (0.1, 0)
    assert steps[-1] == (0.9, 4)
    assert found.result().tolist() == [1, 3, 5, 7, 9]


def test_each_record_is_decoded_once() -> None:
    document = document_of(*(envelope("chat", {"n": n}) for n in range(40)))
    rows, filter_ = VisibleRows(document.analysis), compile_filter("payload.n > 5 && payload.n < 9")
    found = Search(rows, filter_, None)
    with patch.object(PayloadValues, "read_batches", autospec=True, side_effect=PayloadValues.read_batches) as read:
        while not found.step():
            pass
        rows.apply_filter(filter_, None, found.result(), found.answers)
        rows.apply_filter(filter_, None)
    assert rows.visible.tolist() == [6, 7, 8]
    decoded = sum(len(call.args[2]) for call in read.call_args_list)
    assert decoded == 40 + 34  # the second term sees what the first let through


def test_an_id_is_found_without_decoding_the_others() -> None:
    document = document_of(*(envelope(id=f"m{n}") for n in range(200)), envelope(id=None), envelope(id=7))
    with patch.object(document.capture.records, "read_record", wraps=document.capture.records.read_record) as record:
        for text, shown in (('id == "m7"', [7]), ('id in {"m3", "m5", nobody}', [3, 5]), ('id == "local-201"', [200])):
            assert search(document, text).result().tolist() == shown
    assert record.call_count <= 10
    assert search(document, 'id == "7"').result().tolist() == [201]


def test_a_step_is_short() -> None:
    document = document_of(*(envelope("chat", {"text": "x" * 100}) for _ in range(3000)))
    found = search(document, '"nowhere" || payload.text contains "y"')
    turns = 0
    with patch.object(batch_size, "_MAX_SIZE", 64), patch.object(compiling, "BLOCK_S", 0.0):
        while not found.step():
            turns += 1
    assert turns > 2
    assert found.result().tolist() == []


@share_of_examples(3)
@given(traffic(), st.sampled_from(FILTERS), st.integers(-1, 3), st.integers(1, 5), st.integers(0, 4))
def test_traffic_meanwhile_changes_nothing_about_the_result(
    lines: list[dict[str, Any]], text: str, node: int, size: int, steps: int
) -> None:
    log = GrowingLog()
    log.write(*lines[:size])
    tree = log.document.analysis.contexts.tree
    scope = Scope(tree.space[node], node) if 0 <= node < len(tree) else None
    found = search(log.document, text, scope)
    with slow_decoding():
        for place in range(size, len(lines), size):
            for _ in range(steps):
                found.step()
            for changes in log.write(*lines[place : place + size]):
                found.on_changes(changes)
        for _ in range(20 * len(lines) + 20):
            if found.step():
                break
    rows = VisibleRows(log.document.analysis)
    with patch.object(compiling, "_CHUNK", 1 << 16):
        assert found.result().tolist() == rows.evaluate(compile_filter(text), scope).tolist()
    clean_up()
