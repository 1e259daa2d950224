"""Tests of `inspector.ui.widgets.filter_bar` and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu, QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.requests.filters import FilterProblem, check_text
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.widgets.filter_highlighter import tokens
from inspector.ui.widgets.filter_trouble import FilterTrouble
from inspector.ui.widgets.labels import IconLabel
from tests.ui.find import child


def check(text: str) -> FilterProblem | None:
    return check_text(text, None).problem


@pytest.fixture
def bar(theme_controller: ThemeController, qtbot: QtBot) -> Iterator[FilterBar]:
    """A filter bar at the top of a window, with nothing applied."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 200)
    column = QVBoxLayout(window)
    bar = FilterBar(theme_controller, check, window)
    column.addWidget(bar)
    column.addStretch(1)
    window.show()
    yield bar
    window.close()


def editor(bar: FilterBar) -> QPlainTextEdit:
    return child(bar, QPlainTextEdit, "filterEditor")


def button(bar: FilterBar, name: str) -> QToolButton:
    return child(bar, QToolButton, name)


def counts(bar: FilterBar) -> str:
    label = child(bar, QLabel, "filterCounts")
    return "" if label.isHidden() else label.text()


def trouble(bar: FilterBar) -> FilterTrouble | None:
    found = bar.window().findChild(FilterTrouble)
    return found if found is not None and found.isVisible() else None


def type_text(qtbot: QtBot, bar: FilterBar, text: str) -> None:
    editor(bar).selectAll()
    qtbot.keyClicks(editor(bar), text)


def press(qtbot: QtBot, bar: FilterBar, key: Qt.Key) -> None:
    qtbot.keyClick(editor(bar), key)


def funnel(bar: FilterBar) -> str:
    return child(bar, IconLabel, "filterFunnel").token


