"""The Lifecycle tab and what the Overview says the model sees, as a user reads them and follows their links."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.figures import SavingBar
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.panel import TABS, DetailsPanel
from inspector.ui.panels.details.section import Section
from tests.builders import GrowingLog
from tests.ui.panels.details.panels import details_panel, report_change
from tests.unit.analysis.transient_traffic import Call, Mew, Opened, fetch, hint, in_turn, mew, store, workflow


@pytest.fixture
def panel_on(qtbot: QtBot, theme_controller: ThemeController) -> Any:
    def make(document: Any, row: int, tab: str = "Lifecycle") -> DetailsPanel:
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.resize(340, 700)
        panel.show()
        panel.show_tab(tab)
        panel.show_message(row)
        QApplication.processEvents()
        return panel

    return make


def page(panel: DetailsPanel) -> QWidget:
    return panel.pages[TABS[panel.tabs.currentIndex()]]


def rows(panel: DetailsPanel, name: str, kind: type[FittedList[Any]] = FactsView) -> list[str]:
    view = page(panel).findChild(kind, name)
    assert view is not None, name
    return [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]


def steps(panel: DetailsPanel) -> list[tuple[str, str]]:
    """(relation, No.) of the steps of its life."""
    return [(row.split(", ")[-2], row.split(", ")[-1]) for row in rows(panel, "life", ChainView)]


def labels(panel: DetailsPanel) -> list[str]:
    return [label.text() for label in page(panel).findChildren(QLabel)]


@pytest.mark.parametrize(("live", "when"), [(False, "at the end of the log"), (True, "now")])
@pytest.mark.parametrize("tab", ["Lifecycle", "Overview"])
def test_what_the_model_sees_is_said_of_now_while_live(panel_on: Any, tab: str, when: str, *, live: bool) -> None:
    found = fetch()
    opened = Opened(mew, in_turn(workflow(), found, store()))
    opened.document.live = live
    sections = page(panel_on(opened.document, opened.rows[found], tab)).findChildren(Section)
    assert f"Seen by the model {when}" in [section.label for section in sections]


def test_the_story_of_a_collapsed_result(panel_on: Any, qtbot: QtBot) -> None:
    hints, found, failed, stored = workflow(), fetch(), store(result={"isError": True}), store()
    opened = Opened(mew, in_turn(hints, found, failed, stored))
    opened.document.analysis.tokens.count_now([opened.rows[found]])
    panel = panel_on(opened.document, opened.rows[found])
    assert steps(panel) == [("hinted", "No. 2"), ("transient", "No. 4"), ("failed", "No. 6"), ("consumed", "No. 8")]
    how = rows(panel, "how")
    assert how[0] == "Paired: by No. 2, step 2"
    assert how[1] == "Pair: search_records → analysis_store"
    assert how[2] == "Marked: transient by its server, with a summary"
    assert how[3].startswith("Collapsed: by No. 8, ")
    assert rows(panel, "summary") == ["15 records"]
    assert rows(panel, "attempts") == ["No. 6 analysis_store", "It failed, so it consumed nothing."]
    bar = page(panel).findChild(SavingBar)
    assert bar is not None
    saving = opened.document.analysis.tokens.columns["tokens"][opened.rows[found]] - 2
    assert bar.accessibleName() == f"{bar.saved}: {bar.figures}, estimate (cl100k_base)"
    assert bar.figures.endswith(f"instead of {saving + 2}")


def test_every_step_links_to_its_message(panel_on: Any, qtbot: QtBot) -> None:
    hints, found, failed, stored = workflow(), fetch(), store(result={"isError": True}), store()
    opened = Opened(mew, in_turn(hints, found, failed, stored))
    panel = panel_on(opened.document, opened.rows[found])
    asked: list[int] = []
    panel.links.message_requested.connect(asked.append)
    life = page(panel).findChild(ChainView, "life")
    assert life is not None
    life.setFocus()
    for row in range(life.model().rowCount()):
        life.setCurrentIndex(life.model().index(row, 0))
        qtbot.keyClick(life, Qt.Key.Key_Return)
    assert asked == [opened.rows[call] for call in (hints, failed, stored)]


def test_one_that_waits_says_who_could_consume_it_and_what_that_would_save(panel_on: Any) -> None:
    found = fetch(None)
    opened = Opened(mew, in_turn(workflow(hint(), hint(consumer="analysis_ingest")), found))
    panel = panel_on(opened.document, opened.rows[found])
    assert rows(panel, "pending") == [
        "Still pending: no tool has consumed it, so the model sees all of it.",
        "Can be consumed by analysis_store or analysis_ingest.",
    ]
    assert rows(panel, "summary") == [
        "search_records result", "Generated; its server gave no summary.", "Tokens are not counted yet.",
    ]  # fmt: skip


def test_one_that_nothing_can_consume_is_told_the_alias(panel_on: Any) -> None:
    found = fetch(tool="mcp__rune__search_records")
    opened = Opened(mew, in_turn(workflow(), found))
    said = rows(panel_on(opened.document, opened.rows[found]), "pending")
    assert said[1:] == [
        "No hint names mcp__rune__search_records, so no tool can consume it.",
        "The tool alias mcp__rune__* = * would pair it (Settings).",
    ]


def test_a_hint_shows_what_its_pairs_did(panel_on: Any) -> None:
    hints, again = workflow(), workflow(hint(), hint("find_records"))
    found, waits, stored = fetch(), fetch(), store()
    opened = Opened(mew, in_turn(hints, found, again, waits, stored))
    assert rows(panel_on(opened.document, opened.rows[hints]), "pairs") == [
        "search_records → analysis_store step 2",
        "No. 4 collapsed by No. 10",
        "1 result of search_records waiting to be consumed",
    ]
    assert rows(panel_on(opened.document, opened.rows[again]), "pairs") == [
        "search_records → analysis_store step 2",
        "registered before, by No. 2",
        "No. 4 collapsed by No. 10",
        "1 result of search_records waiting to be consumed",
        "find_records → analysis_store step 2",
        "No result collapsed so far.",
    ]


def test_a_consumer_shows_what_it_collapsed_or_why_nothing(panel_on: Any) -> None:
    found, stored, again = fetch(), store(), store()
    opened = Opened(mew, in_turn(workflow(), found, stored, again))
    panel = panel_on(opened.document, opened.rows[stored])
    assert steps(panel) == [("collapsed", "No. 4"), ("consumed", "No. 6")]
    assert rows(panel, "collapsedIt")[0].startswith("No. 4 search_records")
    assert rows(panel, "collapsedIt")[1] == "The model sees: 15 records"
    panel = panel_on(opened.document, opened.rows[again])
    assert rows(panel, "lifeNote") == ["No result was waiting to be consumed by it."]


def test_a_story_goes_on_while_it_is_read(panel_on: Any, qtbot: QtBot) -> None:
    talk, log = Mew(), GrowingLog()
    found, hints, failed, stored = fetch(), workflow(), store(result={"isError": True}), store()
    log.write(talk(found, "ask"), talk(found, "answer"))
    panel = panel_on(log.document, 1)
    assert rows(panel, "pending")[1] == "No hint names search_records, so no tool can consume it."

    def goes_on(call: Call) -> None:
        log.write(talk(call, "ask"), talk(call, "answer"))
        report_change(panel)

    goes_on(hints)
    qtbot.waitUntil(lambda: rows(panel, "pending")[1] == "Can be consumed by analysis_store.")
    goes_on(failed)
    qtbot.waitUntil(lambda: ("failed", "No. 6") in steps(panel))
    goes_on(stored)
    qtbot.waitUntil(lambda: ("consumed", "No. 8") in steps(panel))
    assert rows(panel, "summary")[0] == "15 records"


@pytest.mark.parametrize("collapsed", [True, False])
def test_the_overview_says_what_the_model_sees_now_and_what_that_saves(panel_on: Any, collapsed: bool) -> None:
    found, stored = fetch(), store()
    opened = Opened(mew, in_turn(workflow(), found, *([stored] if collapsed else [])))
    row = opened.rows[found]
    before = int(opened.document.analysis.tokens.count_now([row])[0])
    panel = panel_on(opened.document, row, "Overview")
    bar = page(panel).findChild(SavingBar)
    assert bar is not None
    after = opened.document.analysis.tokens.summary_tokens(row)
    expected = f"{after} instead of {before}" if collapsed else f"{before} now, {after} once consumed"
    assert bar.figures == expected
    assert rows(panel, "seenNow")[0] == ("15 records" if collapsed else "All of it: no tool has consumed it yet.")
    assert not panel.grab().isNull()
