"""Tokens by message and added up: every way of adding gives the same, whoever counted them and in whatever order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED, TokenPass
from inspector.base.slices import run_step
from inspector.document.document import CaptureDocument
from inspector.document.token_summary import collapse_savings, tokens_of
from inspector.filters.fields import FIELD_BY_NAME
from inspector.tokens.counter import count_tokens
from tests.builders import GrowingLog, clean_up, document_of, envelope, received, tool_call, tool_result
from tests.strategies import conversations

HINTS = [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]


def counted(*lines: Any) -> CaptureDocument:
    document = document_of(*lines)
    document.count_tokens()
    return document


def assert_sums_agree(document: CaptureDocument) -> None:
    tokens, contexts = document.analysis.tokens, document.analysis.contexts
    column = tokens.columns["tokens"]
    known = column[column != NOT_COUNTED]
    sums = tokens.all_sums()
    assert sums.total == int(known.sum()) == tokens.total
    assert sums.uncounted == len(column) - len(known)
    for table in (sums.by_participant, sums.by_sender, sums.by_tool, sums.by_kind):
        assert sum(table.values()) == sums.total
    roots = [node for space in contexts.spaces for node in contexts.tree.roots.each(space)]
    own, subtree = sums.by_node.own, sums.by_node.subtree
    assert sum(sums.by_node.main.values()) == own[MAIN]
    assert own[MAIN] + sum(int(subtree[node]) for node in roots) == sums.total == subtree[MAIN]
    nodes = contexts.nodes()
    for node in contexts.tree.alive():
        below = [child for child in contexts.tree.alive() if node in contexts.tree.ancestry(child)]
        assert own[node] == column[(nodes == node) & (column != NOT_COUNTED)].sum()
        assert subtree[node] == sum(int(own[child]) for child in below)


@given(conversations, st.data())
def test_sums_agree_whatever_is_counted(lines: list[Any], data: st.DataObject) -> None:
    document = document_of(*lines)
    tokens = document.analysis.tokens
    assert_sums_agree(document)
    rows = st.integers(0, max(0, len(document.capture) - 1))
    some = data.draw(st.lists(rows, max_size=4 if len(document.capture) else 0))
    tokens.count_now(some)
    assert_sums_agree(document)
    document.count_tokens()
    assert tokens.done
    assert_sums_agree(document)
    clean_up()


@given(conversations, st.integers(1, 7))
def test_sums_agree_in_any_batching(lines: list[Any], size: int) -> None:
    log = GrowingLog()
    for start in range(0, len(lines), size):
        log.write(*lines[start : start + size])
        run_step(log.document.analysis.tokens.count_in_process())
        assert_sums_agree(log.document)
    log.document.count_tokens()
    assert_sums_agree(log.document)
    whole = counted(*lines)
    assert log.document.analysis.tokens.columns["tokens"].tolist() == whole.analysis.tokens.columns["tokens"].tolist()
    clean_up()


def test_nothing_is_counted_before_it_is_asked_for() -> None:
    document = document_of(envelope("chat", {"text": "Hello"}))
    tokens = document.analysis.tokens
    assert (tokens.counted, tokens.done, tokens.uncounted) == (0, False, 1)
    assert FIELD_BY_NAME["tokens"].value(document.analysis, 0) is None
    assert tokens.columns["tokens"].strides == (0,)  # takes no memory


def test_counting_tells_which_messages_changed() -> None:
    log = GrowingLog()
    log.write(envelope("chat", {"text": "Hello"}), envelope("chat", {"text": "Hello world"}))
    log.document.count_tokens()
    changes = log._told[-1]
    assert (changes.start, changes.stop, changes.changed.tolist(), changes.tree_moved) == (2, 2, [0, 1], False)
    assert log.document.analysis.tokens.columns["tokens"].tolist() == [1, 2]
    log.write(envelope("chat", {"text": "Bye"}))
    assert not log.document.analysis.tokens.done


def test_an_empty_capture_is_done() -> None:
    assert CaptureDocument().analysis.tokens.done


def test_tools_and_collapsing() -> None:
    search = tool_call("search", arguments={"page": 1})
    long = "record " * 100
    found = tool_result(search, long, meta={
        "contextHints": HINTS, "context": {"lifecycle": "transient", "summary": "100 records"},
    })  # fmt: skip
    store = tool_call("store")
    stored = tool_result(store, "Stored", meta={"context": {"consumed": True}})
    document = counted(search, found, store, stored, envelope("chat", {"text": "Done"}))
    analysis = document.analysis
    assert analysis.tokens.summary_tokens(1) == count_tokens("100 records")
    assert analysis.tokens.columns["summary"].tolist() == [NOT_COUNTED, count_tokens("100 records"), *[NOT_COUNTED] * 3]
    assert analysis.tokens.summary_tokens(1) == count_tokens("100 records")  # kept, not read again
    assert analysis.tokens.summary_tokens(0) is None
    saved = collapse_savings(analysis)
    assert (saved.results, saved.before, saved.after) == (1, count_tokens(long), 2)
    story = tokens_of(document)
    assert story["tools"]["search"] == count_tokens('search {"page":1}') + count_tokens(long)
    assert story["without_collapsing"] - story["with_collapsing"] == saved.saved
    assert story["tokenizer"] == "cl100k_base"


def test_wanted_messages_come_first() -> None:
    document = document_of(*(envelope("chat", {"text": str(n)}) for n in range(50)))
    tokens = document.analysis.tokens
    tokens.prioritize([40, 7])
    assert tokens.next_batch(8).tolist() == [7, 40]
    assert tokens.next_batch(8).tolist() == list(range(8))


def test_batches_are_of_one_source_and_given_once() -> None:
    document = document_of(*(envelope("chat", {"text": "x" * 60_000}) for _ in range(12)))
    tokens = document.analysis.tokens
    batches: list[list[int]] = []
    lengths = document.capture.columns["length"].astype(int)
    assert tokens.bytes_left == lengths.sum()
    while len(rows := tokens.next_batch()):
        batches.append(rows.tolist())
        assert tokens.bytes_left == lengths[batches[-1][-1] + 1 :].sum()
    assert len(batches) > 1
    assert [row for batch in batches for row in batch] == list(range(12))
    assert not tokens.done  # given out, not brought back
    tokens.give_back(np.array(batches[0]))
    assert tokens.next_batch().tolist() == batches[0]


def test_what_cannot_be_read_is_left_and_counting_ends() -> None:
    document = document_of(envelope("chat", {"text": "Hello"}), envelope("chat", {"text": "world"}))
    path = document.path
    assert path is not None
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 20)
    document.count_tokens()
    tokens: TokenPass = document.analysis.tokens
    assert tokens.columns["tokens"].tolist() == [1, NOT_COUNTED]
    assert tokens.done
    assert tokens.all_sums().uncounted == 1


def test_main_of_each_space() -> None:
    document = counted(
        received(envelope("chat", {"text": "one two"})), received(envelope("chat", {"text": "three"}), space_id="other")
    )
    names = {document.capture.strings[space]: n for space, n in document.analysis.tokens.node_sums().main.items()}
    assert names == {"demo": 2, "other": 1}
    assert math.isfinite(document.analysis.tokens.all_sums().total)
