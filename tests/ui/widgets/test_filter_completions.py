"""Completion in the filter bar, as somebody types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListView, QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.requests.filters import Candidate, Completion, check_text
from inspector.filters.completion import Completer
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.filter_completions import FilterCompletions, candidate_spec
from inspector.ui.widgets.filter_trouble import FilterTrouble
from tests.builders import document_of, envelope
from tests.ui.find import child

LINES = [envelope(kind, id=str(n), **{"from": "lead"}) for n, kind in enumerate(["chat", "chat", "chat/acknowledge"])]


@pytest.fixture
def bar(theme_controller: ThemeController, qtbot: QtBot) -> Iterator[FilterBar]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 500)
    column = QVBoxLayout(window)
    completer = Completer(document_of(*LINES).analysis)
    bar = FilterBar(
        theme_controller, lambda text: check_text(text).problem, window,
        complete=lambda text, cursor, show: show(completer.complete(text, cursor)),
    )  # fmt: skip
    column.addWidget(bar)
    column.addStretch(1)
    window.show()
    qtbot.waitExposed(window)
    bar.focus_editor()
    qtbot.waitUntil(lambda: editor(bar).hasFocus())
    yield bar
    window.close()


def editor(bar: FilterBar) -> QPlainTextEdit:
    return child(bar, QPlainTextEdit, "filterEditor")


def offered(bar: FilterBar) -> list[str]:
    popup = bar.window().findChild(FilterCompletions)
    return popup.labels() if popup is not None else []


def write(qtbot: QtBot, bar: FilterBar, text: str) -> None:
    qtbot.keyClicks(editor(bar), text)


def press(qtbot: QtBot, bar: FilterBar, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    qtbot.keyClick(editor(bar), key, modifier or Qt.KeyboardModifier.NoModifier)


def test_a_filter_written_with_the_tab_key(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "kin")
    assert offered(bar) == ["kind", "kind.raw"]
    press(qtbot, bar, Qt.Key.Key_Tab)
    assert bar.text() == "kind "
    assert offered(bar)[0] == "=="
    press(qtbot, bar, Qt.Key.Key_Tab)
    assert offered(bar) == ["chat", "chat/acknowledge"]
    press(qtbot, bar, Qt.Key.Key_Down)
    press(qtbot, bar, Qt.Key.Key_Down)
    press(qtbot, bar, Qt.Key.Key_Return)
    assert bar.text() == 'kind == "chat/acknowledge"'
    assert offered(bar) == []
    with qtbot.waitSignal(bar.applied) as applied:
        press(qtbot, bar, Qt.Key.Key_Return)
    assert applied.args == ['kind == "chat/acknowledge"']


def test_enter_applies_what_is_written_unless_a_candidate_was_gone_to(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "from == lea")
    assert offered(bar) == ["lead"]
    with qtbot.waitSignal(bar.applied) as applied:
        press(qtbot, bar, Qt.Key.Key_Return)
    assert applied.args == ["from == lea"]
    assert offered(bar) == []


def test_escape_closes_the_list_then_takes_back(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "kin")
    press(qtbot, bar, Qt.Key.Key_Escape)
    assert (offered(bar), bar.text()) == ([], "kin")
    press(qtbot, bar, Qt.Key.Key_Escape)
    assert bar.text() == ""


def test_ctrl_space_asks_anywhere(bar: FilterBar, qtbot: QtBot) -> None:
    press(qtbot, bar, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert "kind" in offered(bar)
    press(qtbot, bar, Qt.Key.Key_Left)
    assert offered(bar) == []


def test_a_click_puts_in(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "kind == ")
    popup = bar.window().findChild(FilterCompletions)
    assert popup is not None
    view = child(popup, QListView, "filterCandidates")
    place = view.visualRect(view.model().index(0, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bar.text() == 'kind == "chat"'
    assert editor(bar).hasFocus()


def test_the_list_hangs_under_the_word_and_stays_in_the_window(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "from == lead && ki")
    popup = bar.window().findChild(FilterCompletions)
    assert popup is not None
    assert popup.y() >= bar.geometry().bottom()
    assert popup.geometry().right() <= bar.window().width()
    far = popup.x()
    editor(bar).selectAll()
    write(qtbot, bar, "ki")
    assert popup.x() < far


def test_the_list_is_as_wide_as_long_names_with_different_ends(
    bar: FilterBar, theme_controller: ThemeController
) -> None:
    window, popup = bar.window(), FilterCompletions(theme_controller, bar)

    def width(*labels: str, count: int | None = 3) -> int:
        found = [Candidate(label, label, "help", count=count) for label in labels]
        popup.show_completion(Completion(0, 1, candidates=found), 0)
        return popup.width()

    plain = width("lead", "lead-2")
    long = "Explore: Review the payment service for missing {} (Explore#a11c2f7000000000b)"
    names = [long.format("timeouts"), long.format("error handling")]
    assert plain < width(*names) < window.width()
    cells, row = popup.view.delegate.cells, candidate_spec(0, popup._candidates[1])
    assert popup.view.viewport().width() >= cells.natural_width(row.lines[0][0]) + 16
    assert width("x" * 400) < window.width()
    assert width(long * 3, count=None) == plain


def test_what_is_wrong_waits_while_something_is_offered(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "kin")
    qtbot.wait(500)
    assert offered(bar)
    trouble = bar.window().findChild(FilterTrouble)
    assert trouble is None or trouble.isHidden()


def test_an_empty_field_offers_nothing_unasked(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "k")
    assert offered(bar)
    qtbot.keyClick(editor(bar), Qt.Key.Key_Backspace)
    assert offered(bar) == []
    write(qtbot, bar, "kind")
    assert offered(bar)
    qtbot.keyClick(editor(bar), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert offered(bar) == []
    qtbot.keyClick(editor(bar), Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert offered(bar), "asked for, it offers everything"
    bar.set_applied("badge")
    assert offered(bar) == [], "what was written was replaced"


def test_what_is_taken_back_offers_nothing(bar: FilterBar, qtbot: QtBot) -> None:
    write(qtbot, bar, "kind == ")
    qtbot.keyClick(editor(bar), Qt.Key.Key_Escape)
    qtbot.keyClick(editor(bar), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert offered(bar) == []