def test_enter_applies_a_good_filter(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(qtbot, bar, 'from == "mew"')
    assert funnel(bar) == "state.active"
    with qtbot.waitSignal(bar.applied) as applied:
        press(qtbot, bar, Qt.Key.Key_Return)
    assert applied.args == ['from == "mew"']
    assert bar.applied_text() == 'from == "mew"'


def test_enter_on_a_wrong_filter_says_why_at_once_and_applies_nothing(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_applied("badge")
    type_text(qtbot, bar, 'form == "mew"')
    with qtbot.assertNotEmitted(bar.applied):
        press(qtbot, bar, Qt.Key.Key_Return)
    shown = trouble(bar)
    assert shown is not None
    assert "form" in shown.words()
    assert "from" in shown.words()
    assert bar.applied_text() == "badge"
    assert bar.property("wrong") == "true"
    assert funnel(bar) == "severity.error"


def test_trouble_is_told_after_a_rest_and_goes_when_mended(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(qtbot, bar, 'from = "mew"')
    assert trouble(bar) is None
    qtbot.waitUntil(lambda: trouble(bar) is not None)
    type_text(qtbot, bar, 'from == "mew"')
    assert trouble(bar) is None
    assert bar.error() is None


def test_the_suggestion_can_be_clicked(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(qtbot, bar, 'form == "mew" && badge')
    press(qtbot, bar, Qt.Key.Key_Return)
    shown = trouble(bar)
    assert shown is not None
    qtbot.mouseClick(child(shown, QPushButton, "filterTroubleSuggestion"), Qt.MouseButton.LeftButton)
    assert bar.text() == 'from == "mew" && badge'
    assert trouble(bar) is None


def test_the_very_token_is_underlined(bar: FilterBar, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[tuple[int, int] | None] = []
    monkeypatch.setattr(FilterEditor, "mark_trouble", lambda _editor, trouble: marked.append(trouble))
    type_text(qtbot, bar, 'badge && form == "mew"')
    assert marked[-1] == (9, 4)


def test_escape_returns_to_what_is_applied(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_applied("badge")
    type_text(qtbot, bar, "kind ==")
    press(qtbot, bar, Qt.Key.Key_Return)
    press(qtbot, bar, Qt.Key.Key_Escape)
    assert (bar.text(), trouble(bar)) == ("kind ==", None)
    press(qtbot, bar, Qt.Key.Key_Escape)
    assert bar.text() == "badge"
    assert bar.error() is None
    assert trouble(bar) is None


@pytest.mark.parametrize(
    ("applied", "typed", "shown", "total", "words"),
    [
        ("", "", 5, 5, ""),
        ("", "kind", 1216, 1216, "Enter to apply"),
        ("badge", "kind", 1024, 1216, "Enter to apply"),
        ("badge", "kidn ==", 1024, 1216, ""),
        ("badge", "badge", 1024, 1216, "1,024 of 1,216"),
        ("", "", 6, 1216, "6 of 1,216"),
    ],
    ids=["at rest", "typing", "typing over another", "typing something wrong", "filtered", "scoped"],
)
def test_counts(bar: FilterBar, qtbot: QtBot, applied: str, typed: str, shown: int, total: int, words: str) -> None:
    bar.set_applied(applied)
    if typed != applied:
        child(bar, QPlainTextEdit).selectAll()
        type_text(qtbot, bar, typed)
    bar.set_counts(shown, total)
    assert counts(bar) == words


def test_work_shows_what_was_found_so_far(bar: FilterBar) -> None:
    bar.set_applied("badge")
    bar.set_counts(10, 100)
    bar.set_busy(0.4, 31)
    assert counts(bar) == "31 so far"
    bar.set_busy(None)
    assert counts(bar) == "10 of 100"


def test_clear_applies_nothing(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_applied("badge")
    with qtbot.waitSignal(bar.applied) as applied:
        qtbot.mouseClick(button(bar, "filterClear"), Qt.MouseButton.LeftButton)
    assert applied.args == [""]
    assert bar.text() == ""
    assert not button(bar, "filterClear").isVisible()


def test_star_asks_to_save_only_what_is_right(bar: FilterBar, qtbot: QtBot) -> None:
    assert not button(bar, "filterSave").isEnabled()
    type_text(qtbot, bar, "form =")
    assert not button(bar, "filterSave").isEnabled()
    type_text(qtbot, bar, "badge")
    with qtbot.waitSignal(bar.save_requested) as saved:
        qtbot.mouseClick(button(bar, "filterSave"), Qt.MouseButton.LeftButton)
    assert saved.args == ["badge"]


def test_star_is_filled_for_a_preset(bar: FilterBar) -> None:
    bar.set_applied("badge")
    bar.set_saved(True)
    assert button(bar, "filterSave").accessibleName() == "This filter is a preset"


def test_history_holds_what_was_applied_and_applies_it_again(bar: FilterBar, qtbot: QtBot) -> None:
    for text in ("badge", "context", "badge"):
        type_text(qtbot, bar, text)
        press(qtbot, bar, Qt.Key.Key_Return)
    assert bar.history() == ["badge", "context"]
    press(qtbot, bar, Qt.Key.Key_Down)
    menu = child(bar, QMenu, "filterHistoryMenu")
    assert [action.text() for action in menu.actions()] == ["badge", "context", "", "Forget earlier filters"]
    with qtbot.waitSignal(bar.applied) as applied:
        menu.actions()[1].trigger()
    menu.close()
    assert applied.args == ["context"]


def test_pasted_lines_become_one_line(bar: FilterBar) -> None:
    QGuiApplication.clipboard().setText('kind == "chat"\n&& badge\n')
    editor(bar).paste()
    assert bar.text() == 'kind == "chat" && badge'


def test_recheck_looks_again_at_the_same_text(theme_controller: ThemeController, qtbot: QtBot) -> None:
    allowed: list[str | None] = [None]

    bar = FilterBar(theme_controller, lambda text: check_text(text, allowed[0]).problem)
    qtbot.addWidget(bar)
    type_text(qtbot, bar, "context under $context")
    assert bar.error() is not None
    allowed[0] = "a"
    bar.recheck()
    assert bar.error() is None


def test_focus_selects_all(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_applied("badge")
    bar.focus_editor()
    assert editor(bar).textCursor().selectedText() == "badge"


def test_a_new_theme_is_taken_over(bar: FilterBar, theme_controller: ThemeController) -> None:
    bar.set_applied("badge")
    before = editor(bar).height()
    theme_controller.set_setting("dark")
    theme_controller.set_zoom(1.5)
    assert bar.height() == 42
    assert editor(bar).height() > before
    assert not bar.grab().isNull()


def roles(text: str) -> list[tuple[str, str]]:
    return [(text[t.start : t.start + t.length], t.role) for t in tokens(text)]


def test_tokens_have_roles() -> None:
    text = 'kind like mcp/* && !(from in {mew, "b"} or payload.a."x y" >= 3kB) and "free" || context under $context'
    assert roles(text) == [
        ("kind", "field"), ("like", "operator"), ("mcp/*", "value"), ("&&", "operator"), ("!", "operator"),
        ("(", "operator"), ("from", "field"), ("in", "operator"), ("{", "operator"), ("mew", "value"),
        (",", "operator"), ('"b"', "value"), ("}", "operator"), ("or", "operator"), ('payload.a."x y"', "field"),
        (">=", "operator"), ("3kB", "value"), (")", "operator"), ("and", "operator"), ('"free"', "value"),
        ("||", "operator"), ("context", "field"), ("under", "operator"), ("$context", "value"),
    ]  # fmt: skip


def test_tokens_of_nonsense_stay_inside_the_text() -> None:
    for text in ("", '"', "a == '", "&&&& {{", "\\ \u202e \U0001f600 ==", '"a\\'):
        assert all(t.start >= 0 and t.start + t.length <= len(text) for t in tokens(text))


def test_the_plus_stacks_what_is_right(bar: FilterBar, qtbot: QtBot) -> None:
    assert button(bar, "filterStack").isHidden()
    type_text(qtbot, bar, "badge")
    with qtbot.waitSignal(bar.stack_requested) as asked:
        button(bar, "filterStack").click()
    assert asked.args == ["badge"]
    assert bar.history() == ["badge"]
    type_text(qtbot, bar, "form ==")
    assert not button(bar, "filterStack").isEnabled()


def test_a_filter_that_matches_nothing_is_neither_right_nor_wrong(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_applied("badge")
    bar.set_counts(0, 1_216)
    assert (counts(bar), funnel(bar)) == ("no match in 1,216", "ink.secondary")
    assert child(bar, QPushButton, "filterSearchAll").isHidden()
    bar.set_narrowed(True)
    with qtbot.waitSignal(bar.search_all_requested):
        child(bar, QPushButton, "filterSearchAll").click()
    bar.set_counts(3, 1_216)
    assert (counts(bar), funnel(bar)) == ("3 of 1,216", "state.active")
    assert child(bar, QPushButton, "filterSearchAll").isHidden()


def test_tab_takes_the_suggestion_and_goes_on_next_time(bar: FilterBar, qtbot: QtBot) -> None:
    field = editor(bar)
    field.setFocus()
    qtbot.keyClicks(field, 'kind = "chat"')
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert trouble(bar) is not None
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert bar.text() == 'kind == "chat"'
    assert trouble(bar) is None
    assert field.hasFocus()
    qtbot.keyClicks(field, " ")
    assert bar.text() == 'kind == "chat" '
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert not field.hasFocus()


def test_what_is_wrong_covers_nothing_once_the_user_goes_elsewhere(bar: FilterBar, qtbot: QtBot) -> None:
    field = editor(bar)
    field.setFocus()
    qtbot.keyClicks(field, "kind = ")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert trouble(bar) is not None
    button(bar, "filterClear").setFocus()
    assert trouble(bar) is None
    assert bar.property("wrong") == "true"
    field.setFocus()
    qtbot.waitUntil(lambda: trouble(bar) is not None)


def test_what_is_left_behind_stays_marked_with_the_filter_in_force_named(bar: FilterBar, qtbot: QtBot) -> None:
    field, elsewhere = editor(bar), button(bar, "filterClear")
    field.setFocus()
    qtbot.keyClicks(field, "kidn ==")
    elsewhere.setFocus()
    assert (counts(bar), bar.property("wrong")) == ("not applied, all messages are shown", "true")
    bar.set_applied('kind == "chat"')
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "kind = x")
    elsewhere.setFocus()
    assert (counts(bar), bar.property("wrong")) == ('not applied, current filter: kind == "chat"', "true")


def test_escape_ends_the_error_then_puts_back_the_filter_in_force_and_undo_what_was_written(
    bar: FilterBar, qtbot: QtBot
) -> None:
    bar.set_applied('kind == "chat"')
    field = editor(bar)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "kind = x")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (bar.text(), bar.property("wrong"), trouble(bar)) == ("kind = x", "true", None)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert bar.text() == 'kind == "chat"'
    assert (bar.property("wrong"), trouble(bar)) == ("false", None)
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert bar.text() == "kind = x"
