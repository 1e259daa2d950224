"""Changes of the core on their way to the views: coalesced, held back while paused, complete."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.engine.update import Update
from inspector.ui.docview import document_bridge as bridge_module
from inspector.ui.docview.document_bridge import DocumentBridge
from tests.ui.find import child
from tests.ui.local_client import LocalClient


def changes(start: int, stop: int, *changed: int, moved: bool = False) -> Update:
    return Update(0, 0, start, stop, np.array(changed, np.int64), moved)


def make_bridge() -> DocumentBridge:
    """A bridge whose client belongs to it."""
    client = LocalClient.with_document(CaptureDocument(), QApplication.instance() or QObject())
    made = DocumentBridge(client)
    client.setParent(made)
    return made


def tell(bridge: DocumentBridge, update: Update) -> None:
    """A change that the engine reports."""
    child(bridge, LocalClient).updated.emit(update)


@pytest.fixture
def bridge(qapp: QApplication) -> Iterator[DocumentBridge]:
    made = make_bridge()
    yield made
    made.detach()


def heard(bridge: DocumentBridge) -> list[Update]:
    got: list[Update] = []
    bridge.flushed.connect(got.append)
    return got


def test_changes_in_quick_succession_come_as_one(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    tell(bridge, changes(10, 12, 3))
    tell(bridge, changes(12, 15, 3, 11, 7, moved=True))
    assert got == []
    qtbot.waitUntil(lambda: bool(got))
    assert len(got) == 1
    assert (got[0].start, got[0].stop, got[0].tree_moved) == (10, 15, True)
    assert got[0].changed.tolist() == [3, 7], "what is new anyway is not said to have changed"


def test_paused_it_holds_everything_back_and_then_lets_it_through(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    bridge.set_paused(True)
    tell(bridge, changes(0, 5))
    tell(bridge, changes(5, 9))
    qtbot.wait(80)
    assert (got, bridge.waiting, bridge.paused) == ([], 9, True)
    bridge.set_paused(False)
    assert [(c.start, c.stop) for c in got] == [(0, 9)]
    assert bridge.waiting == 0


def test_a_flush_that_was_due_waits_until_the_pause_ends(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    tell(bridge, changes(0, 5))
    bridge.set_paused(True)
    qtbot.wait(80)
    assert (got, bridge.waiting) == ([], 5)
    bridge.set_paused(False)
    assert [(c.start, c.stop) for c in got] == [(0, 5)]


def flush_timer(bridge: DocumentBridge) -> QTimer:
    return child(bridge, QTimer, "flushTimer")


def test_detached_it_says_nothing_more(qapp: QApplication) -> None:
    bridge = make_bridge()
    got = heard(bridge)
    bridge.detach()
    tell(bridge, changes(0, 1))
    bridge.flush()
    assert got == []


@pytest.mark.usefixtures("qapp")
@given(sizes=st.lists(st.integers(0, 20), min_size=1, max_size=20), flushes=st.sets(st.integers(0, 20)))
def test_whenever_it_flushes_every_message_comes_once_and_in_order(sizes: list[int], flushes: set[int]) -> None:
    bridge = make_bridge()
    got, total = heard(bridge), 0
    for place, size in enumerate(sizes):
        tell(bridge, changes(total, total + size))
        total += size
        if place in flushes:
            bridge.flush()
    bridge.flush()
    bridge.detach()
    assert [m for c in got for m in range(c.start, c.stop)] == list(range(total))


@pytest.mark.parametrize(("takes_s", "waits_ms"), [(0.001, 15), (0.03, 30), (0.06, 60), (5.0, 250)])
def test_after_a_flush_that_took_long_the_next_comes_later(
    bridge: DocumentBridge, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, takes_s: float, waits_ms: int
) -> None:
    """Others have the loop for as long, within a limit."""
    now, waited = 100.0, []
    monkeypatch.setattr(bridge_module, "time", SimpleNamespace(perf_counter=lambda: now))
    monkeypatch.setattr(flush_timer(bridge), "start", waited.append)

    def slow(_changes: object) -> None:
        nonlocal now
        now += takes_s
        tell(bridge, changes(bridge.waiting, bridge.waiting + 1))  # more has come meanwhile

    bridge.flushed.connect(slow)
    tell(bridge, changes(0, 1))
    for flushes in range(1, 4):
        flush_timer(bridge).timeout.emit()
        qtbot.waitUntil(lambda flushes=flushes: len(waited) == 1 + flushes)
    assert waited == [0, *[waits_ms] * 3]


def test_held_back_for_long_it_keeps_no_more_than_what_changed_before(bridge: DocumentBridge) -> None:
    got = heard(bridge)
    bridge.set_paused(True)
    for n in range(1_000):
        tell(bridge, changes(10 + n, 11 + n, 3, 9 + n, moved=n == 500))
    assert sum(map(len, bridge._changed)) == 1_001  # what it holds meanwhile is seen nowhere else
    bridge.set_paused(False)
    assert [(c.start, c.stop, c.changed.tolist(), c.tree_moved) for c in got] == [(10, 1_010, [3, 9], True)]


def test_what_stands_around_is_told_in_a_later_turn_of_the_loop(bridge: DocumentBridge, qtbot: QtBot) -> None:
    told: list[tuple[str, int, int]] = []
    bridge.flushed.connect(lambda c: told.append(("flushed", c.start, c.stop)))
    bridge.settled.connect(lambda c: told.append(("settled", c.start, c.stop)))
    tell(bridge, changes(0, 1))
    flush_timer(bridge).timeout.emit()
    assert told == [("flushed", 0, 1)]
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told[1] == ("settled", 0, 1)
    tell(bridge, changes(1, 2))
    flush_timer(bridge).timeout.emit()
    tell(bridge, changes(2, 3))
    bridge.flush()
    assert told[2:] == [("flushed", 1, 2), ("settled", 1, 2), ("flushed", 2, 3), ("settled", 2, 3)]


def test_changes_before_the_views_exist_come_with_the_first_ones(bridge: DocumentBridge, qtbot: QtBot) -> None:
    got = heard(bridge)
    bridge.hold()
    tell(bridge, changes(0, 5))
    qtbot.wait(80)
    assert got == []
    tell(bridge, changes(5, 7))
    bridge.release()
    qtbot.waitUntil(lambda: bool(got))
    assert [(c.start, c.stop) for c in got] == [(0, 7)]
