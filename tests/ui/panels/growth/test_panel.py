"""The plots below the lanes as the user meets them: lines, card, clicks, keys, brush, live traffic."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.views.model_context import Reader
from inspector.analysis.views.timeline.track_marks import Window
from inspector.document.document import CaptureDocument
from inspector.present.plot_words import scale_words, signed_count
from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.panels.growth import GrowthPlot
from inspector.ui.panels.growth.canvas import PlotCanvas
from inspector.ui.panels.growth.figure import Scale
from inspector.ui.panels.growth.growth_figure import KEYS, LIMIT_KEY, REPORTED_KEY
from inspector.ui.panels.growth.panel import GROWTH, NO_READER, NOT_COUNTED, RATES, SELECTED
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.geometry import head_width
from inspector.ui.panels.timeline.panel import TimelinePanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.ui.find import child
from tests.ui.waiting import pass_time
from tests.ui.windows import in_turn, numbers, panes_of, theme_of, window_on


def at(seconds: float) -> str:
    return f"2026-01-05T09:{int(seconds) // 60:02d}:{int(seconds) % 60:02d}.{round(seconds % 1 * 1000):03d}Z"


def lines() -> list[dict[str, Any]]:
    """1 chat; 2 to 5 a result that No. 5 collapses; 6 a status of lead; 7 chat."""
    search = tool_call("search_records", ts=at(10))
    meta = {
        "contextHints": [{"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}],
        "context": {"lifecycle": "transient", "summary": "15 records"},
    }
    rows = "\n".join(f"record {n} of the table" for n in range(60))
    found = tool_result(search, rows, meta=meta, ts=at(20), sender="files")
    store = tool_call("analysis_store", ts=at(30))
    stored = tool_result(store, "Stored", meta={"context": {"consumed": True}}, ts=at(40), sender="files")
    status = {"tokens": 900, "max_tokens": 1_000, "messages_in_context": 4}
    return [
        envelope("chat", {"text": "Find the slow part"}, sender="human", ts=at(0)), search, found, store, stored,
        envelope("participant/status", status, ts=at(50)),
        envelope("chat", {"text": "password=hunter2secret"}, sender="human", ts=at(60)),
    ]  # fmt: skip


def counted(document: CaptureDocument) -> CaptureDocument:
    document.analysis.tokens.count_now(range(len(document.analysis)))
    return document


@pytest.fixture
def window(application: Application) -> MainWindow:
    return window_on(application, counted(document_of(*lines())))


def opened(window: MainWindow) -> GrowthPlot:
    window.show()
    window.actions_by_id["view.timeline"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    for _ in range(3):
        QApplication.processEvents()
    panel.plot.refresh()
    while panel.plot.latest.is_pending:
        QApplication.processEvents()
    return panel.plot


def canvas_of(plot: GrowthPlot) -> PlotCanvas:
    plot.canvas.grab()  # painted: what is drawn is what there is
    return plot.canvas


def place_of(plot: GrowthPlot, seconds: float) -> QPoint:
    """Where a time stands in the plot."""
    canvas, axis = canvas_of(plot), axis_of(plot)
    x = axis.x_of(axis.first_ns + round(seconds * 1e9), canvas.axis_width)
    return QPoint(round(canvas.head + x), canvas.height() // 2)


def axis_of(plot: GrowthPlot) -> TimeAxis:
    """The axis, which it shares with the lanes."""
    return child(plot.window(), TimelinePanel).axis


def scale_of(plot: GrowthPlot) -> Scale:
    """What is drawn, from which value to which."""
    axis, canvas = axis_of(plot), canvas_of(plot)
    return plot.growth.draw(Window(axis.left_ns, axis.right_ns, canvas.axis_width))


def card(plot: GrowthPlot) -> str:
    canvas = canvas_of(plot)
    return canvas.card.text.accessible_text if canvas.card.isVisible() and canvas.card.text is not None else ""


def press(plot: GrowthPlot, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(canvas_of(plot), key)


def it_shows_what_collapsing_saves_and_shares_the_axis_of_the_lanes(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    assert plot.head.reader.accessibleName() == "of lead with files"
    assert list(plot.head.legend.keys) == [REPORTED_KEY, *KEYS, LIMIT_KEY]
    whole, seen = plot.growth.figures.lines[:, -1].tolist()
    assert whole - seen > 300
    assert plot.growth.figures.limit == 1_000
    canvas = canvas_of(plot)
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    assert canvas.axis_width == panel.view.axis_width
    assert canvas.head == head_width(theme_of(panel))
    assert "cl100k_base" in canvas.unit
    assert "estimate" in canvas.unit
    assert [level.words for level in scale_of(plot).levels] == ["1,000 limit, reported by lead"]


def the_cursor_leaves_the_words_of_a_limit_readable(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    canvas, theme = canvas_of(plot), window.theme.theme
    (said,) = canvas._level_boxes  # where words are painted is seen nowhere else
    pixels: list[set[bool]] = []
    for x in (said.center().x(), said.right() + 20):
        axis_of(plot).set_cursor(axis_of(plot).ns_at(x - canvas.head, canvas.axis_width))
        image = canvas.grab().toImage()
        ink = theme.color("ink.primary").rgb()
        column = [image.pixel(x, y) == ink for y in range(said.top(), said.bottom() + 1)]
        assert image.pixel(x, canvas.height() - 4) == ink
        pixels.append(set(column))
    assert pixels == [{False}, {True}]


def the_card_names_the_message_and_says_the_values(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    qtbot.mouseMove(canvas_of(plot), place_of(plot, 25))
    before, after = plot.growth.values_at(0)[1], plot.growth.values_at(2)[1]
    assert before < after
    change = after - plot.growth.values_at(1)[1]
    assert f"seen by the model, estimate {after:,}" in card(plot)
    assert f"No. 3 search_records result +{change:,}" in card(plot)
    assert "saved" not in card(plot)
    qtbot.mouseMove(canvas_of(plot), place_of(plot, 55))
    assert "saved" in card(plot)
    assert "last reported 900" in card(plot)
    assert canvas_of(plot).accessibleDescription() == card(plot)
    qtbot.mouseMove(canvas_of(plot), place_of(plot, 61))
    assert "hunter2" not in card(plot)


def test_a_low_plot_still_names_the_message(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    canvas_of(plot).setFixedHeight(80)
    QApplication.processEvents()
    qtbot.mouseMove(canvas_of(plot), place_of(plot, 55))
    assert "No. 5" in card(plot)
    assert "last reported 900" in card(plot)
    assert "seen by the model" not in card(plot)
    assert "seen by the model" in canvas_of(plot).accessibleDescription()
    assert canvas_of(plot).rect().contains(canvas_of(plot).card.geometry())


def a_click_selects_the_message_that_made_the_step(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    qtbot.mouseClick(canvas_of(plot), Qt.MouseButton.LeftButton, pos=place_of(plot, 25))
    assert panes_of(window).messages.current_message() == 2


def arrows_move_from_step_to_step_and_enter_selects(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    press(plot, Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert axis_of(plot).cursor_ns == int(plot.growth.figures.places[2])
    press(plot, Qt.Key.Key_Left, Qt.Key.Key_Return)
    assert panes_of(window).messages.current_message() == int(plot.growth.figures.messages[1])
    press(plot, Qt.Key.Key_End, Qt.Key.Key_Right)
    assert axis_of(plot).cursor_ns == int(plot.growth.figures.places[-1])
    QTest.keyClick(canvas_of(plot), Qt.Key.Key_Plus)
    assert not axis_of(plot).shows_all
    press(plot, Qt.Key.Key_F)
    assert axis_of(plot).shows_all


def what_is_brushed_filters_every_pane(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    shift, view = Qt.KeyboardModifier.ShiftModifier, canvas_of(plot)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, shift, place_of(plot, 5))
    qtbot.mouseMove(view, place_of(plot, 35))
    assert axis_of(plot).brushed is not None
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, shift, place_of(plot, 35))
    assert numbers(window) == [2, 3, 4]
    assert [condition.text[:9] for condition in panes_of(window).filter_state.stack.conditions] == ['time >= "']
    panes_of(window).filter_state.clear()
    press(plot, Qt.Key.Key_Home, Qt.Key.Key_B, Qt.Key.Key_Right, Qt.Key.Key_Escape)
    assert axis_of(plot).brushed is None
    assert len(numbers(window)) == 7
    press(plot, Qt.Key.Key_Home, Qt.Key.Key_B, Qt.Key.Key_Right, Qt.Key.Key_Return)
    assert numbers(window) == [1, 2]


def escape_takes_back_what_is_being_dragged(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    shift, view = Qt.KeyboardModifier.ShiftModifier, canvas_of(plot)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, shift, place_of(plot, 5))
    qtbot.mouseMove(view, place_of(plot, 35))
    press(plot, Qt.Key.Key_Escape)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, shift, place_of(plot, 35))
    assert len(numbers(window)) == 7
    qtbot.mouseMove(view, place_of(plot, 25))
    qtbot.waitUntil(canvas_of(plot).card.isVisible)


def test_somebody_else_may_be_chosen(application: Application) -> None:
    more = [*lines(), tool_call("grep", sender="helper", ts=at(70)), envelope(sender="human", ts=at(80))]
    plot = opened(window_on(application, counted(document_of(*more))))
    names = [action.text() for action in plot.head.reader.menu_of_options.actions() if action.text()]
    assert names == [SELECTED, "lead with files", "helper"]
    plot.head.reader.menu_of_options.actions()[-1].trigger()
    assert plot.growth.figures.reader is not None
    assert plot.growth.figures.reader.name == "helper"
    assert plot.head.reader.accessibleName() == "of helper"
    assert list(plot.head.legend.keys) == list(KEYS)


def test_it_shows_whom_the_selected_message_concerns_and_never_turns_by_itself(
    application: Application, qtbot: QtBot
) -> None:
    log = GrowingLog()
    log.write(*lines(), tool_call("grep", sender="helper", ts=at(70)))
    window = window_on(application, log.document)
    plot = opened(window)
    reader = plot.head.reader
    assert reader.accessibleName().startswith("of lead")

    log.write(*(tool_call("grep", sender="helper", ts=at(80 + n)) for n in range(9)))
    panes_of(window).bridge.flush()
    plot.refresh()
    assert [one.reader.name for one in plot.growth.figures.readers] == ["helper", "lead"]
    assert reader.accessibleName().startswith("of lead")

    panes_of(window).go_to(7)
    qtbot.waitUntil(lambda: reader.accessibleName() == "of helper")
    panes_of(window).go_to(5)
    qtbot.waitUntil(lambda: reader.accessibleName().startswith("of lead"))
    reader.menu_of_options.actions()[-1].trigger()
    chosen = reader.accessibleName()
    panes_of(window).go_to(7)
    pass_time(120)
    assert reader.accessibleName() == chosen
    assert panes_of(window).plot_choices.chosen is not None
    next(one for one in reader.menu_of_options.actions() if one.text() == SELECTED).trigger()
    assert reader.accessibleName() == "of helper"


def the_card_goes_with_the_pointer_and_stands_where_it_is_not(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    canvas = canvas_of(plot)
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    panes_of(window).go_to(3)
    QApplication.processEvents()
    assert not canvas.card.isVisible()

    qtbot.mouseMove(canvas, place_of(plot, 45))
    qtbot.waitUntil(canvas.card.isVisible)
    assert canvas.card.geometry().right() < place_of(plot, 45).x()
    qtbot.mouseMove(canvas, place_of(plot, 5))
    qtbot.waitUntil(lambda: canvas.card.geometry().left() > place_of(plot, 5).x())
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert not canvas.card.isVisible()
    canvas.setFocus()
    press(plot, Qt.Key.Key_Left)
    assert canvas.card.isVisible()


def messages_per_second_say_counts_and_go_to_the_first_of_a_bar(window: MainWindow, qtbot: QtBot) -> None:
    plot = opened(window)
    plot.head.plots.buttons[RATES].click()
    assert not plot.head.reader.isVisible()
    assert [key.words for key in plot.head.legend.keys] == ["chat", "tools", "control"]
    view = canvas_of(plot)
    qtbot.mouseMove(view, place_of(plot, 10.5))
    assert "per second" in card(plot)
    assert "tools 1 message" in card(plot)
    assert card(plot).startswith("10 s to 11 s ")
    assert card(plot).endswith("mcp/request"), "one message needs no share"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place_of(plot, 10.5))
    assert panes_of(window).messages.current_message() == 1
    press(plot, Qt.Key.Key_Right, Qt.Key.Key_Return)
    assert panes_of(window).messages.current_message() == 2
    plot.head.plots.buttons[GROWTH].click()
    assert plot.head.reader.isVisible()


def test_it_follows_live_traffic_and_rests_when_hidden(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "FIGURES_MS", 10)
    log = GrowingLog()
    window = window_on(application, log.document)
    plot = opened(window)
    assert plot.growth.empty == NO_READER
    log.write(*lines())
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: len(plot.growth.figures.places) > 0)
    assert plot.growth.empty == NOT_COUNTED
    counted(log.document)
    log.document.notify_counted()
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: bool(plot.growth.figures.lines[0].any()))
    assert plot.growth.empty == ""
    window.actions_by_id["view.messages"].trigger()
    steps = len(plot.growth.figures.places)
    log.write(tool_call("grep", ts=at(70)))
    panes_of(window).bridge.flush()
    assert not plot.latest.is_pending
    assert len(plot.growth.figures.places) == steps


def test_a_theme_changes_what_is_drawn(window: MainWindow, application: Application) -> None:
    plot = opened(window)
    light = canvas_of(plot).grab().toImage()
    application.theme.set_setting("dark")
    dark = canvas_of(plot).grab().toImage()
    middle = (light.width() // 2, light.height() - 6)
    assert light.pixelColor(*middle).lightness() > 200
    assert dark.pixelColor(*middle).lightness() < 60


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (500, "500"), (5_000, "5k"), (2_500, "2.5k"), (20_000_000, "20M")]
)
def test_figures_of_the_scale(value: int, said: str) -> None:
    assert scale_words(value) == said
    assert signed_count(value) == (f"+{value:,}" if value else "0")


def test_while_tokens_are_counted_it_says_how_far_that_is(application: Application) -> None:
    document = document_of(*lines())
    document.analysis.tokens.count_now([0, 1])
    plot = opened(window_on(application, document))
    assert "counting tokens,\n28 %" in canvas_of(plot).unit
    counted(document)
    plot.refresh()
    assert "counting" not in canvas_of(plot).unit


def test_reports_are_dots_and_a_limit_far_above_is_only_named(application: Application) -> None:
    far = [*lines(), envelope("participant/status", {"tokens": 950, "max_tokens": 200_000}, ts=at(80))]
    plot = opened(window_on(application, counted(document_of(*far))))
    assert [place.y() for place in plot.growth.reported] == [900, 950]
    assert {line.y2() for line in plot.growth.given} == {900, 950}
    scale = scale_of(plot)
    (level,) = scale.levels
    assert level.words == "200,000 limit, reported by lead"
    assert level.value > scale.most
    assert scale.most == 950


def test_the_plot_and_model_sees_are_about_the_same_model(application: Application, qtbot: QtBot) -> None:
    log = document_of(*lines(), tool_call("grep", sender="helper", ts=at(70)))
    window = window_on(application, log)
    plot = opened(window)
    window.center.show_view("model_sees")
    sees = window.center.currentWidget()
    assert isinstance(sees, ModelSeesPanel)
    assert sees.head.reader.words == "lead"

    panes_of(window).go_to(7)
    qtbot.waitUntil(lambda: sees.head.reader.words == "helper")
    window.center.show_view("timeline")
    qtbot.waitUntil(lambda: plot.head.reader.accessibleName().startswith("of helper"))

    lead = next(one for one in plot.head.reader.menu_of_options.actions() if one.text().startswith("lead"))
    lead.trigger()
    window.center.show_view("model_sees")
    qtbot.waitUntil(lambda: sees.head.reader.words == "lead")
    panes_of(window).go_to(7)  # it was chosen: nothing that is selected takes it away
    pass_time(150)
    assert sees.head.reader.words == "lead"
    sees.choose_reader(Reader(0, "helper"))
    window.center.show_view("timeline")
    qtbot.waitUntil(lambda: plot.head.reader.accessibleName().startswith("of helper"))


def begun_again(window: MainWindow) -> None:
    """All messages are shown and in sight, and the pointer is elsewhere."""
    panes_of(window).filter_state.clear()
    plot = opened(window)
    axis_of(plot).fit()
    QApplication.sendEvent(plot.canvas, QEvent(QEvent.Type.Leave))


test_what_the_plot_says_and_does = in_turn([
    it_shows_what_collapsing_saves_and_shares_the_axis_of_the_lanes,
    the_cursor_leaves_the_words_of_a_limit_readable, the_card_names_the_message_and_says_the_values,
    a_click_selects_the_message_that_made_the_step, arrows_move_from_step_to_step_and_enter_selects,
    what_is_brushed_filters_every_pane, escape_takes_back_what_is_being_dragged,
    messages_per_second_say_counts_and_go_to_the_first_of_a_bar,
    the_card_goes_with_the_pointer_and_stands_where_it_is_not,
], begun_again)  # fmt: skip
