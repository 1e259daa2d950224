"""Tests of `inspector.ui.widgets.status_bar` and `status_button`."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.analysis.findings import Severity
from inspector.sources.state import SourceState
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.status_bar import StatusBar
from inspector.ui.widgets.status_button import StatusButton
from tests.ui.find import child

EMPTY = ["No capture open", "Command palette"]


@pytest.fixture
def bar(theme_controller: ThemeController, qtbot: QtBot) -> StatusBar:
    """A status bar 1200 wide."""
    bar = StatusBar(theme_controller)
    qtbot.addWidget(bar)
    bar.resize(1200, 24)
    bar.show()
    return bar


def test_at_first_nothing_is_open(bar: StatusBar) -> None:
    assert bar.words() == EMPTY


def test_live(bar: StatusBar) -> None:
    bar.show_live("ws://127.0.0.1:8080", "demo", "inspector-7f3a")
    bar.set_state(SourceState.CONNECTED)
    bar.set_counts(1216, 1024, 0)
    bar.tick(1216, True)
    bar.tick(1258, True)
    assert bar.words() == [
        "ws://127.0.0.1:8080", "space demo", "as inspector-7f3a", "silent",
        "1,216 messages, 1,024 shown", "8.4/s",
    ]  # fmt: skip


@pytest.mark.parametrize("state", list(SourceState), ids=lambda state: state.value)
def test_each_state_is_said_in_words(bar: StatusBar, state: SourceState) -> None:
    bar.show_live("ws://x", "demo", "me")
    bar.set_state(state)
    described = child(bar, StatusButton, "statusSource").accessibleDescription()
    assert described in ("Connecting to", "Connected to", "Reconnecting to", "Disconnected from", "Not connected to")


def test_reconnecting_says_which_attempt_and_a_click_hurries_it(bar: StatusBar, qtbot: QtBot) -> None:
    bar.show_live("ws://x", "demo", "inspector-7f3a")
    bar.set_state(SourceState.RECONNECTING, "It broke off.")
    bar.set_retry(3, 1.8)
    assert bar.words()[:2] == ["reconnecting to ws://x", "attempt 3 in 2 s"]
    with qtbot.waitSignal(bar.retry_clicked):
        qtbot.mouseClick(child(bar, StatusButton, "statusRetry"), Qt.MouseButton.LeftButton)
    bar.set_retry(3)
    assert bar.words()[1] == "attempt 3"
    bar.set_state(SourceState.CONNECTED)
    bar.set_retry(0)
    bar.set_participant("inspector-0b1c")
    assert bar.words() == ["ws://x", "space demo", "as inspector-0b1c", "silent"]


def test_what_is_missing_and_what_is_late_is_said(bar: StatusBar, qtbot: QtBot) -> None:
    bar.set_gaps(0)
    bar.set_behind(100)
    bar.set_refused(0)
    assert bar.words() == EMPTY
    bar.set_gaps(2)
    bar.set_behind(12_400)
    bar.set_refused(7)
    bar.set_lag(24_300_000_000)
    assert bar.words()[1:-1] == ["12,400 behind", "delay 24 s", "7 not kept", "2 gaps"]
    bar.set_lag(None)
    assert bar.words()[1:-1] == ["12,400 behind", "7 not kept", "2 gaps"]
    with qtbot.waitSignal(bar.gaps_clicked):
        qtbot.mouseClick(child(bar, StatusButton, "statusGaps"), Qt.MouseButton.LeftButton)


def test_log(bar: StatusBar) -> None:
    bar.show_live("ws://x", "demo", "me")
    bar.show_log("envelope-history.jsonl", "gateway log", with_decisions=True, size_bytes=167_000)
    bar.set_state(SourceState.CONNECTED)  # says nothing of a log
    bar.set_counts(1, 1)
    bar.tick(1, False)
    assert bar.words() == ["envelope-history.jsonl", "gateway log, with decisions, 167 kB", "1 message"]


def test_may_send(bar: StatusBar) -> None:
    bar.show_live("ws://x", "demo", "me", may_send=True)
    assert "may send" in bar.words()


def test_paused_and_reading(bar: StatusBar) -> None:
    bar.set_paused(312)
    bar.set_progress(0.424, 12)
    assert {"view paused, 312 waiting", "reading, 42 %"} <= set(bar.words())
    bar.set_paused(None)
    bar.set_progress(None)
    assert bar.words() == EMPTY


def test_facts_can_be_clicked(bar: StatusBar, qtbot: QtBot) -> None:
    bar.set_counts(10, 10, 3)
    with qtbot.waitSignal(bar.unreadable_clicked):
        qtbot.mouseClick(child(bar, StatusButton, "statusUnreadable"), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(bar.counts_clicked):
        qtbot.keyClick(child(bar, StatusButton, "statusCounts"), Qt.Key.Key_Space)


def test_problems_are_counted_and_open_the_findings(bar: StatusBar, qtbot: QtBot) -> None:
    bar.set_problems(0)
    assert "0 problems" in bar.words()
    bar.set_problems(1, Severity.ERROR, "1 error, 2 notes")
    assert "1 problem" in bar.words()
    button = child(bar, StatusButton, "statusProblems")
    assert "1 error, 2 notes" in button.toolTip()
    with qtbot.waitSignal(bar.problems_clicked):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_bar_is_one_line(bar: StatusBar) -> None:
    bar.show_live("ws://" + "long" * 100, "space", "me")
    assert bar.height() == 24
    assert bar.width() == 1200


def test_wire_text_is_made_visible(bar: StatusBar) -> None:
    bar.show_live("ws://x", "de\u202emo", "me")
    assert "\u202e" not in "".join(bar.words())


def test_numbers_are_never_cut(bar: StatusBar, qtbot: QtBot) -> None:
    bar.show_live("ws://a-rather-long-name.example:8080", "a long name of a space", "inspector-7f3a")
    bar.set_counts(1_216_000, 1_024_000, 12_345)
    bar.resize(640, 24)
    buttons = [child(bar, StatusButton, name) for name in ("statusCounts", "statusUnreadable")]
    qtbot.waitUntil(lambda: child(bar, StatusButton, "statusSource").width() < 180)
    assert all(button.width() >= button.sizeHint().width() for button in buttons)


def test_what_is_selected_is_said_with_its_size_and_time(bar: StatusBar) -> None:
    bar.set_selected(12, 34_000, 1_200_000_000)
    assert "12 selected, 34.0 kB, 1.2 s" in bar.words() or "12 selected, 34 kB, 1.2 s" in bar.words()
    bar.set_selected(1_000_000, 5)
    assert "1,000,000 selected, 5 B" in bar.words()
    bar.set_selected(0)
    assert not any("selected" in words for words in bar.words())


def test_what_failed_is_said_beside_the_problems_and_only_where_there_is_some(bar: StatusBar, qtbot: QtBot) -> None:
    bar.show_log("a.jsonl", "MCP")
    bar.set_failed(0)
    assert not any("failure" in words for words in bar.words())
    bar.set_failed(4)
    assert "4 failures" in bar.words()
    with qtbot.waitSignal(bar.failed_clicked):
        child(bar, StatusButton, "statusFailed").click()


def test_where_nothing_is_open_the_palette_is_offered_with_its_key(bar: StatusBar, qtbot: QtBot) -> None:
    bar.show_palette_key("Ctrl+Shift+P")
    assert bar.words() == ["No capture open", "Command palette Ctrl+Shift+P"]
    with qtbot.waitSignal(bar.palette_clicked):
        child(bar, StatusButton, "statusPalette").click()
    bar.show_log("a.jsonl", "MCP")
    bar.show_palette_key("Ctrl+P")
    assert bar.words() == ["a.jsonl", "MCP"]
