"""Changes of the core on their way to the views: coalesced, held back while paused, complete."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis import Changes
from inspector.document import CaptureDocument
from inspector.ui.bridge import DocumentBridge


def changes(start: int, stop: int, *changed: int, moved: bool = False) -> Changes:
    return Changes(start, stop, np.array(changed, np.int64), moved)


@pytest.fixture
def bridge(qapp: QApplication) -> Iterator[DocumentBridge]:
    made = DocumentBridge(CaptureDocument())
    yield made
    made.detach()


def heard(bridge: DocumentBridge) -> list[Changes]:
    got: list[Changes] = []
    bridge.flushed.connect(got.append)
    return got


def test_changes_in_quick_succession_come_as_one(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    bridge.messages_changed(changes(10, 12, 3))
    bridge.messages_changed(changes(12, 15, 3, 11, 7, moved=True))
    assert got == []
    qtbot.waitUntil(lambda: bool(got), timeout=2_000)
    assert len(got) == 1
    assert (got[0].start, got[0].stop, got[0].tree_moved) == (10, 15, True)
    assert got[0].changed.tolist() == [3, 7], "what is new anyway is not said to have changed"


def test_paused_it_holds_everything_back_and_then_lets_it_through(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    bridge.set_paused(True)
    bridge.messages_changed(changes(0, 5))
    bridge.messages_changed(changes(5, 9))
    qtbot.wait(80)
    assert (got, bridge.waiting, bridge.paused) == ([], 9, True)
    bridge.set_paused(False)
    assert [(c.start, c.stop) for c in got] == [(0, 9)]
    assert bridge.waiting == 0


def test_detached_it_says_nothing_more(qapp: QApplication) -> None:
    document = CaptureDocument()
    bridge = DocumentBridge(document)
    bridge.detach()
    assert document.observers == []
    bridge.flush()


@given(sizes=st.lists(st.integers(0, 20), min_size=1, max_size=20), flushes=st.sets(st.integers(0, 20)))
def test_whenever_it_flushes_every_message_comes_once_and_in_order(sizes: list[int], flushes: set[int]) -> None:
    bridge = DocumentBridge(CaptureDocument())
    got, total = heard(bridge), 0
    for place, size in enumerate(sizes):
        bridge.messages_changed(changes(total, total + size))
        total += size
        if place in flushes:
            bridge.flush()
    bridge.flush()
    bridge.detach()
    assert [m for c in got for m in range(c.start, c.stop)] == list(range(total))
