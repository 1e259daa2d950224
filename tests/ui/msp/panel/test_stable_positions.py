"""What the user works with stays under the pointer and in the order of the Tab key, whatever comes and goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.msp.document import SessionDocument
from inspector.settings import Settings
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.indicator import Indicator, StillArea
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.msp.panel.test_indicator import MAIN, document_of, shown
from tests.ui.msp.test_editing import at_work, report
from tests.ui.waiting import pass_time

pytestmark = pytest.mark.styled

__all__ = ["report"]


@pytest.fixture
def document(tmp_path: Path) -> SessionDocument:
    return document_of(tmp_path / "desk.json", MAIN)


@pytest.fixture
def indicator(document: SessionDocument, theme_controller: ThemeController, qtbot: QtBot) -> Indicator:
    return shown(qtbot, theme_controller, Settings(), document)


def test_the_policy_stays_in_place_when_sentences_come_and_go(
    indicator: Indicator, document: SessionDocument, qtbot: QtBot
) -> None:
    indicator.resize(300, 420)
    policy = indicator.page.policy.recent
    child(indicator, StillArea).ensureWidgetVisible(policy)
    policy.setFocus()

    def place() -> QPoint:
        return policy.mapTo(indicator, QPoint())

    before, notes = place(), indicator.page.notes.notes
    assert notes
    document.set_policy(document.subsessions[0], recent_parent_messages=0)
    qtbot.waitUntil(lambda: indicator.page.notes.notes != notes)
    assert place() == before
    document.undo()
    qtbot.waitUntil(lambda: indicator.page.notes.notes == notes)
    assert place() == before


def test_tab_goes_down_the_indicator(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        indicator = panel.indicator
        assert indicator is not None
        indicator.counts.count_here()
        page, body = indicator.page, child(indicator, QWidget, "subsessionIndicatorBody")
        QTest.mouseClick(page.order.more, Qt.MouseButton.LeftButton)  # further rows, made now
        indicator.read_button.setFocus()
        seen: list[int] = []
        focus = QApplication.focusWidget()
        while focus is not None and indicator.isAncestorOf(focus):
            seen.append(focus.mapTo(body, QPoint()).y())
            QTest.keyClick(focus, Qt.Key.Key_Tab)
            focus = QApplication.focusWidget()
        assert seen == sorted(seen)
        assert len(seen) > len(page.order.rows) > 5

    at_work(qapp, report, steps)


def test_the_policy_of_a_document_that_is_only_read_cannot_be_changed(indicator: Indicator) -> None:
    policy = indicator.page.policy
    indicator.set_read_only("It is compressed.")
    assert not policy.snapshots.isEnabled()
    assert (policy.note.text(), policy.note.isHidden()) == ("It is compressed.", False)
    indicator.set_read_only("")
    assert policy.snapshots.isEnabled()
    assert policy.note.isHidden()


def test_buttons_of_the_chat_are_whole_however_long_the_label_is(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        document = window.document.msp
        assert document is not None
        sub = document.open_subsession(document.sessions[0], "sensors " * 7)
        panel.show_subsession(sub.key)
        head = panel.chat.head
        for is_open in (True, False):
            if not is_open:
                document.close_subsession(sub, "done", append_to_parent=False)
            for width in (320, 420, 560):
                head.setFixedWidth(width)
                pass_time(20)
                buttons = [one for one in (head.discard, head.close_button, head.merge, head.new) if one.isVisible()]
                assert len(buttons) >= 2
                assert all(one.width() >= min(one.sizeHint().width(), one.maximumWidth()) for one in buttons), width

    at_work(qapp, report, steps)


def test_where_there_is_little_room_the_list_goes_before_the_rest_is_cut(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        indicator = panel.indicator
        assert indicator is not None
        panel.list.setFocus()
        for zoom, is_listed in ((1.0, True), (2.0, False), (1.0, True)):
            window.theme.set_zoom(zoom)
            window.resize(1280, 800)
            pass_time(20)
            assert panel.list.isVisible() == is_listed
            assert is_listed or panel.chat.conversation.view.hasFocus()
            area = child(indicator, StillArea)
            assert child(area, QWidget, "subsessionIndicatorBody").width() <= area.viewport().width()

    at_work(qapp, report, steps)
