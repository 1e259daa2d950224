"""Rows of bookkeeping: hidden with a count, shown by a click, by a key, and where one of them is gone to."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at, document_of, envelope, lines_of, log_file
from tests.samples import FORMAT_SAMPLES
from tests.ui.windows import numbers, panes_of, window_on

CLAUDE = FORMAT_SAMPLES["claude-code.jsonl"]
HTTP = Path(__file__).parents[2] / "data" / "recordings" / "mcp" / "py2-http-modern-errors.jsonl"


def label(window: MainWindow) -> str:
    button = window.view_head.bookkeeping
    return button.accessibleName() if button.isVisibleTo(window.view_head) else ""


def kinds(window: MainWindow) -> set[str]:
    capture = panes_of(window).client.document.capture
    return {capture.string("kind", number - 1) or "" for number in numbers(window)}


def hidden(window: MainWindow) -> list[int]:
    rows = panes_of(window).rows
    return [number for number in range(1, rows.seen_count + 1) if rows.locate(number - 1)]


@pytest.mark.parametrize("log", [CLAUDE, HTTP], ids=["session", "recording"])
def test_bookkeeping_rows_are_hidden_with_their_count_and_shown_by_a_click(application: Application, log: Path) -> None:
    window = window_on(application, document_at(log))
    gone, shown = hidden(window), numbers(window)
    assert gone
    assert not set(gone) & set(shown)
    assert label(window) == f"{len(gone)} bookkeeping row{'s' if len(gone) > 1 else ''} hidden"
    assert not kinds(window) & {"claude/hook_progress", "claude/file-history-snapshot", "http/end", "recorder/start"}
    assert panes_of(window).counts()[0] == panes_of(window).counts()[1], "figures stay complete"
    QTest.mouseClick(window.view_head.bookkeeping, Qt.MouseButton.LeftButton)
    assert numbers(window) == sorted([*shown, *gone])
    assert label(window).startswith(f"Hide {len(gone)} bookkeeping row")
    assert application.settings.display.hide_bookkeeping is False, "it is remembered"
    assert numbers(window_on(application, document_at(log))) == numbers(window)
    window.actions_by_id["view.bookkeeping"].trigger()
    assert hidden(window) == gone


def test_going_to_a_hidden_row_shows_it_in_this_window_alone(application: Application) -> None:
    window = window_on(application, document_at(CLAUDE))
    other = window_on(application, document_at(CLAUDE))
    wanted = hidden(window)[0]
    panes_of(window).go_to(wanted - 1)
    assert panes_of(window).messages.current_message() == wanted - 1
    assert hidden(window) == []
    assert hidden(other) != []
    assert application.settings.display.hide_bookkeeping
    window.actions_by_id["view.bookkeeping"].trigger()
    assert wanted in hidden(window)


def test_a_filter_that_asks_for_messages_shows_bookkeeping_and_one_for_a_place_does_not(
    application: Application,
) -> None:
    window = window_on(application, document_at(CLAUDE))
    state = panes_of(window).filter_state
    gone = hidden(window)
    state.apply_filter("!context")
    assert not set(numbers(window)) & set(gone)
    state.apply_filter('kind like "claude/*"')
    assert set(numbers(window)) & set(gone)
    assert label(window) == "", "a count of hidden rows would be wrong here"
    state.apply_filter("")
    assert hidden(window) == gone


def test_failures_stay_and_what_comes_live_is_hidden_and_counted(application: Application) -> None:
    path = log_file(lines_of(envelope("chat")))
    window = window_on(application, document_at(path))
    assert label(window) == ""
    record = {"protocol": "mew/v0.4", "from": "a", "payload": {}}
    with path.open("ab") as file:
        more = ("claude/hook_progress", "codex/token_count", "claude/never-heard-of", "codex/turn_aborted")
        file.write(lines_of(*({**record, "id": kind, "kind": kind} for kind in more)))
    panes_of(window).client.document.poll()
    panes_of(window).bridge.flush()
    assert (numbers(window), label(window)) == ([1, 4, 5], "2 bookkeeping rows hidden")
    assert panes_of(window).counts() == (5, 5)


def test_a_log_of_nothing_else_says_so(application: Application) -> None:
    record = {"protocol": "mew/v0.4", "from": "a", "payload": {}, "kind": "claude/hook_progress"}
    window = window_on(application, document_of(*({**record, "id": str(n)} for n in range(3))))
    assert numbers(window) == []
    assert panes_of(window).messages.empty.isVisibleTo(panes_of(window).messages)
    window.view_head.bookkeeping.click()
    assert numbers(window) == [1, 2, 3]
    assert not panes_of(window).messages.empty.isVisibleTo(panes_of(window).messages)


def test_the_count_is_short_where_the_tabs_leave_little_room(application: Application) -> None:
    window = window_on(application, document_at(CLAUDE))
    window.resize(1700, 800)
    window.show()
    QApplication.processEvents()
    link = window.view_head.bookkeeping
    assert link.text() == label(window)
    window.view_head.setFixedWidth(window.view_head.tabs.bar_width + 80)
    QApplication.processEvents()
    assert link.text() == f"{len(hidden(window))} hidden"
    assert window.view_head.tabs.bar_width + link.width() <= window.view_head.width()


def test_the_count_shrinks_for_a_tab_that_comes_or_counts(application: Application) -> None:
    window = window_on(application, document_at(CLAUDE))
    window.resize(1700, 800)
    window.show()
    QApplication.processEvents()
    link, head = window.view_head.bookkeeping, window.view_head
    head.setFixedWidth(head.tabs.bar_width + link.fontMetrics().horizontalAdvance(link.text()) + 34)
    QApplication.processEvents()
    assert link.text() == label(window)
    panes_of(window).tab_counted.emit("Steps", 118_000)
    QApplication.processEvents()
    assert link.text() == f"{len(hidden(window))} hidden"
    assert head.tabs.bar_width + link.width() <= head.width()
