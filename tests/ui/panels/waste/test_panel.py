"""The waste panel: what it lists, where it leads, how it follows, what it says while there is nothing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.views.waste import WasteTotals
from inspector.document.document import CaptureDocument
from inspector.settings import Display, Settings
from inspector.ui.app.application import Application
from inspector.ui.docview import panes
from inspector.ui.docview.panes import Panes
from inspector.ui.look.roles import Role
from inspector.ui.panels.waste import panel as waste_panel
from inspector.ui.panels.waste.panel import WastePanel
from inspector.ui.panels.waste.rows import waste_line
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.engines import catch_up
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import in_turn, numbers, panel_of, panes_of, window_on
from tests.waste import HINT, TRANSIENT, asked, records, wasteful


@pytest.fixture
def document() -> CaptureDocument:
    made = document_of(*wasteful())
    made.count_tokens()
    return made


@pytest.fixture
def window(application: Application, document: CaptureDocument) -> MainWindow:
    return window_on(application, document)


def opened(window: MainWindow) -> WastePanel:
    window.show()
    window.actions_by_id["analyze.waste"].trigger()
    return panel_of(panes_of(window), "waste", WastePanel)


def searched(panes: Panes) -> WasteTotals | None:
    """Returns the sums of the last search, if there was one."""
    figures = panes.waste_figures.answer
    return figures.totals if figures is not None else None


def looked(qtbot: QtBot, window: MainWindow) -> WastePanel:
    panel = opened(window)
    qtbot.waitUntil(lambda: searched(panes_of(window)) is not None)
    return panel


def listed(panel: WastePanel) -> list[tuple[str, str]]:
    lines = [waste_line(panel.rows.wastes[row]) for row in range(panel.model.rowCount())]
    return [(line.words, line.number) for line in lines]


def it_is_asked_for_in_the_menu_and_lists_what_costs_most_first(window: MainWindow, qtbot: QtBot) -> None:
    assert window.docks["Waste"].isHidden()
    panel = looked(qtbot, window)

    assert listed(panel) == [
        ("better by reference (likely)", "No. 16"), ("fetched twice", "No. 7"),
        ("never referred to (likely)", "No. 13"), ("never consumed", "No. 11"),
        ("tools listed again (likely)", "No. 19"), ("tools never called (likely)", "No. 2"),
    ]  # fmt: skip
    tokens = [one.tokens for one in panel.rows.wastes]
    assert tokens == sorted(tokens, reverse=True)
    assert waste_line(panel.rows.wastes[0]).tokens == f"{tokens[0]:,}"
    assert panel.head.count() == "6"
    assert panel.head.hint.text.startswith(f"About {sum(tokens):,} tokens might be avoidable, ")
    assert panel.head.hint.text.endswith("of them certainly; estimate (cl100k_base).")


def test_it_is_looked_for_unseen_once_tokens_are_counted(qtbot: QtBot, application: Application) -> None:
    document = document_of(*wasteful())
    window = window_on(application, document)
    panes = panes_of(window)
    qtbot.wait(10)
    assert searched(panes) is None
    document.count_tokens()
    document.notify_counted()
    panes.bridge.flush()
    qtbot.waitUntil(lambda: searched(panes) is not None)
    assert len(panel_of(panes, "waste", WastePanel).rows.wastes) == 6


def a_row_selects_its_message_and_return_goes_there(window: MainWindow, qtbot: QtBot) -> None:
    panel = looked(qtbot, window)
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_Down)
    assert panes_of(window).messages.current_message() == 15
    qtbot.keyClick(panel.view, Qt.Key.Key_Down)
    assert panes_of(window).messages.current_message() == 6
    asked_back: list[bool] = []
    panel.left.connect(lambda: asked_back.append(True))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert (panes_of(window).messages.current_message(), asked_back) == (6, [True])


def the_menu_goes_to_messages_and_filters_by_them(window: MainWindow, qtbot: QtBot) -> None:
    panel = looked(qtbot, window)
    menu = panel.menu_for(1)
    titles = [action.text() for action in menu.actions() if action.text()]
    assert titles[:3] == ["Go to No. 4", "Go to No. 6", "Go to No. 7"]
    menu.actions()[0].trigger()
    assert panes_of(window).messages.current_message() == 3
    next(action for action in menu.actions() if action.objectName() == "filter.replace").trigger()
    assert numbers(window) == [4, 6, 7]
    next(action for action in menu.actions() if action.objectName() == "copy.sentence").trigger()
    assert "No. 4 had answered the same" in QApplication.clipboard().text()
    menu.close()


def all_of_it_can_be_shown_alone_and_what_is_certain_be_listed_alone(window: MainWindow, qtbot: QtBot) -> None:
    panel = looked(qtbot, window)
    by_name = {action.objectName(): action for action in panel.head.menu.actions()}
    by_name["sureOnly"].trigger()
    assert listed(panel) == [("fetched twice", "No. 7"), ("never consumed", "No. 11")]
    by_name["filterWaste"].trigger()
    assert numbers(window) == [4, 6, 7, 10, 11]


def the_list_and_a_row_are_copied(window: MainWindow, qtbot: QtBot) -> None:
    panel = looked(qtbot, window)
    panel.head.copy_clicked.emit()
    lines = QApplication.clipboard().text().splitlines()
    assert len(lines) == 6
    assert lines[1].split("\t")[1:4] == ["fetched twice", "read_file", "No. 7"]


def rows_say_everything_to_a_screen_reader(window: MainWindow, qtbot: QtBot) -> None:
    panel = looked(qtbot, window)
    index = panel.model.index(1, 0)
    said = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert said.startswith(f"{panel.rows.wastes[1].tokens:,} tokens, fetched twice, lead called read_file again")
    assert said.endswith("read_file, No. 7")
    assert "Use the first answer again." in str(index.data(Qt.ItemDataRole.ToolTipRole))
    assert index.data(Role.MESSAGE) == 6
    panes_of(window).filter_state.apply_filter("no == 1")
    assert str(index.data(Qt.ItemDataRole.AccessibleTextRole)).endswith("hidden by the view")


def test_nothing_wasted_is_said(qtbot: QtBot, application: Application) -> None:
    document = document_of(envelope())
    document.count_tokens()
    panel = looked(qtbot, window_on(application, document))
    assert panel.view.empty_text == "No avoidable tokens found."
    assert panel.head.hint.text == ""


def test_before_tokens_are_counted_it_waits_and_says_so(qtbot: QtBot, application: Application) -> None:
    document = document_of(*wasteful())
    window = window_on(application, document)
    panel = opened(window)
    assert panel.view.empty_text == "Tokens are being counted."
    document.count_tokens()
    document.notify_counted()
    qtbot.waitUntil(lambda: searched(panes_of(window)) is not None)
    assert panel.head.count() == "6"


def test_where_tokens_are_not_counted_at_all_it_says_so(application: Application) -> None:
    panel = opened(window_on(application, document_of(*wasteful())))
    panel.apply_settings(Settings(display=Display(count_tokens=False)))
    assert panel.view.empty_text == "Token counting is off. Turn it on in Settings > Display."


def test_it_follows_the_traffic(qtbot: QtBot, application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panes, "_WASTE_MS", 0)
    log = GrowingLog()
    log.write(*asked("read_file", records(1), {"path": "/a"}))
    document = log.document
    document.count_tokens()
    window = window_on(application, document)
    panel = looked(qtbot, window)
    assert panel.view.empty_text == waste_panel.NOTHING
    log.write(*asked("read_file", records(1), {"path": "/a"}), envelope("chat", {"text": "Customer-7"}))
    document.count_tokens()
    document.notify_counted()
    qtbot.waitUntil(lambda: listed(panel) == [("fetched twice", "No. 4")])


def test_while_live_it_waits_with_its_verdict_until_traffic_is_over(
    qtbot: QtBot, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panes, "_WASTE_MS", 0)
    document = document_of(*asked("get_step", "Follow it.", meta=HINT), *asked("search", records(1), meta=TRANSIENT))
    document.count_tokens()
    document.live = True
    window = window_on(application, document)
    panel = looked(qtbot, window)
    assert listed(panel) == []
    document.live = False
    catch_up(panes_of(window).client)
    qtbot.waitUntil(lambda: listed(panel) == [("never consumed", "No. 4")])


def test_a_look_goes_on_while_it_is_hidden_and_ends_with_the_document(
    qtbot: QtBot, application: Application, document: CaptureDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = window_on(application, document)
    answer_slowly(monkeypatch, panes_of(window).client)
    panel, figures = opened(window), panes_of(window).waste_figures
    figures.request_now()
    assert figures.is_pending
    window.docks["Waste"].hide()
    qtbot.waitUntil(lambda: searched(panes_of(window)) is not None)
    figures.request_now()
    panel.stop()
    assert not figures.is_pending


def test_names_from_the_wire_are_shown_as_text(qtbot: QtBot, application: Application) -> None:
    lines = [line for _ in range(2) for line in asked("<b>read\u202efile</b>", records(1), {"path": "/a"})]
    document = document_of(*lines)
    document.count_tokens()
    panel = looked(qtbot, window_on(application, document))
    line = waste_line(panel.rows.wastes[0])
    assert "<b>" in line.sentence
    assert "\u202e" not in line.sentence + line.about
    assert "&lt;b&gt;" in str(panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))


def it_says_anew_which_messages_the_table_shows(window: MainWindow, qtbot: QtBot) -> None:
    """Another filter was put in force and the list went on painting what the one before had hidden."""
    panel = looked(qtbot, window)
    qtbot.wait(50)
    seen: list[str] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint:
                seen.append(panes_of(window).rows.filter.text)
            return False

    watch = Watch(panel)
    panel.view.viewport().installEventFilter(watch)
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    qtbot.waitUntil(lambda: 'kind == "chat"' in seen)


def begun_again(window: MainWindow) -> None:
    """Everything is shown, and the pane is not."""
    panes_of(window).filter_state.clear()
    window.docks["Waste"].hide()


test_what_is_listed_and_where_it_leads = in_turn([
    it_is_asked_for_in_the_menu_and_lists_what_costs_most_first, a_row_selects_its_message_and_return_goes_there,
    the_menu_goes_to_messages_and_filters_by_them, the_list_and_a_row_are_copied,
    rows_say_everything_to_a_screen_reader, it_says_anew_which_messages_the_table_shows,
    all_of_it_can_be_shown_alone_and_what_is_certain_be_listed_alone,
], begun_again)  # fmt: skip
