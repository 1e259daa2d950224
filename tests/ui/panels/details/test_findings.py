"""The Findings tab, and what findings do to the Overview, the tabs and the head."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.present.pages.findings import FINDINGS_TAB, filter_by
from inspector.protocol.secrets.masking import MASK
from inspector.ui.app.application import Application
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.finding_sentence import FindingSentence
from inspector.ui.panels.details.panel import TABS, DetailsPanel
from inspector.ui.panels.details.section import LinkText, Page, Section
from inspector.ui.panels.details.tabs import DetailTabs
from tests.builders import document_of, envelope, received, tool_call
from tests.findings import CASES, answer, ask, at, fulfil, later, propose, withdraw
from tests.ui.find import child
from tests.ui.live import Live
from tests.ui.panels.details.panels import close_document, details_panel, report_change
from tests.ui.windows import numbers, panes_of, run_in_window, window_on

Show = Callable[..., DetailsPanel]


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController) -> Show:
    """A panel that shows one message of some lines, or of a document."""

    def make(*lines: Any, message: int = 0, tab: str = "Findings", document: CaptureDocument | None = None):
        panel = details_panel(document or document_of(*lines), theme_controller)
        qtbot.addWidget(panel)
        panel.resize(340, 700)
        panel.show()
        panel.show_tab(tab)
        panel.show_message(message)
        QApplication.processEvents()
        return panel

    return make


def rows(panel: DetailsPanel, name: str) -> list[str]:
    view = child(panel.pages[panel.tabs.tabText(panel.tabs.currentIndex())], FactsView, name)
    return [view.model().index(row, 0).data() for row in range(view.model().rowCount())]


def labels(panel: DetailsPanel) -> list[str]:
    page = panel.pages[panel.tabs.tabText(panel.tabs.currentIndex())]
    assert isinstance(page, Page)
    return [section.label for section in page.sections if isinstance(section, Section)]


def click(qtbot: QtBot, panel: DetailsPanel, name: str) -> None:
    qtbot.mouseClick(child(panel, LinkText, name), Qt.MouseButton.LeftButton)


def test_a_finding_says_what_is_wrong_why_it_matters_and_what_to_do(show: Show):
    panel = show(ask(), later(31))
    assert labels(panel) == ["Request without an answer"]
    said = rows(panel, "finding-request-unanswered")
    assert said[0].startswith("Warning: lead ")
    assert said[1] == "request-unanswered warning"
    facts = rows(panel, "findingFacts-request-unanswered")
    assert [row.partition(":")[0] for row in facts] == ["Why it matters", "Advice", "Source"]
    assert "files" in facts[1]
    assert panel.tabs.words()[-1] == "Findings 1"
    assert panel.tabs.accessibleTabName(TABS.index(FINDINGS_TAB)) == "Findings 1"


def test_several_findings_come_most_severe_first(show: Show):
    panel = show(envelope("odd/kind", {}, context="why//7f3a?/ann@example.com"))
    assert labels(panel)[0] == "Secret or address in a context id"
    severities = [view.severity for view in panel.findChildren(FindingSentence)]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert panel.tabs.words()[-1] == f"Findings {len(severities)}"


def test_without_findings_the_tab_says_so_and_bears_no_number(show: Show):
    panel = show(envelope(context="job-7f3a9c"))
    assert rows(panel, "noFindings") == ["No findings for this message."]
    assert panel.tabs.words()[-1] == "Findings"
    panel.show_tab("Overview")
    assert "Finding" not in labels(panel)


def test_the_other_message_is_a_link(show: Show, qtbot: QtBot):
    panel = show(propose(), withdraw(), fulfil(), message=2)
    facts = child(panel, FactsView, "findingFacts-proposal-fulfilled-after-withdrawal")
    row = next(n for n, text in enumerate(rows(panel, facts.objectName())) if text.startswith("Refers to"))
    assert "No. 1" in facts.row_text(facts.rows[row])
    facts.setFocus(Qt.FocusReason.TabFocusReason)
    facts.setCurrentIndex(facts.model().index(row, 0))
    with qtbot.waitSignal(panel.links.message_requested) as asked:
        qtbot.keyClick(facts, Qt.Key.Key_Return)
    assert asked.args == [0]


def test_filter_by_this_code_and_show_all_of_it(show: Show, qtbot: QtBot):
    panel = show(ask(), ask(id="q2"), later(31))
    code = "request-unanswered"
    assert child(panel, LinkText, f"showCode-{code}").text() == "Show all of this code"
    with qtbot.waitSignal(panel.links.filter_requested) as asked:
        click(qtbot, panel, f"filterCode-{code}")
    assert asked.args == [filter_by(code), "replace"]
    with qtbot.waitSignal(panel.links.code_requested) as asked:
        click(qtbot, panel, f"showCode-{code}")
    assert asked.args == [code]


def test_every_code_is_a_filter_that_finds_its_messages():
    for code in ("request-unanswered", "context-secret", "kind-unknown"):
        analysis = document_of(*CASES[code].wrong).analysis
        rows_found = np.arange(len(analysis))[compile_filter(filter_by(code)).mask(analysis, np.arange(len(analysis)))]
        assert rows_found.tolist() == analysis.findings.found.rows_of(CHECK_BY_CODE[code]).tolist()


def test_the_overview_begins_with_the_worst_finding_in_place_of_the_state(show: Show, qtbot: QtBot):
    panel = show(ask(), later(31), tab="Overview")
    panel.show_keys({"go.problem_next": "F8"}.__getitem__)
    assert labels(panel)[0] == "Finding"
    assert "State" not in labels(panel)
    said = rows(panel, "overviewFinding")
    assert said[1] == "request-unanswered F8 next problem"
    assert child(panel, LinkText, "openFindings").text() == "Show advice"
    click(qtbot, panel, "openFindings")
    assert panel.tabs.tabText(panel.tabs.currentIndex()) == "Findings"


def test_the_overview_says_how_many_more_there_are(show: Show):
    document = document_of(envelope("odd/kind", {}, context="why//7f3a?/"))
    panel = show(document=document, tab="Overview")
    count = len(document.analysis.findings.found.findings_about(0))
    assert child(panel, LinkText, "openFindings").text() == f"All {count} findings"


def test_a_note_is_no_problem_to_step_through(show: Show):
    panel = show(envelope("odd/kind", {}), tab="Overview")
    assert rows(panel, "overviewFinding")[1] == "kind-unknown"


def test_secrets_and_controls_in_a_sentence_are_masked_and_visible(show: Show):
    panel = show(
        envelope("odd/\u202ekind Bearer abcdefghijklmnop123456", {}), tab="Findings",
    )  # fmt: skip
    said = rows(panel, "finding-kind-unknown")[0]
    assert "abcdefghijklmnop" not in said
    assert MASK in said
    assert "U+202E" in said


def test_a_finding_that_appears_and_goes_away_while_shown(tmp_path: Path, show: Show):
    live = Live(tmp_path, received(ask()))
    panel = show(document=live.document)
    assert panel.tabs.words()[-1] == "Findings"
    live.say(received(later(31)))
    report_change(panel)
    assert panel.tabs.words()[-1] == "Findings 1"
    assert labels(panel) == ["Request without an answer"]
    live.say(received(answer(ts=at(32))))
    report_change(panel)
    assert panel.tabs.words()[-1] == "Findings"
    close_document(panel)


def test_a_response_to_nothing_says_so_in_the_head(show: Show):
    panel = show(answer())
    assert panel.head.state is not None
    assert panel.head.state.word == "no request"


def test_from_a_finding_to_its_panel_and_from_the_tree_to_its_problems_in_the_window(qapp: QApplication):
    async def steps(application: Application) -> None:
        window = window_on(application, document_of(ask(context="job-7f3a9c/step"), ask(id="q2"), later(31)))
        window.show()
        panes = panes_of(window)
        panes.go_to(0)
        panes.details.show_tab("Findings")
        child(panes.details, LinkText, "showCode-request-unanswered").click()
        assert window.docks["Findings"].isVisible()
        tree = panes.contexts
        row = next(r for r in range(tree.model.rowCount()) if tree.model.label(r) == "job-7f3a9c")
        menu = tree.menu_for(row)
        next(action for action in menu.actions() if action.text() == "Show 1 message with a problem").trigger()
        assert numbers(window) == [1]
        assert panes.filter_state.filter.text == "finding.severity >= warning"
        panes.filter_state.clear()
        panes.details.show_message(1)
        child(panes.details, LinkText, "filterCode-request-unanswered").click()
        assert numbers(window) == [1, 2]

    run_in_window(qapp, steps)


def test_all_tabs_have_room_at_the_least_width(qtbot: QtBot, theme_controller: ThemeController, show: Show):
    panel = show(tool_call("grep"))
    tabs = panel.tabs
    assert isinstance(tabs, DetailTabs)
    tabs.show_title("Lifecycle", True)  # as in a log with transient results
    tabs.set_count("Findings", 12)
    assert tabs.tabRect(5).right() <= tabs.width()
    wide = tabs.tabRect(1).left()
    panel.resize(484, 700)
    QApplication.processEvents()
    assert tabs.tabRect(1).left() > wide
    tabs.setFocus()
    qtbot.keyClick(tabs, Qt.Key.Key_Left)
    assert tabs.tabText(tabs.currentIndex()) == "Lifecycle"
