"""Findings in the context tree: the sign, the words, the menu, and following what comes and goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.filters.visible import Scope
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.menu import ContextMenu
from inspector.ui.panels.contexts.panel import ContextsPanel
from tests.builders import document_of, envelope, received
from tests.findings import answer, ask, at, later
from tests.ui.engines import client_of
from tests.ui.live import Live
from tests.ui.trees import follow, tip_of

JOB = "job-7f3a9c"
Make = Callable[[CaptureDocument], ContextsPanel]
Shows = Callable[[ContextsPanel, str, str], bool]


def said(context: Any = None, **fields: Any) -> dict[str, Any]:
    return received(envelope("chat", context=context, ts=at(0), **fields))


def unanswered(context: str, number: int = 1) -> list[Any]:
    return [received(ask(id=f"q{number}", context=context)), received(later(31))]


@pytest.fixture
def panel_of(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Make]:
    documents: list[CaptureDocument] = []

    def make(document: CaptureDocument) -> ContextsPanel:
        documents.append(document)
        panel = ContextsPanel(client_of(document, theme_controller), theme_controller)
        qtbot.addWidget(panel)
        panel.resize(320, 300)
        with qtbot.waitExposed(panel):
            panel.show()
        return panel

    yield make
    for document in documents:
        document.close()


def row_named(panel: ContextsPanel, label: str) -> int:
    return [panel.model.label(row) for row in range(panel.model.rowCount())].index(label)


def words(panel: ContextsPanel, label: str) -> str:
    index = panel.model.index(row_named(panel, label), 0)
    return index.data(Qt.ItemDataRole.AccessibleDescriptionRole)


def tip(panel: ContextsPanel, label: str) -> str:
    return tip_of(panel.model, row_named(panel, label))


def titles(menu: ContextMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


@pytest.fixture
def shows(theme_controller: ThemeController) -> Shows:
    """Says whether a row has pixels of about a colour."""

    def look(panel: ContextsPanel, label: str, token: str) -> bool:
        panel.view.viewport().repaint()
        box = panel.view.visualRect(panel.model.index(row_named(panel, label), 0))
        image: QImage = panel.view.viewport().grab(box).toImage()
        return bool(columns(image, theme_controller.theme.color(token)))

    return look


def columns(image: QImage, color: QColor) -> set[int]:
    """In which columns, counted from the right, an image has pixels of about a colour."""
    parts = (color.red(), color.green(), color.blue())
    found: set[int] = set()
    for x in range(image.width()):
        for y in range(image.height()):
            here = image.pixelColor(x, y)
            if sum(abs(a - b) for a, b in zip((here.red(), here.green(), here.blue()), parts, strict=True)) < 80:
                found.add(image.width() - x)
    return found


def test_a_problem_is_signed_at_its_context_and_all_above(panel_of: Make, shows: Shows):
    panel = panel_of(document_of(*unanswered(f"{JOB}/step"), said("quiet-4f2b71")))
    for label in ("demo", JOB, "step"):
        assert "1 warning" in words(panel, label)
        assert shows(panel, label, "severity.warning")
    for label in ("main", "quiet-4f2b71"):
        assert "warning" not in words(panel, label)
        assert not shows(panel, label, "severity.warning")
    assert "1 warning, here and below" in tip(panel, JOB)


def test_a_note_has_no_sign_and_is_in_the_tooltip(panel_of: Make, shows: Shows):
    panel = panel_of(document_of(said("ctx-1")))
    assert "note" not in words(panel, "ctx-1")
    assert "1 note" in tip(panel, "ctx-1")
    assert not shows(panel, "ctx-1", "severity.note")


def test_the_worst_severity_gives_the_sign_and_the_number_is_that_of_problems(panel_of: Make, shows: Shows):
    panel = panel_of(document_of(*unanswered("ann@example.com"), said("ann@example.com")))
    assert "1 error, 1 warning" in words(panel, "ann@example.com")
    assert shows(panel, "ann@example.com", "severity.error")
    assert not shows(panel, "ann@example.com", "severity.warning")


def test_a_problem_that_appears_or_is_mended_repaints_its_rows(tmp_path: Path, panel_of: Make):
    ended = received(envelope("reasoning/conclusion", {}, context="other-88ac01", ts=at(0)))  # so time changes nothing
    live = Live(tmp_path, received(ask(context=f"{JOB}/step")), said("other-88ac01"), ended)
    panel = panel_of(live.document)
    changed: list[tuple[int, int]] = []
    panel.model.dataChanged.connect(lambda first, last, _: changed.append((first.row(), last.row())))
    live.say(received(later(31)))
    live.document.analysis.catch_up()
    follow(panel, live.document.analysis.catch_up())
    assert "1 warning" in words(panel, JOB)
    rows = {row for first, last in changed for row in range(first, last + 1)}
    assert {0, row_named(panel, JOB), row_named(panel, "step")} <= rows
    assert row_named(panel, "other-88ac01") not in rows
    assert not panel.model.halos.halo(panel.model.code(row_named(panel, "step")), 0.0)
    follow(panel, live.say(received(answer(ts=at(32)))))
    live.document.analysis.catch_up()
    follow(panel, live.document.analysis.catch_up())
    assert "warning" not in words(panel, JOB)


def test_many_problems_at_once_repaint_the_screen(tmp_path: Path, panel_of: Make):
    contexts = [f"job-7f3a{n:04d}" for n in range(501)]
    live = Live(tmp_path, *(received(ask(id=f"q{n}", context=context)) for n, context in enumerate(contexts)))
    panel = panel_of(live.document)
    changed: list[tuple[int, int]] = []
    panel.model.dataChanged.connect(lambda first, last, _: changed.append((first.row(), last.row())))
    follow(panel, live.say(received(later(31))))
    live.document.analysis.catch_up()
    follow(panel, live.document.analysis.catch_up())
    rows = {row for first, last in changed for row in range(first, last + 1)}
    first, last = panel.view.visible_rows()
    assert rows >= {*range(first, last + 1)} - {row_named(panel, "main")}
    assert f"{len(contexts) + 1} warnings" in words(panel, "demo")  # of which one says that the contexts are a flood


def test_what_is_odd_about_a_context_is_in_its_tooltip_and_its_menu(panel_of: Make, qtbot: QtBot):
    panel = panel_of(document_of(said(), said("why-7f3a9c//fs?/"), said("why-7f3a9c/fs?")))
    assert "Irregular: malformed context path, No. 2\n" in tip(panel, "fs?")
    assert "Irregular: unusual characters in a context, No. 2 and 1 more" in tip(panel, "fs?")
    menu = panel.menu_for(row_named(panel, "fs?"))
    assert "Go to No. 2: malformed context path" in titles(menu)
    action = next(a for a in menu.actions() if a.text() == "Go to No. 2: malformed context path")
    with qtbot.waitSignal(panel.message_requested) as asked:
        action.trigger()
    assert asked.args == [1]


def test_the_menu_shows_the_problems_of_a_branch(panel_of: Make):
    panel = panel_of(document_of(*unanswered(f"{JOB}/step"), *unanswered(JOB, 2)))
    asked: list[object] = []
    panel.scope_requested.connect(asked.append)
    panel.filter_requested.connect(lambda text, _mode: asked.append(text))
    row = row_named(panel, JOB)
    menu = panel.menu_for(row)
    next(action for action in menu.actions() if action.text() == "Show 2 messages with a problem").trigger()
    assert asked == [Scope(panel.model.space(row), panel.model.node(row)), "finding.severity >= warning"]
    assert not [title for title in titles(panel.menu_for(row_named(panel, "main"))) if "problem" in title]


def test_the_number_of_problems_is_beside_the_sign_where_there_is_room(
    panel_of: Make, theme_controller: ThemeController
):
    panel = panel_of(document_of(*unanswered(JOB), *unanswered(JOB, 2)))
    row = row_named(panel, JOB)
    wide = panel.view.viewport().grab(panel.view.visualRect(panel.model.index(row, 0))).toImage()
    panel.resize(200, 300)
    panel.view.viewport().repaint()
    narrow = panel.view.viewport().grab(panel.view.visualRect(panel.model.index(row, 0))).toImage()
    amber = theme_controller.theme.color("severity.warning")
    assert max(columns(wide, amber)) > max(columns(narrow, amber))
