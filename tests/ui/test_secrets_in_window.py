"""No secret of a log is anywhere in the window, wherever the log holds it and whatever is looked at."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QPainter
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from inspector.diagnostics.crash_report import Environment, Failures, ReportChoices, compose_report, describe_failures
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.app.application import Application
from inspector.ui.dialogs.environment_facts import opened
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.panel import TABS
from inspector.ui.panels.latency.panel import LatencyPanel
from inspector.ui.window.panels import PANELS
from tests.leaky import ADDRESS, BEARER, KEYED, QUERY, SECRET, leaky, leaky_lines
from tests.ui.walking import said_by
from tests.ui.windows import panel_of, panes_of, run_in_window, until, window_on


@pytest.fixture
def panes(application: Application) -> Panes:
    window = window_on(application, leaky())
    window.resize(2_400, 1_600)
    window.show()
    for dock in ("Findings", "Latency"):
        window.docks[dock].show()
    return panes_of(window)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is painted."""
    found: list[str] = []
    paint = QPainter.drawText

    def recording(painter: QPainter, *args: Any) -> Any:
        found.extend(arg for arg in args if isinstance(arg, str))
        return paint(painter, *args)

    monkeypatch.setattr(QPainter, "drawText", recording)
    return found


def leaks(shown: QWidget, painted: list[str], what: str) -> set[str]:
    """Where a widget holds the secret now."""
    shown.grab()
    said = [*said_by(shown), *(("painted", text) for text in painted)]
    painted.clear()
    return {f"{what}: {where}: {text[:160]}" for where, text in said if SECRET[:6] in text}


@pytest.mark.sweep
def test_no_message_shows_a_secret_or_copies_one(panes: Panes, painted: list[str]) -> None:
    window = panes.messages.window()
    found = leaks(window, painted, "window")
    clipboard = QGuiApplication.clipboard()
    for message in range(len(panes.client.document.capture)):
        panes.go_to(message)
        for tab in TABS:
            panes.details.show_tab(tab)
            panes.details.grab()
        found |= leaks(panes.details, painted, f"No. {message + 1}")
        for view in panes.details.findChildren(FittedList):
            for row in range(len(view.rows)):
                view.copy_row(row)
                found |= {f"copied: {clipboard.text()}"} if SECRET in clipboard.text() else set()
    found |= leaks(window, painted, "window")
    assert sorted(found) == []


@pytest.mark.sweep
def test_no_context_participant_scope_or_panel_shows_a_secret(panes: Panes, painted: list[str]) -> None:
    window = panes.messages.window()
    found: set[str] = set()
    contexts = panes.client.document.analysis.contexts
    for space in contexts.spaces:
        for node in [-1, *contexts.tree.walk(space)]:
            panes.show_context(space, node)
            found |= leaks(panes.details, painted, "context page")
    for space, name in list(panes.client.document.analysis.participants.all):
        panes.details.show_participant(space, name)
        found |= leaks(panes.details, painted, "participant page")
    for row in range(panes.participants.model.rowCount()):
        found |= {text for _, text in said_by(panes.participants.menu_for(row)) if SECRET[:6] in text}
    panes.contexts.expand_all()
    for row in range(panes.contexts.model.rowCount()):
        menu = panes.contexts.menu_for(row)
        found |= {text for _, text in said_by(menu) if SECRET[:6] in text}
        next(action for action in menu.actions() if action.isCheckable()).trigger()
        scope = window.findChild(QWidget, "scopeChip")
        assert scope is not None
        found |= leaks(scope, painted, "scope")
    panel_of(panes, "latency", LatencyPanel).choice.buttons["By participant"].click()
    found |= leaks(window, painted, "window")
    assert sorted(found) == []


async def _walk(application: Application, painted: list[str], found: set[str]) -> None:
    window = window_on(application, leaky())
    window.resize(2_400, 1_600)
    window.show()
    panes = panes_of(window)
    for panel in PANELS:
        window.actions_by_id[panel.action].trigger()
        await asyncio.sleep(0)
        found |= leaks(window, painted, panel.title)
    window.actions_by_id["view.messages"].trigger()
    for message in range(0, len(panes.client.document.capture), 12):
        panes.go_to(message)
        found |= leaks(panes.messages, painted, f"rows near No. {message + 1}")
    found |= {f"title: {window.windowTitle()}"} if SECRET[:6] in window.windowTitle() else set()
    found |= {f"status: {text}" for text in [window.status.words()] if SECRET[:6] in text}
    every = ReportChoices(file_names=True, error_words=True, log_lines=True)
    failures = Failures()
    failures.count_failure("task", ValueError(f"no tool {QUERY}"), BEARER)
    around = Environment([], application.settings.model_dump(), [opened(panes.client, 1, 2)], [f"read {ADDRESS}"])
    report = compose_report("Error", describe_failures(failures, every), around, every, mask_text)
    assert "ValueError" in report
    found |= {f"crash report: {report}"} if SECRET[:6] in report else set()


