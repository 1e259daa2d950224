"""Every link of the overview of six kinds of logs: it leads where its words say, to as many messages as its figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from inspector.engine.requests.rows import MessageRows
from inspector.present.overview.cards import CONVERSATION, FILES, MESSAGES, MODEL_SEES, STEPS, Link, line_text
from inspector.ui.app.application import Application
from inspector.ui.docview.panel import OVERVIEW
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.panels.files.panel import FilesPanel
from inspector.ui.panels.overview.card_view import CardView
from inspector.ui.panels.overview.panel import OverviewPanel
from inspector.ui.panels.overview.word_link import WordLink
from inspector.ui.panels.steps.panel import StepsPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.samples import RECORDINGS, sample
from tests.ui.windows import panes_of, window_on

LOGS = (
    sample("formats/claude-code.jsonl"), sample("formats/codex.jsonl"),
    RECORDINGS / "mcp" / "py2-http-legacy-2025-11-25.jsonl",
    RECORDINGS / "mew" / "coding-agent" / "envelope-history.jsonl",
    sample("otlp/langgraph-openinference-0.1.80.jsonl"), sample("formats/bread.json"),
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?![\w.,]*\d|[\w-])")


def links_of(panel: OverviewPanel) -> list[tuple[WordLink, str]]:
    """Visible links, each with all words of its row and the figure of its card."""
    found: list[tuple[WordLink, str]] = []
    for link in panel.findChildren(WordLink):
        if not link.isVisibleTo(panel) or link.words.link is None:
            continue
        words = [link.words.text]
        if isinstance(view := link.parentWidget(), CardView):
            card = view.card
            lines = [row.text for section in card.sections for row in section.rows
                     if any(one == link.words for part in (row.label, row.words, row.end) for one in part)]  # fmt: skip
            words += lines or [card.figure, line_text(card.unit)]
        found.append((link, " ".join(words)))
    return found


def numbers_in(words: str) -> set[int]:
    return {int(found.replace(",", "")) for found in _NUMBER.findall(words)}


def reported_sum(window: MainWindow, name: str) -> int:
    """Sum of a field of usage over the shown messages."""
    panes = panes_of(window)
    shown = tuple(int(message) for message in panes.rows.visible)
    rows = panes.client.answer_now(MessageRows(shown, fields=(name,)))
    return sum(int(str(row.fields[name]).replace(",", "")) for row in rows)


def check_target(window: MainWindow, link: Link, words: str, qtbot: QtBot) -> None:
    """Checks what a link has shown."""
    panes, current = panes_of(window), window.center.currentWidget()
    if link.panel.startswith("settings:"):
        dialogs = [one for one in window.findChildren(QDialog) if one.isVisible()]
        assert dialogs, words
        dialogs[-1].close()
    elif link.panel:
        assert not window.docks[link.panel].isHidden(), words
    elif link.filter is not None:
        assert window.center.current == MESSAGES
        shown = len(panes.rows.visible)
        usage = re.match(r"usage\.\w+(?= > 0)", link.filter)
        if usage is not None:
            assert reported_sum(window, usage[0]) in numbers_in(words), words
        elif not re.match(r"context under|space ==", link.filter) and "tokens" not in words:
            assert shown in numbers_in(words), f"{words}: {shown}"
        assert shown, words
    elif link.view == CONVERSATION and link.message is not None:
        assert isinstance(current, ConversationPanel), words
        qtbot.waitUntil(lambda: current.model.row_of_message(link.message or 0) == current.view.currentIndex().row())
    elif link.view == STEPS:
        assert isinstance(current, StepsPanel), words
        qtbot.waitUntil(lambda: current.latest.is_current)
        assert current.latest.answer is not None
        for count, unit in re.findall(r"([\d,]+) (calls?|turns?)\b", words):
            figure = current.latest.answer.head.calls if unit.startswith("call") else None
            assert figure in (None, int(count.replace(",", ""))), words
    elif link.view == FILES:
        assert isinstance(current, FilesPanel), words
    else:
        assert window.center.current == link.view == MODEL_SEES, words


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_each_link_leads_to_its_figure_and_back_returns(
    application: Application, lands_as_set: None, qtbot: QtBot, path: Path
) -> None:
    window = window_on(application, document_at(path))
    window.resize(1280, 800)
    window.show()
    panel, panes = window.center.view(OVERVIEW), panes_of(window)
    assert isinstance(panel, OverviewPanel)
    qtbot.waitUntil(lambda: panel.latest.is_current and bool(panel.page.cards))
    whole, seen = len(panes.rows.visible), 0
    for link, words in links_of(panel):
        target = link.words.link
        assert target is not None
        link.click()
        qtbot.waitUntil(lambda target=target: window.center.current == (target.view or OVERVIEW) or bool(target.panel))
        check_target(window, target, words, qtbot)
        panes.go_back()
        qtbot.waitUntil(lambda: window.center.current == OVERVIEW and len(panes.rows.visible) == whole)
        seen += 1
    assert seen >= 15


def test_a_row_that_a_view_selects_when_it_opens_is_no_place_of_its_own(
    application: Application, lands_as_set: None, qtbot: QtBot
) -> None:
    window = window_on(application, document_at(sample("formats/bread.json")))
    window.show()
    panes = panes_of(window)
    panes.view_requested.connect(lambda view: panes.go_to(2) if view == STEPS else None)
    panes.follow_overview_link(Link(STEPS))
    assert window.center.current == STEPS
    panes.go_back()
    assert window.center.current == OVERVIEW
