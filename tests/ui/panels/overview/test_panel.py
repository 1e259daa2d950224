"""The overview as a user meets it: landing, links, the way back, side panes, and lines that stay."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.present.overview.cards import Link, Words
from inspector.ui.app.application import Application
from inspector.ui.docview.panel import MESSAGES, OVERVIEW
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.overview.card_view import CardView
from inspector.ui.panels.overview.panel import OverviewPanel
from inspector.ui.panels.overview.word_flow import flow_of
from inspector.ui.panels.overview.word_link import WordLink
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_at, document_of, envelope, tool_call, tool_result
from tests.samples import sample
from tests.ui.windows import in_turn, numbers, panes_of, story, window_on

SIDES = ("Contexts", "Participants", "Details")


@pytest.fixture
def window(application: Application, lands_as_set: None) -> MainWindow:
    window = window_on(application, story())
    window.resize(1280, 800)
    window.show()
    return window


def panel_of(window: MainWindow) -> OverviewPanel:
    panel = window.center.view(OVERVIEW)
    assert isinstance(panel, OverviewPanel)
    return panel


def shown_links(panel: OverviewPanel) -> list[WordLink]:
    return [link for link in panel.findChildren(WordLink) if link.isVisibleTo(panel)]


def link_named(panel: OverviewPanel, text: str) -> WordLink:
    return next(link for link in shown_links(panel) if link.words.text.strip() == text)


def shown_sides(window: MainWindow) -> list[str]:
    return [title for title in SIDES if not window.docks[title].isHidden()]


def documents_land_on_the_overview_at_full_width(window: MainWindow, qtbot: QtBot) -> None:
    assert window.center.current == OVERVIEW
    assert window.view_head.tabs.words()[0] == "Overview"
    assert shown_sides(window) == []
    page = panel_of(window).page
    assert page.overview is not None
    assert page.overview.title
    assert [view.card.id for view in page.cards][:2] == ["people", "tools"]


def the_tab_left_shows_the_side_panes_and_back_hides_them(window: MainWindow, qtbot: QtBot) -> None:
    window.center.show_view(MESSAGES)
    assert shown_sides(window) == list(SIDES)
    window.center.show_view(OVERVIEW)
    assert shown_sides(window) == []


def a_figure_sets_the_filter_and_back_returns(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    link_named(panel, "search_records").click()
    assert window.center.current == MESSAGES
    assert numbers(window) == [5]
    panes_of(window).go_back()
    assert window.center.current == OVERVIEW
    assert numbers(window) == list(range(1, 10))


def return_follows_the_focused_link_and_escape_comes_back(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    link = link_named(panel, "analysis_store")
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Return)
    assert numbers(window) == [7]
    window.center.take_focus()
    QTest.keyClick(panes_of(window).messages.view, Qt.Key.Key_Escape)
    assert window.center.current == OVERVIEW


def tab_goes_through_the_links_in_reading_order(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    links = [link for view in panel.page.cards for link in view.links if link.isVisibleTo(panel)]
    for before, link in pairwise(links):
        following: QWidget | None = before.nextInFocusChain()
        while following is not None and not (isinstance(following, WordLink) and following.isVisibleTo(panel)):
            following = following.nextInFocusChain()
        assert following is link


def a_message_chosen_elsewhere_leaves_the_overview(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).go_to(3)
    assert window.center.current == MESSAGES
    assert panes_of(window).messages.current_message() == 3


def a_filter_chosen_elsewhere_leaves_the_overview(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    assert window.center.current == MESSAGES


def test_cards_stand_in_one_column_in_a_narrow_window(window: MainWindow) -> None:
    cards = panel_of(window).page.cards
    assert cards[0].y() == cards[1].y()
    window.resize(900, 800)
    assert cards[0].y() < cards[1].y()
    assert cards[0].width() == cards[1].width()


def test_end_and_home_scroll(window: MainWindow) -> None:
    window.resize(900, 500)
    panel = panel_of(window)
    bar = panel.verticalScrollBar()
    QTest.keyClick(shown_links(panel)[0], Qt.Key.Key_End)
    assert bar.value() == bar.maximum() > 0
    QTest.keyClick(panel, Qt.Key.Key_Home)
    assert bar.value() == 0


def test_a_card_is_laid_out_once(application: Application, lands_as_set: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = CardView._made_layout

    def noted(view: CardView, width: int) -> object:
        made.append(view.card.id)
        return make(view, width)

    monkeypatch.setattr(CardView, "_made_layout", noted)
    window = window_on(application, story())
    window.resize(1280, 800)
    window.show()
    panel = panel_of(window)
    page, overview = panel.page, panel.page.overview
    assert overview is not None
    made.clear()
    page.show_overview(overview)
    assert made == []
    page.show_overview(msgspec.structs.replace(overview, cards=()))
    page.show_overview(overview)
    assert sorted(made) == sorted(view.card.id for view in page.cards)


def cards_and_links_have_texts_for_screen_readers(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    for view in panel.page.cards:
        assert view.accessibleName() == view.card.title
        assert view.accessibleDescription() == "\n".join(view.card.texts)
    for link in shown_links(panel):
        assert link.accessibleName()
        assert link.accessibleDescription()


def test_no_line_moves_while_the_pointer_rests_on_the_page(
    application: Application, qtbot: QtBot, lands_as_set: None
) -> None:  # fmt: skip
    log = GrowingLog()
    window = window_on(application, log.document)
    window.resize(1280, 800)
    window.show()
    first = tool_call("grep")
    log.write(envelope("chat", {"text": "Hello"}, sender="human"), first, tool_result(first))
    panes_of(window).bridge.flush()
    panel = panel_of(window)
    page = panel.page
    qtbot.waitUntil(lambda: panel.latest.is_current and bool(page.cards))
    names = [view.card.id for view in page.cards]
    places = [view.geometry() for view in page.cards]
    rows = [row.key for view in page.cards for section in view.card.sections for row in section.rows]
    QTest.mouseMove(page, page.cards[0].geometry().center())
    qtbot.waitUntil(page.underMouse)
    log.write(tool_call("grep"), tool_call("read_file"), envelope("mcp/proposal", {"method": "x"}, sender="lead"))
    panes_of(window).bridge.flush()
    panel.latest.request_now()
    qtbot.waitUntil(lambda: panel.latest.is_current)
    assert [view.card.id for view in page.cards] == names
    assert [view.geometry() for view in page.cards] == places
    assert [row.key for view in page.cards for section in view.card.sections for row in section.rows] == rows
    QTest.mouseMove(window, QPoint(2, 2))
    qtbot.waitUntil(lambda: "proposals" in [view.card.id for view in page.cards])


def test_an_empty_document_shows_its_name(application: Application, lands_as_set: None) -> None:
    window = window_on(application, document_of())
    window.show()
    page = panel_of(window).page
    assert page.overview is not None
    assert page.overview.title
    assert page.cards == []


def test_a_figure_of_tokens_shows_its_column(application: Application, lands_as_set: None) -> None:
    window = window_on(application, document_at(sample("claude-code.jsonl")))
    window.show()
    panel = panel_of(window)
    link = next(one for one in shown_links(panel) if one.words.link is not None and one.words.link.columns)
    link.click()
    assert link.words.link is not None
    columns = panes_of(window).messages.model.columns
    assert window.center.current == MESSAGES
    assert all(columns.named(name) is not None for name in link.words.link.columns)
    assert not any(column.name.startswith("usage") for column in application.settings.table.columns)


def begun_again(window: MainWindow) -> None:
    """The overview is shown, without a filter."""
    panes_of(window).filter_state.clear()
    window.center.show_view(OVERVIEW)


test_the_overview_of_a_log = in_turn([
    documents_land_on_the_overview_at_full_width, the_tab_left_shows_the_side_panes_and_back_hides_them,
    a_figure_sets_the_filter_and_back_returns, return_follows_the_focused_link_and_escape_comes_back,
    tab_goes_through_the_links_in_reading_order, a_message_chosen_elsewhere_leaves_the_overview,
    a_filter_chosen_elsewhere_leaves_the_overview,
    cards_and_links_have_texts_for_screen_readers,
], begun_again)  # fmt: skip


def test_figures_keep_their_unit_and_dots_end_their_line(theme_controller: ThemeController) -> None:
    theme = theme_controller.theme
    line = (Words("tools and your permission 6 min 42 s", strong=True), Words(" · ", "quiet"), Words("model 34.8 s"))
    for width in range(100, 320, 7):
        flow = flow_of(theme, line, width)
        rows: dict[float, str] = {}
        for one in flow.fragments:
            rows[one.box.top()] = rows.get(one.box.top(), "") + one.text
        texts = [text.strip() for _top, text in sorted(rows.items())]
        assert not any(text.startswith("·") for text in texts), texts
        assert any("6 min 42 s" in text for text in texts), texts
        assert any("34.8 s" in text for text in texts), texts


def test_links_that_are_too_wide_show_both_ends(theme_controller: ThemeController) -> None:
    names = [f"Explore: Review the payment service for missing {what}" for what in ("retries", "timeouts")]
    link = Link(MESSAGES)
    shown = [flow_of(theme_controller.theme, [Words(name, link=link)], 200).fragments[0].text for name in names]
    assert shown[0] != shown[1]
    for name, text in zip(names, shown, strict=True):
        begin, _, end = text.partition("…")
        assert name.startswith(begin)
        assert name.endswith(end)