@pytest.mark.sweep
def test_no_view_panel_title_or_report_shows_a_secret(qapp: QApplication, painted: list[str]) -> None:
    found: set[str] = set()
    run_in_window(qapp, lambda application: _walk(application, painted, found))
    assert sorted(found) == []


class Menus:
    """Menus that open: their texts and copies are searched, no menu is shown."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found, self.copies, self.where = set[str](), 0, ""
        for way in ("exec", "popup"):
            monkeypatch.setattr(QMenu, way, lambda menu, *_args: self.search(menu))
        QGuiApplication.clipboard().dataChanged.connect(self.search_clipboard)

    def search(self, menu: QMenu) -> None:
        self.found |= {f"{self.where} menu: {text[:160]}" for _, text in said_by(menu) if SECRET[:6] in text}
        for action in menu.actions():
            if isinstance(below := action.menu(), QMenu):
                self.search(below)
            elif action.isEnabled() and "copy" in action.text().replace("&", "").lower():
                action.trigger()

    def search_clipboard(self) -> None:
        text, self.copies = QGuiApplication.clipboard().text(), self.copies + 1
        self.found |= {f"{self.where} copied: {text[:160]}"} if SECRET[:6] in text else set()

    def open_for(self, view: QAbstractItemView) -> None:
        """Opens the menu of each of the first rows, as a right click does."""
        for row in range(min(view.model().rowCount(), 6)):
            place = view.visualRect(view.model().index(row, 0))
            point = QPoint(place.x() + 5, place.center().y())
            event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.viewport().mapToGlobal(point))
            QApplication.sendEvent(view.viewport(), event)
            if view.contextMenuPolicy() == Qt.ContextMenuPolicy.CustomContextMenu:
                view.customContextMenuRequested.emit(point)


@pytest.mark.sweep
def test_no_menu_copy_or_log_line_holds_a_secret_of_a_file_or_of_its_name(
    qapp: QApplication, painted: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    path = tmp_path / f"password={SECRET}" / f"token={SECRET}.jsonl"
    path.parent.mkdir()
    path.write_bytes(leaky_lines())
    menus = Menus(monkeypatch)

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.resize(1_900, 1_300)
        window.show()
        window.opening.open_path(path)
        await until(lambda: window.panes and len(window.panes.client.document.capture) > 50, "the log")
        for panel in PANELS:
            window.actions_by_id[panel.action].trigger()
            await asyncio.sleep(0.05)
            for view in window.findChildren(QAbstractItemView):
                if view.isVisible() and view.model() is not None:
                    menus.where = f"{panel.title} {type(view).__name__}"
                    menus.open_for(view)
        for view, message in (("view.messages", 2), ("view.conversation", 4), ("view.model_sees", 30)):
            panes_of(window).go_to(message)
            window.actions_by_id[view].trigger()
            await asyncio.sleep(0.05)
            for name, action in window.actions_by_id.items():
                if name.startswith("edit.copy") and action.isEnabled():
                    menus.where = name
                    action.trigger()
        for shown in QApplication.topLevelWidgets():
            menus.found |= leaks(shown, painted, type(shown).__name__)

    with caplog.at_level(logging.DEBUG, "inspector"):
        run_in_window(qapp, steps)
    QGuiApplication.clipboard().dataChanged.disconnect(menus.search_clipboard)
    assert menus.copies > 30
    assert sorted(menus.found) == []
    assert SECRET[:6] not in caplog.text


@pytest.mark.parametrize("text", [f"{'x' * 480} {ADDRESS}", f"eyJhbGciOiJ9.{SECRET * 900}.c2ln", f"Bearer {SECRET}"])
def test_a_long_text_is_masked_before_it_is_cut(text: str) -> None:
    for limit in (20, 60, 500):
        assert SECRET[:6] not in safe_line(text, limit)
        assert SECRET[:6] not in tool_tip(text, limit)
        assert SECRET[:6] not in safe_line(text + " more" * 50_000, limit)


def test_masking_twice_is_masking_once() -> None:
    for text in (BEARER, QUERY, ADDRESS, json.dumps(KEYED), json.dumps(json.dumps(KEYED))):
        assert safe_line(safe_line(text)) == safe_line(text)
