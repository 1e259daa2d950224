"""The page of a context in the details: what it says, where its links lead, and that traffic moves nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.panel import EMPTY, DetailsPanel
from inspector.ui.panels.details.section import LinkText, Section
from tests.builders import document_of, envelope, received
from tests.ui.live import Live
from tests.ui.panels.details.panels import details_panel, report_change

Show = Callable[..., DetailsPanel]
START = "2026-01-05T09:00:"


def said(context: Any, kind: str = "chat", text: str = "hello", second: int = 0, **fields: Any) -> dict[str, Any]:
    return envelope(kind, {"message": text}, context=context, ts=f"{START}{second:02d}.000Z", **fields)


def node(document: CaptureDocument, path: str) -> int:
    tree = document.analysis.contexts.tree
    return next(n for n in tree.alive() if tree.path(n) == path)


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController) -> Show:
    """A panel that shows a context of some lines, the main context by default."""

    def make(*lines: Any, path: str = "", document: CaptureDocument | None = None) -> DetailsPanel:
        document = document or document_of(*lines)
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.resize(340, 700)
        panel.show()
        contexts = document.analysis.contexts
        panel.show_context(contexts.spaces[0], node(document, path) if path else MAIN)
        QApplication.processEvents()
        return panel

    return make


def rows(panel: DetailsPanel, section: str) -> list[str]:
    """The rows of a section as they are read out; none where there is no such section."""
    found = panel.context_page.findChild(Section, section)
    views = found.findChildren(FactsView) if found is not None else []
    return [view.row_text(row) for view in views for row in view.rows]


def follow(qtbot: QtBot, panel: DetailsPanel, section: str, row: int) -> None:
    """Enter on a row of a section."""
    found = panel.context_page.findChild(Section, section)
    assert found is not None
    view = found.findChildren(FactsView)[0]
    view.setFocus(Qt.FocusReason.TabFocusReason)
    view.setCurrentIndex(view.model().index(row, 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)


SEQUENCE = (
    said(None, text="Please look", id="ask", sender="human"),
    said(None, "reasoning/start", "What is slow?", 1, id="why-1", correlation_id=["ask"]),
    said("why-1", "reasoning/thought", "I will look", 2),
    said("why-1/fs", "chat", "looking", 3, sender="files"),
    said("why-1", "reasoning/conclusion", "The disk", 11),
)


def test_a_reasoning_sequence(show: Show) -> None:
    panel = show(*SEQUENCE, path="why-1")
    about = "reasoning  ·  2 messages, 3 including nested contexts"
    assert panel.head.accessibleName() == f"context What is slow?, concluded, {about}"
    assert rows(panel, "contextAsked")[0] == "What is slow?"
    assert rows(panel, "contextAsked")[1].startswith("by lead, No. 2")
    assert rows(panel, "contextEnded")[0] == "The disk"
    assert rows(panel, "contextEnded")[1] == "by lead, No. 5 after 10.0 s"
    assert rows(panel, "contextFacts") == [
        "Type: reasoning", "Why: Opened by reasoning/start, No. 2", "State: concluded", "Path: why-1", "Parent: main",
    ]  # fmt: skip
    messages = rows(panel, "contextMessages")
    assert messages[0] == "Messages: 2 here, 3 including nested contexts"
    assert messages[1].startswith("Size: "), "two messages have no rate"
    assert [row.split()[:3] for row in messages[2:4]] == [["First:", "No.", "3"], ["Last:", "No.", "5"]]
    assert messages[4].replace("\N{NO-BREAK SPACE}", " ") == "Kinds: 1 thought, 1 conclusion"
    assert rows(panel, "contextParticipants") == ["lead 2 messages"]
    assert [row.split()[0] for row in rows(panel, "contextChildren")] == ["fs"]
    assert rows(panel, "contextWritten") == []


def test_an_object_context_with_metadata(show: Show) -> None:
    described = {
        "id": "why", "type": "reasoning", "parent": "job",
        "metadata": {"trigger": "t1", "confidence": 0.6, "api_key": "sk-secret-0123456789"},
    }  # fmt: skip
    panel = show(said(None, id="t1"), said(described), said({"id": "why", "parent": "other"}), path="job/why")
    assert rows(panel, "contextMetadata")[:2] == ["trigger: t1, No. 1", "confidence: 0.6"]
    assert "sk-secret" not in "".join(rows(panel, "contextMetadata"))
    assert "Why: Its messages say so, No. 2" in rows(panel, "contextFacts")
    assert rows(panel, "contextWritten") == ["object: why No. 2"]
    assert "warning: Context with two parents No. 3" in rows(panel, "contextFindings")


def test_a_context_that_only_others_imply(show: Show) -> None:
    panel = show(said("a/b"), path="a")
    assert "Implied: Only nested contexts have messages." in rows(panel, "contextFacts")
    assert rows(panel, "contextMessages") == ["Messages: 0 here, 1 including nested contexts"]
    assert rows(panel, "contextParticipants") == []


def test_the_main_context(show: Show) -> None:
    panel = show(said(None), said("a"), said(7))
    assert panel.head.name == "main"
    assert rows(panel, "contextMessages")[0] == "Messages: 2 here"
    assert [row.split()[0] for row in rows(panel, "contextChildren")] == ["a"]
    assert panel.context_page.findChild(LinkText, "contextCopyPath") is None


def test_long_lists_are_cut_and_say_so(show: Show) -> None:
    lines = [said(f"a/c{n}", sender=f"agent-{n}") for n in range(30)]
    panel = show(*lines, *(said("a", sender=f"agent-{n}") for n in range(30)), path="a")
    assert len(rows(panel, "contextChildren")) == 21
    assert rows(panel, "contextChildren")[-1] == "10 more"
    assert rows(panel, "contextParticipants")[-1] == "10 more"


def test_hostile_names_stay_plain_text(show: Show) -> None:
    panel = show(said("<b>x</b>\u202e/y", sender="\x1b[31m<i>"), path="<b>x</b>\u202e/y")
    assert "<i>" in rows(panel, "contextParticipants")[0]
    assert "\u202e" not in panel.head.name + panel.head.accessibleName() + "".join(rows(panel, "contextFacts"))


def test_links_lead_to_messages_contexts_and_participants(show: Show, qtbot: QtBot) -> None:
    document = document_of(*SEQUENCE)
    panel = show(document=document, path="why-1")
    messages, places = list[int](), list[object]()
    panel.links.message_requested.connect(messages.append)
    panel.links.place_requested.connect(places.append)
    space = document.analysis.contexts.spaces[0]
    follow(qtbot, panel, "contextAsked", 1)
    follow(qtbot, panel, "contextMessages", 2)
    assert messages == [1, 2]
    follow(qtbot, panel, "contextChildren", 0)
    follow(qtbot, panel, "contextParticipants", 0)
    follow(qtbot, panel, "contextFacts", 4)
    child = node(document, "why-1/fs")
    assert places == [ContextPlace(space, child), ParticipantPlace(space, "lead"), ContextPlace(space, MAIN)]


def test_actions(show: Show, qtbot: QtBot) -> None:
    document = document_of(*SEQUENCE)
    panel = show(document=document, path="why-1/fs")
    scopes, filters = list[object](), list[str]()
    panel.links.context_scope_requested.connect(scopes.append)
    panel.links.filter_requested.connect(lambda text, mode: filters.append(f"{mode}: {text}"))
    for name in ("contextScope", "contextFilter", "contextCopyPath"):
        link = panel.context_page.findChild(LinkText, name)
        assert link is not None
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert scopes == [ContextPlace(document.analysis.contexts.spaces[0], node(document, "why-1/fs"))]
    assert filters == ['replace: context under "why-1/fs"']
    assert QGuiApplication.clipboard().text() == "why-1/fs"


def test_the_page_gives_way_to_a_message_and_to_nothing(show: Show) -> None:
    panel = show(*SEQUENCE, path="why-1")
    assert (panel.message, panel.place is not None, panel.tabs.isVisible()) == (None, True, False)
    panel.show_message(2)
    assert (panel.message, panel.place, panel.tabs.isVisible()) == (2, None, True)
    assert panel.head.name == "thought"
    panel.show_message(None)
    assert panel.empty.isVisible()
    assert panel.empty.text() == EMPTY


def test_a_page_renewed_by_traffic_keeps_its_place(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    live = Live(tmp_path, *(received(said("a", sender=f"agent-{n % 15}", second=n)) for n in range(40)))
    panel = details_panel(live.document, theme_controller)
    qtbot.addWidget(panel)
    panel.resize(340, 260)
    panel.show()
    space = live.document.analysis.contexts.spaces[0]
    panel.show_context(space, node(live.document, "a"))
    QApplication.processEvents()
    page = panel.context_page
    bar = page.verticalScrollBar()
    people = page.findChild(Section, "contextParticipants")
    assert people is not None
    view = people.findChildren(FactsView)[0]
    view.setFocus(Qt.FocusReason.MouseFocusReason)
    view.setCurrentIndex(view.model().index(3, 0))
    bar.setValue(bar.maximum() // 2)
    before = bar.value()
    assert before > 0
    for count in (1, 2):
        live.say(received(said("a", sender="late", second=50 + count)))
        report_change(panel)
        QApplication.processEvents()
        assert bar.value() == before
        assert page.findChildren(FactsView).count(view) == 1  # the same widget, with other rows
        assert view.hasFocus()
        assert view.currentIndex().row() == 3
        assert f"Messages: {40 + count} here" in rows(panel, "contextMessages")
    live.say(received(said("a/new", second=59)))  # a section more
    report_change(panel)
    QApplication.processEvents()
    assert len(rows(panel, "contextChildren")) == 1
    assert bar.value() == before
    again = page.findChild(FactsView, "contextParticipantsRows")
    assert again is not None
    assert again.hasFocus()
    assert again.currentIndex().row() == 3


def test_a_context_that_merges_away_shows_what_it_became(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    live = Live(tmp_path, received(said("x/y")))
    panel = details_panel(live.document, theme_controller)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_context(live.document.analysis.contexts.spaces[0], node(live.document, "x/y"))
    live.say(received(said(None, "reasoning/start", "Why x", id="x/y")), received(said("x/y")))
    report_change(panel)
    assert panel.head.name == "Why x"
    assert rows(panel, "contextMessages")[0] == "Messages: 2 here"
    gone = node(live.document, "x%2Fy")
    assert "Path: x%2Fy" in rows(panel, "contextFacts")
    assert live.document.analysis.contexts.tree.resolve(gone) == gone


def test_a_click_on_a_name_follows_it(show: Show, qtbot: QtBot) -> None:
    panel = show(*SEQUENCE, path="why-1")
    places = list[object]()
    panel.links.place_requested.connect(places.append)
    people = panel.context_page.findChild(FactsView, "contextParticipantsRows")
    assert people is not None
    place = QPoint(6, people.visualRect(people.model().index(0, 0)).center().y())
    assert people.is_link(0, place)
    qtbot.mouseClick(people.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert len(places) == 1
