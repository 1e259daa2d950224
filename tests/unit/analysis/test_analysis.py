"""Feeding in any batches gives the same as feeding at once, and every change of an earlier message is reported."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters.field import Depends
from inspector.filters.fields import FIELDS
from tests.builders import GrowingLog, clean_up, document_of, tool_call, tool_result
from tests.pictures import columns_of, message_picture, picture
from tests.strategies import context_conversations, conversations, gateway_logs, rpc_conversations, share_of_examples

traffic = st.one_of(conversations, context_conversations, rpc_conversations, gateway_logs())
batches = st.integers(1, 5)


@given(traffic, batches)
def test_any_batches_give_the_same(lines: list[dict[str, Any]], size: int) -> None:
    log = GrowingLog()
    for place in range(0, len(lines), size):
        log.write(*lines[place : place + size])
    assert picture(log.end()) == picture(document_of(*lines))
    clean_up()


@share_of_examples(2)
@given(traffic, batches)
def test_what_changes_is_reported(lines: list[dict[str, Any]], size: int) -> None:
    """A value of an earlier message differs: the message is among the changed ones, or it is the tree that moved."""
    log = GrowingLog()
    before: list[dict[str, Any]] = []
    for place in range(0, len(lines), size):
        told = log.write(*lines[place : place + size])
        changed = {row for changes in told for row in changes.changed.tolist()}
        moved = any(changes.tree_moved for changes in told)
        now = values(log.document)
        for row, (old, new) in enumerate(zip(before, now, strict=False)):
            different = {name for name in old if old[name] != new[name]}
            assert not {name for name in different if DEPENDS[name] is Depends.FIXED}
            assert row in changed or not {name for name in different if DEPENDS[name] is Depends.PASS}
            assert moved or not {name for name in different if DEPENDS[name] is Depends.TREE}
        before = now
    clean_up()


DEPENDS = {field.name: field.depends for field in FIELDS} | {"call": Depends.PASS}


def values(document: CaptureDocument) -> list[dict[str, Any]]:
    columns = columns_of(document)
    rows = (message_picture(document, message, columns) for message in range(len(document.capture)))
    return [{name: row[name] for name in DEPENDS if name in row} for row in rows]


def test_what_a_feed_did() -> None:
    log = GrowingLog()
    request = tool_call("grep")
    (changes,) = log.write(request)
    assert (changes.start, changes.stop, changes.changed.tolist(), changes.tree_moved) == (0, 1, [], False)
    (changes,) = log.write(tool_result(request))
    assert (changes.start, changes.stop, changes.changed.tolist(), changes.tree_moved) == (1, 2, [0], False)
    assert log.write() == []
    assert len(log.document.analysis) == 2
