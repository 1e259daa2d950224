"""The round of the Tab key leaves alone what it passes: PySide must not lose what menus are made of."""

from __future__ import annotations

import gc
import re
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import inspector.ui
from inspector.engine.requests.finding_rows import Grouping
from inspector.filters.visible import Reach, Scope
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import bury, panes_of

BORROWING = re.compile(r"\b(nextInFocusChain|previousInFocusChain|topLevelWidget|actionGroup)\(")
"""PySide takes what these return for a part of what they were asked of; with its end, theirs has come as well."""


def tab_around(window: MainWindow, qtbot: QtBot, presses: int = 12) -> None:
    for _ in range(presses):
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)


def end_what_is_gone() -> None:
    bury()
    gc.collect()


def test_menus_outlive_the_widgets_that_tab_passed_before_theirs(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.stack_filter('kind like "*"')
    window.notices.show_sentence("Something to be closed.", link=("Do it", lambda: None))
    panes.findings.head.show()
    tab_around(window, qtbot)
    window.pane_focus.step(1)
    window.notices.dismiss_all()
    panes.filter_state.clear()
    window.start_page.deleteLater()
    window.presets.show_presets()
    end_what_is_gone()
    space = int(panes.client.document.capture.columns["space"][0])
    node = panes.client.document.analysis.contexts.node_of(3)
    for reach in Reach:
        panes.filter_state.set_scope(Scope(space, node, reach))
        assert window.view_head.scope.words().endswith(reach.value)
    for grouping in Grouping:
        panes.findings.group_by(grouping)
    panes.findings.head.show_choice(Grouping.CODE, codes_off=0, heads=True, findings=True)


def test_nothing_is_asked_of_pyside_that_it_gives_away_with_its_giver() -> None:
    folder = Path(inspector.ui.__file__).parent
    found = [
        f"{path.relative_to(folder)}: {match[0]}"
        for path in sorted(folder.rglob("*.py"))
        for match in BORROWING.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
