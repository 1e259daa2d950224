"""The guide in its window: pages, links, pictures, search, and the page that F1 chooses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence, QTextDocument
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.present import guide
from inspector.ui.app.application import Application
from inspector.ui.dialogs.guide import GuideWindow
from inspector.ui.look.theme import ThemeController, ThemeSetting
from inspector.ui.window.main_window import MainWindow
from inspector.ui.window.panels import PANELS
from tests.pages import ROOT
from tests.samples import first_of
from tests.ui.windows import panes_of, window_on


@pytest.fixture
def reader(theme_controller: ThemeController) -> Iterator[GuideWindow]:
    made = GuideWindow(theme_controller)
    made.show_page(guide.CONTENTS)
    made.show()
    yield made
    made.close()


def title(reader: GuideWindow) -> str:
    return reader.windowTitle()


@pytest.mark.parametrize("setting", first_of(["light", "dark"]))
def test_every_page_is_rendered_with_its_pictures(
    reader: GuideWindow, theme_controller: ThemeController, setting: ThemeSetting
) -> None:
    theme_controller.set_setting(setting)
    for page in guide.pages():
        reader.show_page(page.name)
        text = reader.view.toPlainText()
        assert text.startswith(page.title.replace("`", "")), page.file
        assert "](" not in text or "`" in guide.text_of(page), page.file
        bar = reader.view.horizontalScrollBar()
        assert bar.maximum() == 0 or "```" in guide.text_of(page) or "|" in guide.text_of(page), page.file


def test_a_new_window_shows_the_top_of_its_page_at_the_width_of_the_column(theme_controller: ThemeController) -> None:
    made = GuideWindow(theme_controller)
    made.resize(1_600, 1_000)
    made.show_page("first-steps")
    made.show()
    try:
        assert made.view.verticalScrollBar().value() == 0
        assert made.view.document().textWidth() == made.view.viewport().width() < 800
        assert not made.buttons["back"].isEnabled()
        made.resize(900, 700)
        assert made.view.document().size().width() <= made.view.viewport().width()  # its pictures shrink too
    finally:
        made.close()


def test_zooming_keeps_the_hits_highlighted(reader: GuideWindow, theme_controller: ThemeController) -> None:
    reader.show_page("tap")
    reader.field.setText("uninstall")
    theme_controller.set_zoom(1.2)
    hits = reader.view.extraSelections()
    assert hits
    assert all(hit.cursor.selectedText().casefold() == "uninstall" for hit in hits)  # pyright: ignore[reportAttributeAccessIssue]


def test_links_go_to_pages_and_headings_and_back(reader: GuideWindow) -> None:
    reader.show_page("first-steps")
    reader.view.anchorClicked.emit(QUrl("install.md#a-clone-without-make"))
    assert title(reader) == "Install - Guide"
    assert reader.view.verticalScrollBar().value() > 0
    QTest.keyClick(reader, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert title(reader) == "First steps - Guide"
    assert not reader.buttons["back"].isEnabled() or reader.buttons["forward"].isEnabled()
    QTest.keyClick(reader, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert title(reader) == "Install - Guide"


def test_only_pictures_of_the_guide_are_loaded(reader: GuideWindow) -> None:
    reader.show_page("tap")
    image = QTextDocument.ResourceType.ImageResource.value
    loaded = reader.view.loadResource(image, QUrl("pictures/tapped.png"))
    assert loaded is not None
    for name in ("file:///etc/passwd", "https://example.com/x.png", "../../x.png", "../tests/data/x.png"):
        assert reader.view.loadResource(image, QUrl(name)) is None
    style = QTextDocument.ResourceType.StyleSheetResource.value
    assert reader.view.loadResource(style, QUrl("pictures/tapped.png")) is None


def test_an_address_opens_in_the_browser_and_a_source_file_does_not(
    reader: GuideWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browse(url: QUrl) -> bool:
        opened.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", browse)
    reader.view.anchorClicked.emit(QUrl("https://example.com/a"))
    for link in ("../CONTRIBUTING.md", "file:///etc/passwd", "javascript:alert(1)"):
        reader.view.anchorClicked.emit(QUrl(link))
    assert opened == ["https://example.com/a"]
    assert title(reader) == "Guide"


def test_search_lists_pages_and_selects_the_place(reader: GuideWindow) -> None:
    every = reader.list.model().rowCount()
    QTest.keyClicks(reader.field, "uninstall")
    assert 0 < reader.list.model().rowCount() < every
    QTest.keyClick(reader.field, Qt.Key.Key_Return)
    assert title(reader) != "Guide"
    assert reader.view.textCursor().selectedText().casefold() == "uninstall"
    first = reader.view.textCursor().position()
    QTest.keyClick(reader, Qt.Key.Key_F3)
    assert reader.view.textCursor().position() != first
    QTest.keyClicks(reader.field, "qqq")
    assert reader.list.model().rowCount() == 0
    reader.field.clear()
    assert reader.list.model().rowCount() == every


def test_every_panel_names_a_page() -> None:
    names = {page.name for page in guide.pages()}
    assert {panel.guide for panel in PANELS} <= names


def test_f1_opens_the_page_about_the_focused_pane(application: Application, qtbot: QtBot) -> None:
    document = CaptureDocument()
    document.load(ROOT / "tests/data/captures/demo-round.ctxcap")
    window: MainWindow = window_on(application, document)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    panes_of(window).messages.setFocus()
    QTest.keySequence(window, QKeySequence("F1"))
    assert window.guide.shown is not None
    assert window.guide.shown.windowTitle() == "First steps - Guide"
    for dock, page in (("Findings", "findings"), ("Waste", "waste"), ("Query", "tables")):
        window.dock_row.turn_over(dock)
        window.pane_focus.enter(dock)
        assert window.guide.focused_page() == page
    window.filter_bar.focus_editor()
    assert window.guide.focused_page() == "search-and-filter"
    window.guide.shown.close()


def test_f1_on_the_start_page_opens_the_contents(application: Application, qtbot: QtBot) -> None:
    window = application.new_window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keySequence(window, QKeySequence("F1"))
    assert window.guide.shown is not None
    assert window.guide.shown.windowTitle() == "Guide"
