"""Stacked conditions as a user works with them: chips, menus, keys, counts, what the filter bar says."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot
from typer.testing import CliRunner

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.cli import app
from inspector.engine.requests.filters import check_text
from inspector.filters import compile as compile_module
from inspector.filters import compile_filter, secrets
from inspector.filters.stacked_conditions import MOST_CONDITIONS
from inspector.present.message_columns import Column
from inspector.ui.panels.details.json_model import JsonRole
from inspector.ui.panels.details.json_tree import JsonTree
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.filter_chips import ConditionChip
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import application_of, in_turn, numbers, panes_of, story, window_on

CHATS = 'kind == "chat"'


def editor(window: MainWindow) -> QPlainTextEdit:
    return child(window, QPlainTextEdit, "filterEditor")


def write(qtbot: QtBot, window: MainWindow, text: str, key: Qt.Key | None = Qt.Key.Key_Return) -> None:
    editor(window).selectAll()
    qtbot.keyClick(editor(window), Qt.Key.Key_Delete)
    qtbot.keyClicks(editor(window), text)
    if key is not None:
        qtbot.keyClick(editor(window), key)


def chips(window: MainWindow) -> list[ConditionChip]:
    return window.filter_conditions.bar.chips()


def said(window: MainWindow) -> list[str]:
    return [chip.accessibleName().removeprefix("Condition ") for chip in chips(window)]


def counted(qtbot: QtBot, window: MainWindow) -> list[str]:
    qtbot.waitUntil(lambda: all(chip.hides is not None for chip in chips(window)))
    return said(window)


def choose(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if action.objectName() == name).trigger()
    menu.deleteLater()


def cell_menu(window: MainWindow, row: int, column: Column) -> QMenu:
    return panes_of(window).messages.view.menu.build(row, column)


def bar_words(window: MainWindow) -> str:
    return child(window, QLabel, "filterCounts").text()


def a_cell_is_stacked_beside_what_was_written(window: MainWindow, qtbot: QtBot) -> None:
    write(qtbot, window, "no <= 8")
    choose(cell_menu(window, 0, Column.KIND), "filter.and_not")
    choose(cell_menu(window, 1, Column.CONTEXT), "filter.and")
    assert editor(window).toPlainText() == "no <= 8"
    assert panes_of(window).filter_state.filter.text == 'kind != "chat" && context == "why-1" && no <= 8'
    assert numbers(window) == [4, 5, 6, 7, 8]
    assert window.filter_conditions.bar.isVisible()
    assert counted(qtbot, window) == ['kind != "chat", hides 0', 'context == "why-1", hides 1']


def chips_are_switched_one_by_one(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.combine_filter(CHATS, "and_not")
    panes_of(window).filter_state.combine_filter("no > 5", "and")
    assert counted(qtbot, window) == ['kind != "chat", hides 1', "no > 5, hides 3"]
    qtbot.mouseClick(chips(window)[0], Qt.MouseButton.LeftButton, pos=chips(window)[0].rect().center())
    assert numbers(window) == [6, 7, 8, 9]
    assert counted(qtbot, window)[0] == 'kind != "chat", off, would hide 1'
    chips(window)[0].setFocus()
    qtbot.keyClick(chips(window)[0], Qt.Key.Key_Space)
    assert numbers(window) == [6, 7, 8]
    assert chips(window)[0].hasFocus()


def chips_are_closed_by_pointer_and_key(window: MainWindow, qtbot: QtBot) -> None:
    for number in (1, 2, 3):
        panes_of(window).filter_state.combine_filter(f"no == {number}", "and_not")
    qtbot.mouseClick(child(chips(window)[1], QToolButton, "conditionClose"), Qt.MouseButton.LeftButton)
    assert [name.partition(",")[0] for name in said(window)] == ["no != 1", "no != 3"]
    qtbot.keyClick(chips(window)[0], Qt.Key.Key_Delete)
    assert numbers(window) == [1, 2, 4, 5, 6, 7, 8, 9]
    qtbot.mouseClick(child(window, QToolButton, "conditionsClear"), Qt.MouseButton.LeftButton)
    assert chips(window) == []
    assert window.filter_conditions.bar.isHidden() or not window.filter_conditions.bar.isVisible()
    assert len(numbers(window)) == 9


def a_condition_is_edited_negated_left_alone_and_copied(window: MainWindow, qtbot: QtBot) -> None:
    write(qtbot, window, "no < 9")
    panes_of(window).filter_state.combine_filter(CHATS, "and")
    panes_of(window).filter_state.combine_filter("no > 1", "and")
    choose(chips(window)[0].menu(), "condition.negate")
    assert numbers(window) == [3, 4, 5, 6, 7, 8]
    choose(chips(window)[0].menu(), "condition.copy")
    assert QGuiApplication.clipboard().text() == 'kind != "chat"'
    choose(chips(window)[1].menu(), "condition.only")
    assert [chip.condition.on for chip in chips(window)] == [False, True]
    qtbot.keyClick(chips(window)[1], Qt.Key.Key_Return)
    assert editor(window).toPlainText() == "no > 1"
    assert [chip.condition.text for chip in chips(window)] == ['kind != "chat"', "no < 9"]
    assert numbers(window) == [2, 3, 4, 5, 6, 7, 8]


def ctrl_enter_stacks_what_was_written(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(4)
    write(qtbot, window, "context under $context", None)
    qtbot.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor(window).toPlainText() == ""
    assert [chip.condition.text for chip in chips(window)] == ['context under "why-1"']
    assert numbers(window) == [4, 5, 6, 7, 8]
    panes_of(window).go_to(0)  # hidden: everything is shown, and the condition waits
    assert [chip.condition.on for chip in chips(window)] == [False]
    write(qtbot, window, "no ==", None)
    qtbot.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(chips(window)) == 1
    assert window.filter_bar.error() is not None


def a_preset_stands_alone_and_knows_what_is_stacked(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.combine_filter("!context", "and")
    chosen = [chip for chip in window.presets.bar.chips() if chip.isChecked()]
    assert [chip.preset.name for chip in chosen] == ["Main only"]
    everything = next(chip for chip in window.presets.bar.chips() if chip.preset.name == "Everything")
    everything.click()
    assert len(numbers(window)) == 9
    assert [chip.condition.on for chip in chips(window)] == [False]
    write(qtbot, window, CHATS)
    chips(window)[0].click()
    child(window, QToolButton, "filterSave").click()
    qtbot.keyClick(window.name_card.field, Qt.Key.Key_Return)
    assert window.application.settings.presets[-1].filter == f"!context && {CHATS}"


def back_returns_to_the_conditions(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.combine_filter(CHATS, "and")
    panes.go_to(0)
    panes.chain.show(0)
    assert [chip.condition.on for chip in chips(window)] == [False]
    panes.go_back()
    assert [chip.condition.on for chip in chips(window)] == [True]
    assert numbers(window) == [1, 2, 9]


def clear_takes_the_conditions_away(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.combine_filter(CHATS, "and")
    window.actions_by_id["edit.clear_filter"].trigger()
    assert (chips(window), len(numbers(window))) == ([], 9)


def test_more_than_fit_go_into_a_menu_and_no_more_than_can_be_overseen(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(900, 600)
    window.show()
    for number in range(MOST_CONDITIONS + 2):
        panes_of(window).filter_state.combine_filter(f'from == "participant number {number}"', "and_not")
    assert len(chips(window)) == MOST_CONDITIONS
    shown = [chip for chip in chips(window) if not chip.isHidden()]
    assert 1 < len(shown) < MOST_CONDITIONS
    more = child(window, QToolButton, "conditionMore")
    assert more.text() == f"{MOST_CONDITIONS - len(shown)} more"
    right = max(chip.geometry().right() for chip in shown)
    assert right < more.x() < more.geometry().right() < child(window, QToolButton, "conditionsClear").x()
    more.click()
    menu = child(window, QMenu, "conditionMoreMenu")
    menu.actions()[0].trigger()
    assert [chip.condition.on for chip in chips(window)].index(False) == len(shown)
    menu.hide()


# States of the bar


def right_but_matching_nothing_is_said_neutrally(window: MainWindow, qtbot: QtBot) -> None:
    write(qtbot, window, 'from == "nobody"', None)
    qtbot.waitUntil(lambda: bar_words(window).startswith("0 matches"))
    qtbot.keyClick(editor(window), Qt.Key.Key_Return)
    assert bar_words(window) == "no match in 9"
    assert window.filter_bar.matches_nothing
    assert child(window, LinkButton, "filterSearchAll").isHidden(), "all was searched"
    assert window.filter_bar.error() is None


def search_all_leaves_the_other_conditions_out(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.combine_filter("context", "and")
    write(qtbot, window, CHATS, None)
    qtbot.waitUntil(lambda: bar_words(window).startswith("0 matches"))
    qtbot.keyClick(editor(window), Qt.Key.Key_Return)
    assert numbers(window) == []
    child(window, LinkButton, "filterSearchAll").click()
    assert numbers(window) == [1, 2, 9]
    assert [chip.condition.on for chip in chips(window)] == [False]
    assert bar_words(window) == "3 of 9"


def what_would_match_is_said_before_enter(window: MainWindow, qtbot: QtBot) -> None:
    write(qtbot, window, CHATS, None)
    qtbot.waitUntil(lambda: bar_words(window).startswith("3 matches"))
    qtbot.keyClick(editor(window), Qt.Key.Key_Escape)
    qtbot.keyClick(editor(window), Qt.Key.Key_Escape)
    assert bar_words(window) == ""


# Right-click


def a_json_node_filters_stacks_and_becomes_a_column(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(1)
    panes.details.show_tab("Tree")
    tree = child(panes.details, JsonTree, "jsonTree")
    model = tree.model()
    payload = next(i for r in range(model.rowCount()) if (i := model.index(r, 0)).data() == "payload")
    text = model.index(0, 1, payload)
    assert text.data(JsonRole.PATH) == "payload.text"
    with qtbot.waitSignal(panes.column_requested) as asked:
        choose(tree.menu_for(text), "filter.column")
    assert asked.args == ["payload.text"]
    choose(tree.menu_for(text), "filter.and_not")
    assert 2 not in numbers(window)
    assert [chip.condition.text for chip in chips(window)] == ['payload.text != "Why is it slow?"']
    menu = tree.menu_for(payload.siblingAtColumn(1))
    assert not next(a for a in menu.actions() if a.objectName() == "filter.and").isEnabled()
    menu.deleteLater()


def a_cell_becomes_a_column(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    with qtbot.waitSignal(panes.column_requested) as asked:
        choose(cell_menu(window, 4, Column.MESSAGE), "filter.column")
    assert asked.args == ["tool"]


def tree_and_participants_stack_too(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    tree = panes.contexts.model
    row = next(row for row in range(tree.rowCount()) if tree.node(row) not in (None, MAIN))
    choose(panes.contexts.menu_for(row), "filter.and_not")
    assert numbers(window) == [1, 2, 3, 9]
    ways = panes.participants.menu_for(0).findChildren(QMenu, "participantFilterMenu")[0]
    choose(ways, "filter.and")
    assert len(chips(window)) == 2
    for chip in chips(window):
        compile_filter(chip.condition.text)


# History


def test_earlier_filters_are_there_at_the_next_start(window: MainWindow, qtbot: QtBot, qapp: QApplication) -> None:
    for text in ("badge", CHATS, 'payload.token == "abc"', '"Authorization: Bearer abcdefgh12345"'):
        write(qtbot, window, text)
    application = application_of(window)
    assert application.settings.filter_history == [CHATS, "badge"]
    other = window_on(application, story())
    assert other.filter_bar.history() == [CHATS, "badge"]
    write(qtbot, other, "context")
    assert window.filter_bar.history() == ["context", CHATS, "badge"]
    qtbot.keyClick(editor(other), Qt.Key.Key_Down)
    menu = child(other, QMenu, "filterHistoryMenu")
    choose(menu, "filterHistoryForget")
    menu.hide()
    assert (application.settings.filter_history, window.filter_bar.history()) == ([], [])
    other.close()


@pytest.mark.in_process("counts calls of window and engine")
@pytest.mark.parametrize(("condition", "text", "compiled"), [
    ("", CHATS, [CHATS]),
    ("badge", CHATS, [CHATS, f"badge && {CHATS}"]),
])  # fmt: skip
def test_return_compiles_each_filter_once_in_the_window_and_once_in_the_engine(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, condition: str, text: str, compiled: list[str]
) -> None:
    if condition:
        panes_of(window).filter_state.stack_filter(condition)
    window.application.settings.filter_history.clear()
    monkeypatch.setattr(secrets, "_cached_decisions", {})
    check_text.cache_clear()
    compile_once, found = compile_module.parse, list[str]()
    monkeypatch.setattr(compile_module, "parse", lambda text: found.append(text) or compile_once(text))
    editor(window).setPlainText(text)
    qtbot.keyClick(editor(window), Qt.Key.Key_Return)
    in_window, in_engine, for_secrets = compiled, compiled, compiled[:1]
    assert sorted(found) == sorted([*in_window, *in_engine, *for_secrets])
    assert window.application.settings.filter_history == [text]


def test_the_stack_shows_what_list_prints_for_it(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """The window's conditions as one filter, in `list -Y`."""
    log = tmp_path / "story.jsonl"
    capture = panes_of(window).client.document.capture
    log.write_bytes(b"".join(capture.records.read_line_of(n).rstrip(b"\n") + b"\n" for n in range(len(capture))))
    panes = panes_of(window)
    for steps in ((CHATS,), ("context || no > 8", "from"), ("no < 6 || badge", '!(kind like "mcp/*")')):
        panes.filter_state.clear()
        for text in steps:
            panes.filter_state.stack_filter(text)
        panes.filter_state.apply_own_text("no > 1 || no == 1")
        panes.filter_state.apply_stack(panes.filter_state.stack.with_negated(0))
        done = CliRunner().invoke(
            app, ["list", str(log), "-Y", panes.filter_state.stack.combined, "-e", "no", "--format", "csv"]
        )
        assert done.exit_code == 0, done.output
        assert [int(line) for line in done.stdout.split()[1:]] == numbers(window), panes.filter_state.stack.combined
        panes.filter_state.show_hidden_calls()
        done = CliRunner().invoke(
            app, ["list", str(log), "-Y", panes.filter_state.stack.combined, "-e", "no", "--format", "csv"]
        )
        assert [int(line) for line in done.stdout.split()[1:]] == numbers(window), panes.filter_state.stack.combined


def a_chip_says_what_it_hides_by_itself(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.combine_filter("context", "and")
    qtbot.waitUntil(lambda: chips(window)[0].hides is not None)
    assert "Only this condition hides" in chips(window)[0].toolTip()


def begun_again(window: MainWindow) -> None:
    """Everything is shown, and nothing is written or stacked."""
    editor(window).clear()
    panes_of(window).filter_state.clear()


test_conditions = in_turn([
    what_would_match_is_said_before_enter, a_cell_is_stacked_beside_what_was_written, chips_are_switched_one_by_one,
    chips_are_closed_by_pointer_and_key, a_condition_is_edited_negated_left_alone_and_copied,
    ctrl_enter_stacks_what_was_written, back_returns_to_the_conditions, clear_takes_the_conditions_away,
    right_but_matching_nothing_is_said_neutrally, search_all_leaves_the_other_conditions_out,
    a_json_node_filters_stacks_and_becomes_a_column, a_cell_becomes_a_column, tree_and_participants_stack_too,
    a_chip_says_what_it_hides_by_itself, a_preset_stands_alone_and_knows_what_is_stacked,
], begun_again)  # fmt: skip
