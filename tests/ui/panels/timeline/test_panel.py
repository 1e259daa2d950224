"""The timeline as the user meets it: tab, lanes, pointer, keys, brush, filters, live traffic."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar, QTabBar
from pytestqt.qtbot import QtBot

from inspector.base.slices import run_to_end
from inspector.engine.engine import Engine
from inspector.engine.requests.timeline import FindInTimeline, LanesLook, PaintLanes, TimelinePlace, UpdateTimeline
from inspector.engine.requests.views import FilterRows, FollowRows
from inspector.engine.timeline_lanes import TimelineLanes
from inspector.ui.app.application import Application
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.panels.timeline.geometry import head_width
from inspector.ui.panels.timeline.panel import NOTHING, TimelinePanel
from inspector.ui.panels.tokens.panel import TokensPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.ui.find import child
from tests.ui.held_requests import hold_requests
from tests.ui.late_answers import note_requests
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import in_turn, numbers, panel_of, panes_of, theme_of, window_on


def at(seconds: float) -> str:
    return f"2026-01-05T09:{int(seconds) // 60:02d}:{int(seconds) % 60:02d}.{round(seconds % 1 * 1000):03d}Z"


def lines() -> list[dict[str, Any]]:
    """1, 5 and 7 of lead in main; 2 of human; 3 and 4 a call and its answer in `why-1`; 6 a thought of lead in it."""
    ask = tool_call("grep", context="why-1", ts=at(20))
    return [
        envelope(ts=at(0)), envelope(sender="human", ts=at(10)), ask,
        tool_result(ask, context="why-1", sender="files", ts=at(40)), envelope(ts=at(50)),
        envelope("reasoning/thought", {"message": "Look first"}, context="why-1", ts=at(60)),
        envelope("chat", {"text": "password=hunter2secret"}, ts=at(90)),
    ]  # fmt: skip


@pytest.fixture
def window(application: Application) -> MainWindow:
    return window_on(application, document_of(*lines()))


def opened(window: MainWindow) -> TimelinePanel:
    window.show()
    window.actions_by_id["view.timeline"].trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    return panel


def names(panel: TimelinePanel) -> list[str]:
    return [lane.name for lane in panel.view.picture.lanes]


def counts(panel: TimelinePanel) -> list[int]:
    return [lane.count for lane in panel.view.picture.lanes]


def is_done(panel: TimelinePanel) -> bool:
    answer = panel.latest.answer
    return panel.latest.is_current and answer is not None and not (answer.is_behind or panel.is_busy)


def settle(qtbot: QtBot, panel: TimelinePanel) -> None:
    """Waits for the picture of the lanes; painting may ask for another one, with other heights."""
    for _ in range(3):
        panel.view.grab()
        qtbot.waitUntil(lambda: is_done(panel))


def found(panel: TimelinePanel, number: int) -> TimelinePlace:
    """The place of a message in the lanes that are chosen."""
    head = panel.head
    by = "context" if head.by.value == "context" else "participant"
    look = LanesLook(VIEW, by, head.shown.value == "table", head.spacing.value == "message")
    window = panel.window()
    assert isinstance(window, MainWindow)
    place = panes_of(window).client.answer_now(FindInTimeline(look, number - 1, theme_of(panel).zoom))
    assert place is not None
    return place


def time_of(panel: TimelinePanel, number: int) -> int:
    return found(panel, number).ns


def height_of(panel: TimelinePanel, number: int) -> int:
    y = found(panel, number).y
    assert y is not None
    return y


def place_of(panel: TimelinePanel, number: int) -> QPoint:
    """Where a message stands in the view."""
    x = panel.axis.x_of(time_of(panel, number), panel.view.axis_width)
    y = height_of(panel, number) - child(panel, QScrollBar, "timelineScrollBar").value()
    return QPoint(round(head_width(theme_of(panel)) + x), y)


def press(panel: TimelinePanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.view, key)


def test_it_is_a_tab_beside_the_messages(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    assert "Timeline" in window.view_head.tabs.words()
    bar = window.view_head.tabs.findChild(QTabBar, "viewTabBar")
    assert bar is not None
    titles = [bar.tabText(place) for place in range(bar.count())]
    place = next(place for place, title in enumerate(titles) if title.startswith("Timeline"))
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(place).center())
    assert window.center.current == "timeline"
    assert window.actions_by_id["view.timeline"].isChecked()
    window.actions_by_id["view.messages"].trigger()
    assert bar.tabText(bar.currentIndex()).startswith("Messages")
    assert panes_of(window).messages.isVisible()
    window.actions_by_id["view.messages"].trigger()
    assert window.actions_by_id["view.messages"].isChecked()


def lanes_are_participants_or_contexts(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    assert names(panel) == ["lead", "human", "files"]
    assert counts(panel) == [5, 1, 1]
    panel.head.by.choose("context")
    assert names(panel) == ["main", "why-1"]
    assert panel.head.by.accessibleName() == "Lanes by context"


def a_click_selects_here_and_in_the_table(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    qtbot.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=place_of(panel, 2))
    assert panes_of(window).messages.current_message() == 1
    assert panel.view.current == 1
    assert panel.axis.cursor_ns == time_of(panel, 2)
    panes_of(window).go_to(2)
    assert panel.view.current == 2
    assert panel.view.accessibleDescription().startswith("Lane lead. No. 3, 20.000 s.")


def arrows_walk_along_a_lane_and_between_lanes(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panes_of(window).go_to(0)
    panel.view.setFocus()
    found = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_End):
        press(panel, key)
        found.append((panel.view.current or 0) + 1)
    assert found == [5, 7, 6, 3, 3, 6]
    press(panel, Qt.Key.Key_Down)
    assert panel.view.current == 1  # human's only message


def zooming_and_moving_with_keys_and_wheel(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    axis = panel.axis
    whole = axis.span_ns
    press(panel, Qt.Key.Key_Plus, Qt.Key.Key_Plus)
    assert axis.span_ns < whole / 2
    left = axis.left_ns
    QTest.keyClick(panel.view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert axis.left_ns > left
    place = place_of(panel, 5)
    before = axis.ns_at(place.x() - head_width(theme_of(panel)), panel.view.axis_width)
    wheel = QWheelEvent(
        QPointF(place), QPointF(panel.view.mapToGlobal(place)), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(panel.view, wheel)
    after = axis.ns_at(place.x() - head_width(theme_of(panel)), panel.view.axis_width)
    assert abs(after - before) <= axis.span_ns / panel.view.axis_width
    for _ in range(60):
        press(panel, Qt.Key.Key_Plus)
    assert axis.span_ns == 1_000_000
    press(panel, Qt.Key.Key_F)
    assert axis.shows_all


def dragging_moves_and_shift_dragging_filters_every_pane(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.view.gestures.zoom(2)
    left = panel.axis.left_ns
    middle = QPoint(panel.view.width() // 2, panel.view.height() - 5)
    qtbot.mousePress(panel.view, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(panel.view, middle + QPoint(60, 0))
    qtbot.mouseRelease(panel.view, Qt.MouseButton.LeftButton, pos=middle + QPoint(60, 0))
    assert panel.axis.left_ns < left
    panel.axis.fit()
    begin, end = place_of(panel, 2) - QPoint(15, 0), place_of(panel, 4) + QPoint(15, 0)
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mousePress(panel.view, Qt.MouseButton.LeftButton, shift, begin)
    qtbot.mouseMove(panel.view, end)
    assert panel.axis.brushed is not None
    qtbot.mouseRelease(panel.view, Qt.MouseButton.LeftButton, shift, end)
    assert panel.axis.brushed is None
    assert numbers(window) == [2, 3, 4]
    assert [condition.text[:9] for condition in panes_of(window).filter_state.stack.conditions] == ['time >= "']


def a_range_is_brushed_with_keys_alone(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panes_of(window).go_to(0)
    press(panel, Qt.Key.Key_B, Qt.Key.Key_Right, Qt.Key.Key_Return)
    assert numbers(window) == [1, 2, 3, 4, 5]
    press(panel, Qt.Key.Key_B, Qt.Key.Key_Left, Qt.Key.Key_Escape)
    assert panel.axis.brushed is None
    assert window.center.current == "timeline"


def what_the_table_hides_is_dimmed_passed_over_or_left_out(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panes_of(window).filter_state.apply_filter('from != "human" && kind != "chat"')
    hidden = {
        one.mark.row + 1 for track in panel.view.picture.tracks.values() for one in track.marks if one.mark.hidden
    }
    assert hidden == {1, 2, 5, 7}
    panes_of(window).go_to(2)
    press(panel, Qt.Key.Key_Right)
    assert panel.view.current == 5
    press(panel, Qt.Key.Key_Up)
    assert panel.view.current == 5
    panel.head.shown.choose("table")
    assert names(panel) == ["lead", "files"]
    panes_of(window).filter_state.apply_filter('kind == "nonsense"')
    assert panel.empty.isVisible()
    assert panel.empty.text() == NOTHING
    panes_of(window).filter_state.clear()
    assert names(panel) == ["lead", "human", "files"]
    assert not panel.empty.isVisible()


def the_card_names_the_message_without_its_secrets(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    qtbot.mouseMove(panel.view, place_of(panel, 7))
    assert panel.view.card.isVisible()
    said = " ".join(panel.view.card.lines)
    assert "lead" in said
    assert "No. 7" in said
    assert "hunter2" not in said
    qtbot.mouseMove(panel.view, place_of(panel, 6) - QPoint(40, 0))
    assert panel.view.card.lines[0] == "why-1"


def a_request_is_drawn_until_its_answer(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    spans = panel.view.picture.spans
    assert [(span.row, span.end, span.waits) for span in spans] == [(2, 3, False)]
    assert round(spans[0].right) == round(place_of(panel, 4).x() - head_width(theme_of(panel)))


def details_of_the_current_message(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    window.docks["Details"].hide()
    panes_of(window).go_to(4)
    press(panel, Qt.Key.Key_Return)
    assert not window.docks["Details"].isHidden()


def the_current_message_is_shown_in_the_timeline(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    for _ in range(12):
        press(panel, Qt.Key.Key_Plus)
    window.actions_by_id["view.messages"].trigger()
    panes_of(window).go_to(6)
    window.actions_by_id["go.in_timeline"].trigger()
    assert window.center.current == "timeline"
    assert panel.axis.left_ns <= time_of(panel, 7) <= panel.axis.right_ns


def the_strip_says_and_moves_what_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    assert panel.strip.words() == "0 to 90 s of 90 s"
    panel.axis.show(panel.axis.first_ns, panel.axis.first_ns + 9_000_000_000)
    assert panel.strip.words() == "0.0 to 9.0 s of 90 s"
    end = QPoint(panel.strip.width() - 20, 10)
    qtbot.mousePress(panel.strip, Qt.MouseButton.LeftButton, pos=end)
    assert panel.axis.right_ns >= panel.axis.last_ns - 5_000_000_000
    qtbot.mouseMove(panel.strip, QPoint(panel.strip.width() // 2, 10))
    qtbot.mouseRelease(panel.strip, Qt.MouseButton.LeftButton)
    assert panel.axis.right_ns < panel.axis.last_ns - 20_000_000_000


def test_it_follows_live_traffic_only_at_its_end(application: Application) -> None:
    log = GrowingLog()
    log.write(*[envelope(ts=at(n)) for n in range(10)])
    window = window_on(application, log.document)
    panel = opened(window)
    panes_of(window).plot_choices.space_by("scale")
    log.write(envelope(sender="files", ts=at(30)))
    panes_of(window).bridge.flush()
    assert panel.axis.shows_all
    assert names(panel) == ["lead", "files"]
    panel.axis.show(panel.axis.first_ns, panel.axis.first_ns + 5_000_000_000)
    left, right = panel.axis.left_ns, panel.axis.right_ns
    log.write(envelope(ts=at(60)))
    panes_of(window).bridge.flush()
    assert (panel.axis.left_ns, panel.axis.right_ns) == (left, right)
    panel.axis.show(panel.axis.last_ns - 5_000_000_000, panel.axis.last_ns)
    log.write(envelope(ts=at(70)))
    panes_of(window).bridge.flush()
    assert panel.axis.right_ns >= panel.axis.last_ns
    assert panel.axis.span_ns == 5_000_000_000


def test_following_goes_on_at_any_zoom_and_the_button_goes_out_with_the_end(application: Application) -> None:
    log = GrowingLog()
    log.write(*[envelope(ts=at(n)) for n in range(50)])
    log.document.live = True
    window = window_on(application, log.document)
    panel = opened(window)
    action, messages = window.actions_by_id["capture.follow"], panes_of(window).messages
    messages.follow(True)
    place = place_of(panel, 50)
    for _ in range(8):
        wheel_at(panel, place)
    span = panel.axis.span_ns
    assert span < 15_000_000_000
    assert action.isChecked()

    log.write(envelope(ts=at(55)))
    panes_of(window).bridge.flush()
    assert panel.axis.at_end
    assert panel.axis.span_ns == span
    assert action.isChecked()

    panel.axis.pan(-1)
    assert not action.isChecked()
    assert not messages.following
    left = panel.axis.left_ns
    log.write(envelope(ts=at(58)))
    panes_of(window).bridge.flush()
    assert panel.axis.left_ns == left
    messages.follow(True)
    assert panel.axis.at_end
    assert panel.axis.span_ns == span


def wheel_at(panel: TimelinePanel, place: QPoint) -> None:
    event = QWheelEvent(
        QPointF(place), QPointF(panel.view.mapToGlobal(place)), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(panel.view, event)


def test_a_count_opens_to_its_messages(application: Application, qtbot: QtBot) -> None:
    near = [envelope(ts=at(30 + n / 1000)) for n in range(6)]
    window = window_on(application, document_of(envelope(ts=at(0)), *near, envelope(ts=at(60))))
    panes_of(window).plot_choices.space_by("scale")
    panel = opened(window)
    place = place_of(panel, 3)
    hit = panel.view.mark_at(place)
    assert hit is not None
    assert hit.mark.count == 6
    qtbot.mouseMove(panel.view, place)
    qtbot.waitUntil(panel.view.card.isVisible)
    assert panel.view.card.lines[0] == "6 messages"
    assert panel.view.card.lines[1].startswith("The first is lead to everyone: chat, message ")
    assert panel.view.card.lines[2].endswith("Double-click to spread them out.")

    QTest.mouseDClick(panel.view, Qt.MouseButton.LeftButton, pos=place)

    assert panel.axis.span_ns < 10_000_000
    assert not panel.view.card.isVisible()
    marks = [one.mark for track in panel.view.picture.tracks.values() for one in track.marks]
    assert [mark.count for mark in marks if 0 <= mark.x <= panel.view.axis_width] == [1] * 6
    window.grab()


def test_where_no_message_is_in_sight_there_are_ways_to_the_next(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, document_of(envelope(ts=at(0)), envelope(ts=at(30)), envelope(ts=at(60))))
    panel = opened(window)
    axis, beyond = panel.axis, panel.view.beyond
    assert not beyond.isVisible()

    axis.show(axis.first_ns + 31_000_000_000, axis.first_ns + 35_000_000_000)
    qtbot.waitUntil(beyond.isVisible)
    window.grab()
    beyond.next.click()
    qtbot.waitUntil(beyond.isHidden)
    assert axis.left_ns <= axis.last_ns <= axis.right_ns
    axis.show(axis.first_ns + 31_000_000_000, axis.first_ns + 35_000_000_000)
    qtbot.waitUntil(beyond.isVisible)
    beyond.previous.click()
    assert axis.left_ns <= axis.first_ns + 30_000_000_000 <= axis.right_ns


def the_brush_button_lets_the_next_drag_choose_a_time(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    head, axis = panel.head, panel.axis
    head.brush.click()
    assert "Shift" in head.brush.toolTip()
    left = axis.left_ns
    start = QPoint(head_width(theme_of(panel)) + 100, panel.view.height() - 5)

    qtbot.mousePress(panel.view, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(panel.view, start + QPoint(120, 0))
    qtbot.mouseRelease(panel.view, Qt.MouseButton.LeftButton, pos=start + QPoint(120, 0))

    assert axis.left_ns == left
    assert not head.brush.isChecked()
    condition = panes_of(window).filter_state.stack.conditions[0].text
    assert condition.startswith("time >= ")
    chip = window.filter_conditions.bar.chips()[0]
    assert re.fullmatch(r"Condition [\d.]+ to [\d.]+ s(, hides \d+)?", chip.accessibleName())
    assert html.escape(condition, quote=False) in chip.toolTip() or html.escape(condition) in chip.toolTip()
    head.brush.click()
    press(panel, Qt.Key.Key_Escape)
    assert not head.brush.isChecked()


def test_the_inspectors_own_lane_comes_after_those_of_others(application: Application) -> None:
    document = document_of(
        envelope(sender="system:gateway", ts=at(0)), envelope(sender="inspector", ts=at(1)),
        envelope(sender="lead", ts=at(2)),
    )  # fmt: skip
    everybody = document.analysis.participants.all
    everybody.is_us[everybody.find(0, "inspector")] = True

    panel = opened(window_on(application, document))

    assert names(panel) == ["lead", "inspector", "system:gateway"]


def only_families_that_are_there_are_in_the_legend(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)

    words = [key.words for key in panel.legend.keys]
    assert "streams" not in words
    assert {"chat", "tools", "until answered", "concluded"} <= set(words)
    assert "no answer yet" not in words
    assert panel.head.by.accessibleName() == "Lanes by participant"


def the_range_in_the_strip_is_never_half_a_figure(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    axis = panel.axis
    axis.show(axis.first_ns + 24_400_000_000, axis.first_ns + 31_300_000_000)
    metrics = QFontMetrics(theme_of(panel).font("small"))

    for room in range(40, 300, 4):
        assert "\N{HORIZONTAL ELLIPSIS}" not in panel.strip.words_within(metrics, room) or room < 60


def test_a_new_log_begins_with_its_messages_and_nothing_at_the_bottom(
    application: Application, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("inspector.ui.window.layout.config_folder", lambda: tmp_path)
    application.remembers = True
    try:
        window = window_on(application, document_of(*lines()))
        opened(window)
        window.actions_by_id["view.marks"].trigger()
        window.docks["Participants"].hide()
        window.layout_keeper.store()
        other = window_on(application, document_of(*lines()))
        assert other.center.current == "messages"
        other.show()
        other.resize(1280, 800)  # the screen of tests is narrower, and has no room for the details
        QApplication.processEvents()
        shown = [title for title, dock in other.docks.items() if not dock.isHidden()]
        assert shown == ["Contexts", "Details"], "panes at the sides stand as they were arranged"
    finally:
        application.remembers = False


def test_without_messages_it_says_so(application: Application) -> None:
    panel = opened(window_on(application, GrowingLog().document))
    assert panel.empty.isVisible()
    press(panel, Qt.Key.Key_Right, Qt.Key.Key_Plus, Qt.Key.Key_F, Qt.Key.Key_Home)
    assert panel.view.current is None


def test_what_changes_comes_into_sight_where_only_the_table_is_drawn(application: Application) -> None:
    log = GrowingLog()
    ask = tool_call("grep", ts=at(1))
    log.write(envelope(ts=at(0)), ask)
    window = window_on(application, log.document)
    panel = opened(window)
    panes_of(window).filter_state.apply_filter("answered")
    panel.head.shown.choose("table")
    assert panel.empty.isVisible()
    log.write(tool_result(ask, sender="files", ts=at(2)))
    panes_of(window).bridge.flush()
    assert (names(panel), counts(panel)) == (["lead"], [1])


def test_words_to_choose_give_way_to_their_arrow(window: MainWindow) -> None:
    by = opened(window).head.by
    by.resize(by.sizeHint().width() // 2, by.height())
    ink, background = (window.theme.theme.color(token).rgb() for token in ("ink.primary", "surface.base"))
    picture = by.grab().toImage()
    side = round(14 * window.theme.theme.zoom) + 3
    shown = {picture.pixel(x, y) for x in range(by.width() - side, by.width()) for y in range(by.height())}
    assert ink not in shown
    assert ink != background


@pytest.fixture
def in_slices(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few messages are worked out as a million are: with a pause after each step."""
    answer_slowly(monkeypatch, panes_of(window).client)


