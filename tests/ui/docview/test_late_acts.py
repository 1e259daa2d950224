"""Acts of the user while answers are on their way: they concern what was on screen, and no answer undoes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import RequestError
from inspector.engine.requests import message_ids, value_tree
from inspector.engine.requests.comparison import CompareMessages
from inspector.engine.requests.views import ArrangeRows, FilterRows, PlacesOfMessages, SortRows
from inspector.ui.app.application import Application
from inspector.ui.dialogs.go_to import GoToDialog
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.difference import DifferenceDialog
from inspector.ui.panels.details.json_tree import TreePage
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.panels.tokens.panel import TokensPanel
from inspector.ui.panels.waste.panel import WastePanel
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, received
from tests.streamed import HEAD, asked, chunk, closed
from tests.streamed import opened as opened_stream
from tests.ui.engines import in_engine, patch_engine
from tests.ui.find import child
from tests.ui.late_answers import LateAnswers, note_requests
from tests.ui.panels.marks.test_kept_marks import log, on_disk, opened
from tests.ui.panels.model_sees.test_panel import counted, lines, row_of
from tests.ui.window.test_main_window import type_filter
from tests.ui.windows import bury, panel_of, panes_of, run_in_window, story, until, window_on
from tests.waste import wasteful

COLLAPSED = 5
"""The result of `story` that was collapsed."""


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> LateAnswers:
    return LateAnswers(monkeypatch)


@pytest.fixture
def window(application: Application, late: LateAnswers, qtbot: QtBot) -> MainWindow:
    window = window_on(application, story())
    with qtbot.waitExposed(window):
        window.show()
    late.settle()
    return window


@pytest.fixture
def panes(window: MainWindow) -> Panes:
    return panes_of(window)


def test_a_row_of_model_sees_keeps_the_moment(application: Application, late: LateAnswers) -> None:
    window = window_on(application, counted(document_of(*lines())))
    late.settle()
    window.show()
    window.actions_by_id["view.model_sees"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    late.settle(lambda: len(panel.source) > 0)
    assert panel.context_state.moment_message is None
    panel.go_to_row(row_of(panel, 4))
    late.settle(lambda: panes_of(window).messages.current_message() == 3)
    QTest.qWait(50)
    late.settle()
    assert panel.context_state.moment_message is None


def test_what_happened_stays_when_the_context_of_a_message_arrives(panes: Panes, late: LateAnswers) -> None:
    panes.go_to(1)
    panes.show_account()
    late.settle()
    assert panes.details.shows_account


def test_back_to_what_happened_in_another_view(panes: Panes, late: LateAnswers) -> None:
    panes.filter_state.apply_filter("no == 1")
    late.settle()
    panes.show_account()
    late.settle()
    panes.details.links.message_requested.emit(7)
    late.settle(lambda: panes.details.message == 7)
    panes.go_back()
    late.settle()
    assert panes.filter_state.filter.text == "no == 1"
    assert panes.details.shows_account


def test_a_click_is_not_undone_by_the_next_hit(panes: Panes, late: LateAnswers) -> None:
    panes.go_to(0)
    panes.find_in_view.open()
    panes.find_in_view.bar.editor.setText("slow")
    late.settle()
    panes.find_in_view.step(1)
    panes.messages.go_to(8)
    late.settle()
    assert panes.messages.current_message() != 1


def test_scrolling_is_not_undone_by_the_lines_of_an_original(panes: Panes, late: LateAnswers) -> None:
    view = panes.messages.view
    view.setFixedHeight(120)
    panes.go_to(COLLAPSED)
    late.settle()
    view.verticalScrollBar().setValue(0)
    assert view.toggle_original(COLLAPSED)
    view.verticalScrollBar().setValue(2 * view.paints.metrics.row)
    late.settle(lambda: panes.messages.model.is_expanded(COLLAPSED))
    assert view.verticalScrollBar().value() == 2 * view.paints.metrics.row


def test_hiding_bookkeeping_does_not_take_the_selection_back(panes: Panes, late: LateAnswers) -> None:
    panes.go_to(0)
    late.settle()
    panes.messages.set_bookkeeping_hidden(not panes.rows.hides_bookkeeping)
    panes.messages.go_to(8)
    late.settle()
    assert panes.messages.current_message() == 8


def test_enter_goes_to_the_match_that_arrives(panes: Panes, late: LateAnswers) -> None:
    box = panes.contexts.find_box
    box.setText("why")
    QTest.keyClick(box, Qt.Key.Key_Return)
    late.settle()
    current = panes.contexts.current
    assert current is not None
    assert current.node >= 0


def test_the_menu_of_a_value_copies_that_value(panes: Panes, late: LateAnswers) -> None:
    panes.go_to(0)
    panes.details.show_tab("Tree")
    late.settle()
    page = panes.details.pages["Tree"]
    assert isinstance(page, TreePage)
    model = page.tree.model()
    row = next(row for row in range(model.rowCount()) if model.index(row, 0).data() == "payload")
    menu = page.tree.menu_for(model.index(0, 1, model.index(row, 0)))
    panes.go_to(1)
    late.settle(lambda: page.tree.model() is not model)
    next(one for one in menu.actions() if one.text() == "Copy value").trigger()
    late.settle()
    assert QGuiApplication.clipboard().text() == "Hello"


def test_findings_are_copied_as_they_were_listed(application: Application, late: LateAnswers) -> None:
    said = [envelope("chat", correlation_id=["never-said"]) for _ in range(3)]
    notes = [envelope("system/presence", sender="coder") for _ in range(3)]
    window = window_on(application, document_of(*said, *notes))
    late.settle()
    window.show()
    panel = panes_of(window).findings
    window.docks["Findings"].show()
    panel.refresh()
    late.settle(lambda: len(panel.source) > 0)
    rows, heads = len(panel.source), list(filter(panel.source.is_head, range(len(panel.source))))
    titles = [panel.row_text(row) for row in heads]
    assert len(titles) > 1
    panel._copy_list()
    panel._open_all(False)
    assert len(panel.source) < rows
    late.settle()
    copied = QGuiApplication.clipboard().text().split("\n")
    assert (len(copied), [copied[row] for row in heads]) == (rows, titles)


def test_marks_on_their_way_to_the_file_are_written_when_the_window_closes(
    qapp: QApplication, tmp_path: Path, late: LateAnswers
) -> None:
    path = log(tmp_path / "log.jsonl")

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.marking.toggle(1)
        window.marking._write_soon()
        window.close()
        await until(lambda: on_disk(path) == [2], "the marks")

    run_in_window(qapp, steps)


def test_a_comparison_is_closed_before_its_answer(window: MainWindow, panes: Panes, late: LateAnswers) -> None:
    dialog = DifferenceDialog(window.theme, panes.client, lambda aspect: CompareMessages(0, 1, aspect), window)
    dialog.open()
    dialog.reject()
    bury()
    late.settle()


def test_the_menu_of_token_usage_is_complete_when_it_opens(window: MainWindow, panes: Panes, late: LateAnswers) -> None:
    panel = panel_of(panes, "tokens", TokensPanel)
    window.docks["Tokens"].show()
    late.settle(lambda: panel.view.model().rowCount() > 0)
    menu = panel.view.menu_for(0)
    texts = [action.text() for action in menu.actions()]
    assert len(texts) > 2
    assert texts[-1] == "Copy row"
    menu.deleteLater()
    bury()
    late.settle()


def test_a_filter_is_typed_and_applied_while_the_engine_is_busy(
    window: MainWindow, panes: Panes, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_request: object) -> None:
        raise RequestError("The engine does not answer in time. Try it again.")

    monkeypatch.setattr(panes.client, "answer_now", refuse)
    for text in ("slow", "no ==", "context == $context"):
        type_filter(window, text)
        panes.messages.go_to(5)
        late.settle()
        panes.messages.go_to(0)
        late.settle()
    type_filter(window, "no == 1")
    QTest.keyClick(child(window, FilterEditor), Qt.Key.Key_Return)
    late.settle()
    assert panes.rows.visible.tolist() == [0]
    panes.filter_state.apply_own_text("no ==")
    assert panes.filter_state.filter.text == "no == 1"


def test_a_search_for_ids_that_fails_ends(
    window: MainWindow, panes: Panes, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise RequestError("The log cannot be read.")

    patch_engine(monkeypatch, message_ids, "Search", fail)
    dialog = GoToDialog(window.theme, panes.client, VIEW, window)
    dialog.field.setText("m12345")
    late.settle()
    assert child(dialog, TextLabel, "goToState").text() == "The log cannot be read."


def test_the_rows_of_a_chain_are_asked_for_together(
    application: Application, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [envelope("chat", id=f"k{n}", correlation_id=[f"k{n - 1}"] if n else None) for n in range(30)]
    stream = [HEAD, asked("r1"), opened_stream("s"), chunk("s", "First "), chunk("s", "this."), closed("s")]
    window = window_on(application, document_of(*stream, *map(received, said)))
    late.settle()
    panes = panes_of(window)
    panes.filter_state.apply_filter("no in {2, 3, 4, 5, 10}")
    late.settle()
    sent = note_requests(monkeypatch)
    panes.messages.go_to(9)
    chain = panes.messages.view.selection.chain
    late.settle(lambda: len(chain._chain.turn) > 10)
    assert panes.rows.state.has_folded
    assert sum(isinstance(one, PlacesOfMessages) for one in sent) == 1


def test_changes_of_replaced_rows_ask_for_all_rows_once(
    application: Application, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing = GrowingLog()
    growing.write(envelope("chat"), envelope("chat"))
    panes = panes_of(window_on(application, growing.document))
    late.settle()
    client = panes.client
    client.answer_now(FilterRows(VIEW, "no > 1"))
    sent = note_requests(monkeypatch)
    for _ in range(3):
        growing.write(envelope("chat"))
        panes.bridge.flush()
    late.settle()
    assert sum(isinstance(one, ArrangeRows) for one in sent) == 1
    assert panes.rows.visible.tolist() == [1, 2, 3, 4]


def test_the_rows_of_waste_are_asked_for_together(
    application: Application, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = [HEAD, asked("r1"), opened_stream("s"), chunk("s", "First "), chunk("s", "this."), closed("s")]
    document = document_of(*map(received, wasteful()), *stream)
    document.count_tokens()
    window = window_on(application, document)
    window.show()
    late.settle()
    panes = panes_of(window)
    panes.filter_state.apply_filter("no > 21")
    late.settle()
    sent = note_requests(monkeypatch)
    window.actions_by_id["analyze.waste"].trigger()
    late.settle(lambda: len(panel_of(panes, "waste", WastePanel).rows) > 3)
    panel_of(panes, "waste", WastePanel).view.grab()
    late.settle()
    assert panes.rows.state.has_folded
    assert sum(isinstance(one, PlacesOfMessages) for one in sent) == 1


def test_a_hidden_row_of_model_sees_keeps_the_moment(application: Application, late: LateAnswers) -> None:
    window = window_on(application, counted(document_of(*lines())))
    late.settle()
    window.show()
    panes_of(window).filter_state.apply_filter("no == 1")
    window.actions_by_id["view.model_sees"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    late.settle(lambda: len(panel.source) > 0)
    moment, followed = panel.context_state.moment_message, panes_of(window).plot_choices.followed
    panel.go_to_row(row_of(panel, 4))
    late.settle(lambda: panes_of(window).messages.current_message() == 3)
    assert (panel.context_state.moment_message, panes_of(window).plot_choices.followed) == (moment, followed)
    panes_of(window).go_to(5)
    late.settle(lambda: panel.context_state.moment_message == 5)


def engine_sorting(document: CaptureDocument) -> object:
    """The order of the rows of the table, as the engine has it."""
    (held,) = (one for one in document.observers if isinstance(one, OpenDocument))
    return held.view(VIEW).rows.sorted_by


def test_a_cancelled_sort_that_the_engine_has_completed_is_undone(panes: Panes, late: LateAnswers) -> None:
    client = panes.client
    panes.messages.sorter.sort("no", descending=True)
    client.answer_now(SortRows(VIEW, "no", True))
    panes.messages.view.pill_clicked.emit()
    late.settle()
    assert panes.rows.sorted_by is None
    assert in_engine(client, engine_sorting) is None


def test_a_copy_that_fails_ends_with_a_sentence(
    panes: Panes, late: LateAnswers, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise RequestError("The log cannot be read.")

    panes.go_to(0)
    panes.details.show_tab("Tree")
    late.settle()
    page = panes.details.pages["Tree"]
    assert isinstance(page, TreePage)
    patch_engine(monkeypatch, value_tree, "_in_tree", fail)
    page.tree.setCurrentIndex(page.tree.model().index(0, 0))
    with qtbot.captureExceptions() as raised:
        QTest.keySequence(page.tree, QKeySequence.StandardKey.Copy)
        late.settle()
    assert [str(error) for _, error, _ in raised] == ["The log cannot be read."]
