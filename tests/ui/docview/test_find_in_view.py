"""Find in view as the user does it: Ctrl+F, type, F3; what is lit and where the minimap says it is."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.engine.requests import find as find_requests
from inspector.filters import find, find_query, patterns
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.json_tree import JsonDelegate, JsonTree
from inspector.ui.widgets.find_bar import FindBar
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.engines import in_engine, patch_engine
from tests.ui.find import child
from tests.ui.waiting import PATIENCE_MS
from tests.ui.windows import in_turn, panes_of, story, window_on


def shown(application: Application, document: CaptureDocument) -> MainWindow:
    """A window that takes keys."""
    window = window_on(application, document)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window, PATIENCE_MS)
    return window


@pytest.fixture
def window(application: Application) -> MainWindow:
    return shown(application, story())


def bar_of(window: MainWindow) -> FindBar:
    return child(window, FindBar, "findBar")


def look_for(window: MainWindow, text: str) -> FindBar:
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = bar_of(window)
    assert bar.isVisible()
    assert bar.editor.hasFocus()
    QTest.keyClicks(bar.editor, text)
    return bar


def current(window: MainWindow) -> int | None:
    message = panes_of(window).messages.current_message()
    return None if message is None else message + 1


def lit_rows(panes: Panes) -> list[int]:
    view = panes.messages.view
    return [int(n) + 1 for n in panes.rows.visible if view.painter.hits_in(int(n)) is not None]


def what_is_typed_is_counted_and_nothing_moves(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(0)
    bar = look_for(window, "slow")
    assert bar.words == "2 found"
    assert current(window) == 1
    assert lit_rows(panes_of(window)) == [2, 3]


def f3_goes_around_and_says_so(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(0)
    bar = look_for(window, "slow")
    for number, words in ((2, "1 of 2"), (3, "2 of 2"), (2, "wrapped, 1 of 2")):
        QTest.keyClick(window, Qt.Key.Key_F3)
        assert (current(window), bar.words) == (number, words)
    QTest.keyClick(window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert (current(window), bar.words) == (3, "wrapped, 2 of 2")
    panes_of(window).messages.step(-1)
    assert bar.words == "1 of 2"


def enter_and_the_buttons_go_too(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(0)
    bar = look_for(window, "slow")
    QTest.keyClick(bar.editor, Qt.Key.Key_Return)
    assert current(window) == 2
    QTest.mouseClick(bar.next, Qt.MouseButton.LeftButton)
    assert current(window) == 3
    QTest.mouseClick(bar.previous, Qt.MouseButton.LeftButton)
    assert current(window) == 2
    QTest.keyClick(bar.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert current(window) == 3


def test_rows_are_not_lit_anew_after_each_slice(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, find_requests, "FIRST_S", 0.0)
    patch_engine(monkeypatch, find_requests, "REPORT_S", 3_600.0)
    patch_engine(monkeypatch, find, "_FIRST_BYTES", 64)
    patch_engine(monkeypatch, find, "_MOST_BYTES", 64)
    document = document_of(*(envelope("chat", {"text": "slow" if n >= 20 else "quick"}) for n in range(100)))
    panes = panes_of(shown(application, document))
    panes.go_to(0)
    lit: list[int] = []
    panes.find_in_view.open()
    panes.find_in_view.changed.connect(
        lambda: lit.append(len(panes.find_in_view.found.messages) if panes.find_in_view.found else -1)
    )
    panes.messages.find_bar.editor.setText("slow")
    assert panes.find_in_view.busy
    qtbot.waitUntil(lambda: panes.messages.find_bar.words == "80 found")
    assert not panes.find_in_view.busy
    assert len(lit) == 3, "at the beginning, the first hits, and the end"
    assert lit[0] == 0 < lit[1] < lit[2] == 80


def test_as_many_hits_as_before_in_other_rows_are_lit(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_anew(search: find.FindSearch, _changed: object) -> None:
        search._begin(None)  # as after a change that no traffic makes: each row another one

    log = GrowingLog()
    log.write(envelope("chat", {"text": "slow"}))
    window = shown(application, log.document)
    bar, panes = look_for(window, "slow"), panes_of(window)
    lit: list[int] = []
    panes.find_in_view.changed.connect(
        lambda: lit.append(len(panes.find_in_view.found.messages) if panes.find_in_view.found else -1)
    )
    patch_engine(monkeypatch, find.FindSearch, "note_changed", begin_anew)
    log.write(envelope("chat", {"text": "quick"}))
    panes.bridge.flush()
    qtbot.waitUntil(lambda: not panes.find_in_view.busy)
    assert bar.words in ("1 found", "1 of 1")
    assert lit == [1]


def case_and_expressions(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "LOOK")
    assert bar.words == "1 found"
    child(bar, QToolButton, "findCase").click()
    assert bar.words == "Nothing found"
    assert not bar.next.isEnabled()
    bar.editor.clear()
    child(bar, QToolButton, "findPattern").click()
    QTest.keyClicks(bar.editor, r"record (7|8)\b")
    qtbot.waitUntil(lambda: bar.words == "1 found")
    assert lit_rows(panes_of(window)) == [6]


def a_wrong_expression_is_said_and_lights_nothing(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "slow(")
    child(bar, QToolButton, "findPattern").click()
    assert bar.words == "A ( is not closed."
    assert bar.editor.property("wrong") == "true"
    assert lit_rows(panes_of(window)) == []
    QTest.keyClick(bar.editor, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: bar.words == "2 found")
    assert bar.editor.property("wrong") == "false"


def test_an_expression_that_takes_for_ever_is_given_up(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.3)  # so long that it is told from a key on a slow machine
    monkeypatch.setattr(find_query, "_LIMIT_S", 0.3)
    window = shown(application, document_of(envelope("chat", {"text": "a" * 60 + "b"})))
    bar = look_for(window, "")
    child(bar, QToolButton, "findPattern").click()
    keys = []
    for key in "(a+)+$":
        began = time.process_time()
        QTest.keyClicks(bar.editor, key)
        keys.append(time.process_time() - began)
    assert bar.words == "Searching"
    assert max(keys) < 0.15  # nothing is tried while keys are pressed
    qtbot.waitUntil(lambda: bar.words == "This expression takes too long to evaluate.")


def enter_goes_to_a_hit_of_an_expression_that_was_not_tried_yet(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(0)
    bar = look_for(window, "")
    child(bar, QToolButton, "findPattern").click()
    QTest.keyClicks(bar.editor, r"s\w\ww")
    QTest.keyClick(bar.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: current(window) == 2)


def escape_puts_all_out_and_f3_lights_it_again(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(0)
    bar = look_for(window, "slow")
    QTest.keyClick(bar.editor, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert lit_rows(panes) == []
    assert panes.messages.view.hasFocus()
    QTest.keyClick(window, Qt.Key.Key_F3)
    assert bar.isVisible()
    assert panes.messages.view.hasFocus()
    assert current(window) == 2


def f3_without_words_asks_for_them(window: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(window, Qt.Key.Key_F3)
    assert bar_of(window).editor.hasFocus()


def another_filter_counts_anew(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "slow")
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    assert bar.words == "1 found"
    panes_of(window).filter_state.apply_filter('kind == "mcp/request"')
    assert bar.words == "Nothing found in this view"
    panes_of(window).filter_state.apply_filter("")
    assert bar.words == "2 found"


def test_new_messages_are_found(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(envelope("chat", {"text": "needle"}))
    window = shown(application, log.document)
    bar = look_for(window, "needle")
    assert bar.words in ("1 found", "1 of 1")
    log.write(envelope("chat", {"text": "hay"}), envelope("chat", {"text": "needle"}))
    qtbot.waitUntil(lambda: "2" in bar.words)


def what_the_row_does_not_show_lights_its_number(window: MainWindow, qtbot: QtBot) -> None:
    look_for(window, "record 14")
    panes = panes_of(window)
    seen: list[str] = []
    lights = panes.messages.view.paints.hits
    add = lights.add
    lights.add = lambda box, role, text, x, y: (seen.append(text), add(box, role, text, x, y))[1]  # type: ignore[method-assign]
    panes.messages.view.viewport().repaint()
    assert seen == ["6"]


def details_are_lit(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    look_for(window, "slow")
    panes.go_to(1)

    def lit(view: QTextEdit | QPlainTextEdit) -> list[str]:
        found = []
        for selection in view.extraSelections():
            assert isinstance(selection.format, QTextCharFormat)  # type: ignore[attr-defined]
            found.append(selection.cursor.selectedText())  # type: ignore[attr-defined]
        return found

    overview = panes.details.pages["Overview"]
    qtbot.waitUntil(lambda: any(lit(view) == ["slow"] for view in overview.findChildren(QTextEdit)))
    panes.details.show_tab("Raw")
    raw = child(panes.details, QPlainTextEdit, "rawText")
    qtbot.waitUntil(lambda: lit(raw) == ["slow"])
    panes.details.show_tab("Tree")
    delegate = child(panes.details, JsonTree, "jsonTree").itemDelegate()
    assert isinstance(delegate, JsonDelegate)
    lights = delegate.lights
    qtbot.waitUntil(lambda: lights.locate is not None)
    QTest.keyClick(bar_of(window).editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: lights.locate is None)
    assert lit(raw) == ["slow"]
    panes.details.show_tab("Raw")
    qtbot.waitUntil(lambda: lit(raw) == [])


def test_characters_beyond_the_first_plane_do_not_shift_the_light(application: Application, qtbot: QtBot) -> None:
    window = shown(application, document_of(envelope("chat", {"text": "\U0001f600\U0001f600 slow"})))
    panes_of(window).go_to(0)
    look_for(window, "slow")
    page = panes_of(window).details.pages["Overview"]

    def lit() -> list[str]:
        return [s.cursor.selectedText() for view in page.findChildren(QTextEdit) for s in view.extraSelections()]

    qtbot.waitUntil(lambda: lit() == ["slow"])


def rows_of_the_details_are_lit(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    look_for(window, "search_records")
    panes.go_to(4)
    page = panes.details.pages["Overview"]
    qtbot.waitUntil(lambda: any(view.locate is not None for view in page.findChildren(FittedList)))


def test_in_sorted_rows_the_next_hit_is_the_next_row(application: Application) -> None:
    texts = ("hit", "x" * 9, "hit and more", "hit a", "x")
    window = shown(application, document_of(*(envelope("chat", {"text": text}) for text in texts)))
    panes = panes_of(window)
    bar = look_for(window, "hit")
    panes.messages.sorter.sort("size")
    panes.go_to(0)
    assert bar.words == "1 of 3"
    seen: list[int | None] = []
    for _ in range(3):
        QTest.keyClick(window, Qt.Key.Key_F3)
        seen.append(current(window))
    assert seen == [4, 3, 1]
    assert bar.words == "wrapped, 1 of 3"


# Minimap


def test_the_minimap_shows_hits_and_problems_and_leads_there(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    minimap = panes.messages.minimap
    look_for(window, "slow")
    qtbot.waitUntil(lambda: len(minimap.places("hit")) == 2)
    first, second = minimap.places("hit")
    assert [minimap.row_at(first), minimap.row_at(second)] == [1, 2]
    assert minimap.words_at(second) == "hit near No. 3"
    QTest.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(8, second))
    assert current(window) == 3
    assert panes.messages.view.ticks.fractions()
    QTest.keyClick(bar_of(window).editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: minimap.places("hit") == [])


def test_marks_show_on_the_minimap(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    in_engine(panes.client, lambda document: document.analysis.marks.set_note(3, Note(True)))
    panes.minimap_marks.renew()
    qtbot.waitUntil(lambda: len(panes.messages.minimap.places("mark")) == 1)
    assert panes.messages.minimap.row_at(panes.messages.minimap.places("mark")[0]) == 3


def test_many_marks_cost_by_pixels_and_none_that_stands_alone_is_lost(application: Application, qtbot: QtBot) -> None:
    texts = ("hit" if n < 4_000 or n == 5_900 else "x" for n in range(6_000))
    document = document_of(*(envelope("chat", {"text": text}) for text in texts))
    window = shown(application, document)
    bar = look_for(window, '"hit"')
    qtbot.waitUntil(lambda: bar.words in ("4,001 found", "4,001 of 4,001"))
    minimap = panes_of(window).messages.minimap

    def lone_is_seen() -> bool:
        """It shows what was found so far several times before all is found."""
        seen = minimap.places("hit")
        return bool(seen) and abs(minimap.row_at(seen[-1]) - 5_900) < 15

    qtbot.waitUntil(lone_is_seen)
    places = minimap.places("hit")
    assert len(places) <= minimap.height()
    gap = max(b - a for a, b in pairwise(places[:-1]))
    assert gap <= 2
    QTest.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(8, places[-1]))
    assert current(window) == 5_901


def test_a_place_without_a_mark_is_scrolled_to(application: Application, qtbot: QtBot) -> None:
    window = shown(application, document_of(*(envelope("chat", {"text": "x"}) for _ in range(500))))
    panes = panes_of(window)
    panes.go_to(0)
    minimap = panes.messages.minimap
    QTest.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(8, minimap.height() // 2))
    row = panes.messages.view.rowAt(panes.messages.view.viewport().height() // 2)
    assert abs(row - 250) <= 2
    assert current(window) == 1
    assert minimap.words_at(minimap.height() // 2).startswith("No. 2")


def begun_again(window: MainWindow) -> None:
    """Nothing is looked for, everything is shown, and No. 1 is current."""
    panes = panes_of(window)
    panes.filter_state.clear()
    panes.details.show_tab("Overview")
    panes.go_to(0)
    bar = panes.messages.find_bar
    for name in ("findCase", "findPattern"):
        button = child(bar, QToolButton, name)
        button.setChecked(False)
    bar.editor.clear()
    QTest.keyClick(bar.editor, Qt.Key.Key_Escape)


test_what_is_found_is_counted_gone_to_and_lit = in_turn([
    f3_without_words_asks_for_them, what_is_typed_is_counted_and_nothing_moves, f3_goes_around_and_says_so,
    enter_and_the_buttons_go_too, case_and_expressions, a_wrong_expression_is_said_and_lights_nothing,
    enter_goes_to_a_hit_of_an_expression_that_was_not_tried_yet, escape_puts_all_out_and_f3_lights_it_again,
    another_filter_counts_anew, details_are_lit, rows_of_the_details_are_lit,
    what_the_row_does_not_show_lights_its_number,
], begun_again)  # fmt: skip