@pytest.mark.usefixtures("in_slices")
def test_many_messages_are_worked_out_a_little_at_a_time(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = hold_requests(monkeypatch, UpdateTimeline)
    panel = opened(window)
    qtbot.waitUntil(lambda: panel.empty.text().startswith("Computing lanes, "))
    assert names(panel) == []
    assert panel.empty.isVisible()
    panel.view.grab()
    release()
    qtbot.waitUntil(lambda: is_done(panel))
    assert names(panel) == ["lead", "human", "files"]
    assert not panel.empty.isVisible()
    assert len(panel.view.picture.spans) == 1
    settle(qtbot, panel)
    before = panel.view.grab().toImage()
    panel.head.by.choose("context")
    panel.view.grab()
    qtbot.waitUntil(lambda: is_done(panel))
    assert names(panel) == ["main", "why-1"]
    panel.head.by.choose("participant")
    qtbot.waitUntil(lambda: names(panel) == ["lead", "human", "files"])
    settle(qtbot, panel)
    assert panel.view.grab().toImage() == before


@pytest.mark.usefixtures("in_slices")
def test_while_others_are_worked_out_the_lanes_stay(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    qtbot.waitUntil(lambda: is_done(panel))
    panes_of(window).filter_state.apply_filter("tool")
    panel.head.shown.choose("table")
    assert names(panel) == ["lead", "human", "files"]
    panel.view.grab()
    qtbot.waitUntil(lambda: counts(panel) == [1, 1])
    assert names(panel) == ["lead", "files"]
    panes_of(window).filter_state.apply_filter("")
    qtbot.waitUntil(lambda: counts(panel) == [5, 1, 1])


def test_the_scroll_bar_is_as_high_as_the_lanes(window: MainWindow) -> None:
    """It kept its height when the splitter was moved."""
    panel = opened(window)
    for sizes in ([300, 100], [150, 250]):
        panel.splitter.setSizes(sizes)
        assert child(panel, QScrollBar, "timelineScrollBar").height() == panel.view.height() > 0


def test_until_a_picture_arrives_the_last_one_is_stretched(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zooming and scrolling are seen at once, and the pointer finds what is painted."""
    panel = opened(window)
    send, late = panes_of(window).client.send_request, []

    def send_late(request: Any, *calls: Any) -> Any:
        if isinstance(request, PaintLanes):
            late.append((request, *calls))
            return None
        return send(request, *calls)

    monkeypatch.setattr(panes_of(window).client, "send_request", send_late)
    panel.axis.zoom(3, time_of(panel, 5))
    place = place_of(panel, 5)
    early, mark = panel.view.grab().toImage().pixelColor(place), panel.view.mark_at(place)
    assert mark is not None
    assert mark.mark.row == 4
    panel.axis.zoom(1.5, time_of(panel, 5))
    assert len(late) == 1, "one picture is asked for at a time"
    while late:
        send(*late.pop())
    assert panel.view.picture.left_ns == panel.axis.left_ns
    assert panel.view.grab().toImage().pixelColor(place) == early


def test_how_far_the_lanes_are_is_said_of_what_comes_into_them() -> None:
    log = GrowingLog()
    log.write(*lines())
    engine = Engine()
    number = engine.adopt(log.document)
    engine.answer_request(number, FilterRows(VIEW, "tool"))
    lanes = TimelineLanes(engine.opened(number), VIEW)
    steps = lanes.update(LanesLook(VIEW, "context", only_shown=True))
    next(steps)
    assert (lanes.share, len(lanes.lanes.lanes)) == (1, 0)


@pytest.mark.parametrize("turns", range(1, 9))
def test_messages_may_come_while_it_is_worked_out_which_are_shown(turns: int) -> None:
    """What the table showed was noted of fewer messages than had a place by then."""
    log = GrowingLog()
    log.write(envelope(ts=at(0)), envelope(sender="human", ts=at(10)), envelope(ts=at(20)))
    engine = Engine()
    number = engine.adopt(log.document)
    held = engine.opened(number)
    lanes, look = TimelineLanes(held, VIEW), LanesLook(VIEW)
    run_to_end(lanes.update(look))
    engine.answer_request(number, FilterRows(VIEW, "no in {2, 5}"))
    cancelled = lanes.update(look)
    for _ in range(turns):
        next(cancelled, None)
    cancelled.close()
    for changes in log.write(envelope(ts=at(30)), envelope(sender="human", ts=at(40))):
        engine.answer_request(number, FollowRows(VIEW, changes.start, changes.stop, changes.changed))
    for _ in range(100):
        run_to_end(lanes.update(look))
    shown = [segment.shown for segment in lanes.lanes.segments]
    assert sum(int(one[-1]) for one in shown if one is not None) == 2


@pytest.mark.parametrize("sliced", [False, True])
def test_contexts_that_grow_over_one_another_are_put_right(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, sliced: bool
) -> None:
    log = GrowingLog()
    log.write(envelope(context="a", ts=at(0)), envelope(context="b", ts=at(40)))
    window = window_on(application, log.document)
    if sliced:
        answer_slowly(monkeypatch, panes_of(window).client)
    log.document.analysis.now_ns = None
    panel = opened(window)
    qtbot.waitUntil(lambda: is_done(panel))
    assert height_of(panel, 1) == height_of(panel, 2)
    log.write(envelope(context="a", ts=at(50)))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: is_done(panel))
    assert height_of(panel, 1) == height_of(panel, 3) != height_of(panel, 2)


def test_a_flush_asks_for_the_lanes_and_their_picture_once(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = GrowingLog()
    log.write(*lines())
    window = window_on(application, log.document)
    panel = opened(window)
    qtbot.waitUntil(lambda: is_done(panel))
    sent = note_requests(monkeypatch)
    log.write(envelope(sender="lead", ts=at(100)))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: is_done(panel) and counts(panel) == [6, 1, 1])
    assert sum(isinstance(one, UpdateTimeline) for one in sent) == 1
    assert sum(isinstance(one, PaintLanes) for one in sent) == 1


def test_times_of_other_ages_do_no_harm(application: Application) -> None:
    said = [
        envelope(ts=when) for when in ("1700-01-01T00:00:00Z", at(5), "2262-01-01T00:00:00Z", "9999-01-01T00:00:00Z")
    ]
    panel = opened(window_on(application, document_of(*said, *lines())))
    assert names(panel) == ["lead", "human", "files"]
    panel.view.grab()
    panel.axis.zoom(1e12, time_of(panel, 2))
    panel.view.grab()
    press(panel, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_F)
    panel.grab()


def the_bar_of_a_request_spans_its_latency(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    for spacing in ("time", "message"):
        panes_of(window).plot_choices.space_by(spacing)
        asked, answered = (time_of(panel, number) for number in (3, 4))
        (span,) = panel.view.picture.spans
        assert (span.row, span.end, span.waits) == (2, 3, False)
        width = panel.view.axis_width
        assert span.left == pytest.approx(panel.axis.x_of(asked, width), abs=1)
        assert span.right == pytest.approx(panel.axis.x_of(answered, width), abs=1)


def test_many_messages_are_a_strip_that_zooming_turns_into_marks(application: Application) -> None:
    said = [envelope(ts=at(n / 10)) for n in range(600)]
    panel = opened(window_on(application, document_of(*said)))
    marks = [one.mark for track in panel.view.picture.tracks.values() for one in track.marks]
    assert all(mark.dense for mark in marks)
    assert sum(mark.count for mark in marks) == 600
    panel.axis.show(panel.axis.first_ns, panel.axis.first_ns + 3_000_000_000)
    marks = [one.mark for track in panel.view.picture.tracks.values() for one in track.marks]
    assert {(mark.count, mark.dense) for mark in marks} == {(1, False)}


def test_how_far_apart_messages_stand_is_chosen_once_and_remembered(application: Application) -> None:
    log = document_of(*lines(), envelope(ts=at(600)))
    window = window_on(application, log)
    panel = opened(window)
    assert next(words for _, _, words in panel.axis.labels(600, lambda words: 6 * len(words))) == "8 min 30 s left out"
    menu = panel.head.spacing.menu_of_options
    next(one for one in menu.actions() if one.data() == "message").trigger()
    assert application.settings.axis_by == "message"
    assert panel.strip.words() == "No. 1 to 8 of 8"
    panel.axis.set_cursor(time_of(panel, 3))
    assert panel.ruler.cursor_words() == "No. 3"
    places: list[str] = []
    panel.range_chosen.connect(places.append)
    panel.axis.set_brush((time_of(panel, 2), time_of(panel, 4)))
    panel.axis.commit_brush()
    assert places == ["no >= 2 && no <= 4"]
    window.actions_by_id["analyze.tokens"].trigger()
    assert panel_of(panes_of(window), "tokens", TokensPanel).axis.counts

    window.actions_by_id["view.theme_light"].trigger()
    other = opened(window_on(application, document_of(*lines())))
    assert other.head.spacing.value == "message"
    assert other.axis.counts
    next(one for one in other.head.spacing.menu_of_options.actions() if one.data() == "scale").trigger()
    assert not panel.axis.counts  # in the window beside it, too
    assert panel.axis.scale.breaks == ()


def begun_again(window: MainWindow) -> None:
    """All messages are drawn and in sight, by participant and in time."""
    panes_of(window).filter_state.clear()
    panes_of(window).plot_choices.space_by("time")
    panel = opened(window)
    panel.head.by.choose("participant")
    panel.head.shown.choose("all")
    panel.axis.fit()


test_what_is_drawn_and_what_is_done_with_it = in_turn([
    lanes_are_participants_or_contexts, a_click_selects_here_and_in_the_table,
    arrows_walk_along_a_lane_and_between_lanes, zooming_and_moving_with_keys_and_wheel,
    dragging_moves_and_shift_dragging_filters_every_pane, a_range_is_brushed_with_keys_alone,
    what_the_table_hides_is_dimmed_passed_over_or_left_out, the_card_names_the_message_without_its_secrets,
    a_request_is_drawn_until_its_answer, the_current_message_is_shown_in_the_timeline,
    the_strip_says_and_moves_what_is_shown, the_brush_button_lets_the_next_drag_choose_a_time,
    only_families_that_are_there_are_in_the_legend, the_range_in_the_strip_is_never_half_a_figure,
    the_bar_of_a_request_spans_its_latency, details_of_the_current_message,
], begun_again)  # fmt: skip


def _line_colors(panel: TimelinePanel, number: int) -> set[str]:
    """Colours of the pixel column at a message, over the height of the view."""
    picture, x = panel.view.grab().toImage(), place_of(panel, number).x()
    return {picture.pixelColor(x, y).name() for y in range(picture.height())}


@pytest.mark.parametrize("dark", [False, True])
def test_a_compaction_has_a_sign_words_and_a_place_in_the_legend(application: Application, dark: bool) -> None:
    done = envelope("participant/compact-done", {"freed_tokens": 900}, ts=at(40))
    window = window_on(application, document_of(envelope(ts=at(0)), done, envelope(ts=at(90))))
    window.actions_by_id["view.theme_dark" if dark else "view.theme_light"].trigger()
    panel = opened(window)
    assert "context compacted" in [key.words for key in panel.legend.keys]
    assert theme_of(panel).color("severity.warning").name() in _line_colors(panel, 2)
    place = place_of(panel, 2)
    QTest.mouseMove(panel.view, place - QPoint(0, 8))
    QTest.mouseMove(panel.view, place)
    assert panel.view.card.lines[0] == "lead: context compacted"
    assert "No. 2" in panel.view.card.lines[2]
    window.actions_by_id["view.theme_light"].trigger()
    assert [one.at_count for one in panel.view.picture.compactions] == [False]
    crowd = [envelope(ts=at(40 + place / 1_000)) for place in range(3)]
    crowded = opened(window_on(application, document_of(envelope(ts=at(0)), *crowd, done, envelope(ts=at(90)))))
    assert [one.at_count for one in crowded.view.picture.compactions] == [True]
    other = opened(window_on(application, document_of(*lines())))
    assert "context compacted" not in [key.words for key in other.legend.keys]
