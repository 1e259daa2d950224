"""What is written in lanes and plots never touches, whatever the width, the zoom and the part of the time shown."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.timeline.painting import name_lines
from inspector.ui.panels.timeline.panel import TimelinePanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, envelope, tool_call, tool_result
from tests.ui.windows import panes_of, window_on

DATA = Path(__file__).parents[3] / "data"
LOGS = ("captures/demo-round.ctxcap", "recordings/mew/coding-agent/envelope-history.jsonl", "captures/loop-mcp.jsonl")


def read(log: str) -> CaptureDocument:
    document = CaptureDocument()
    document.load(DATA / log)
    return document


def opened(window: MainWindow, size: tuple[int, int]) -> TimelinePanel:
    window.resize(*size)
    window.show()
    window.actions_by_id["view.timeline"].trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    return panel


def boxes_of(panel: TimelinePanel) -> dict[str, list[QRectF]]:
    """Of each view, where words stand: those of marks that stand for several as well."""
    panel.grab()
    view, zoom = panel.view, panel.view.devicePixelRatioF()
    pills = [
        QRectF(view.head + one.mark.x - one.mark.half * zoom + 1, track.y - 6, 2 * one.mark.half * zoom - 2, 12)
        for track in view.picture.tracks.values()
        for one in track.marks
        if not one.mark.dense
    ]
    pointed = panel.ruler.cursor_box()
    ruler = [box for box, _ in panel.ruler.labels()]
    return {
        "lanes": view.label_boxes + pills,
        "ruler": ruler if pointed.isEmpty() else [*ruler, pointed],
        "plot": [box for box, _ in panel.plot.canvas.labels],
        "legend": panel.legend.label_boxes,
        "plot legend": panel.plot.head.legend.label_boxes,
    }


def assert_apart(panel: TimelinePanel) -> None:
    found = boxes_of(panel)
    assert found["lanes"]
    assert found["plot"]
    for where, boxes in found.items():
        for one, other in combinations(boxes, 2):
            assert not one.intersects(other), (where, one, other)


@pytest.mark.styled
@pytest.mark.parametrize(
    ("log", "size"),
    [
        (LOGS[0], (1280, 800)),
        pytest.param(LOGS[1], (800, 600), marks=pytest.mark.sweep),
        pytest.param(LOGS[2], (1000, 700), marks=pytest.mark.sweep),
    ],
)
def test_nothing_written_touches_anything_else(application: Application, log: str, size: tuple[int, int]) -> None:
    document = read(log)
    window = window_on(application, document)
    panel = opened(window, size)
    for spacing in ("time", "scale", "message"):
        panes_of(window).plot_choices.space_by(spacing)
        panes_of(window).go_to(len(document.capture) // 2)
        panel.axis.fit()
        for share in (0.2, 0.5, 0.9):
            assert_apart(panel)
            panel.axis.zoom(2.7, panel.axis.ns_at(share, 1))


@pytest.mark.styled
def test_nor_while_traffic_comes(application: Application) -> None:
    log = GrowingLog()
    log.write(envelope(ts="2026-01-05T09:00:00.000Z"))
    window = window_on(application, log.document)
    panel = opened(window, (1000, 700))
    for n in range(12):
        ts = f"2026-01-05T09:{n // 2:02d}:{n * n % 60:02d}.000Z"
        inside = {"context": f"a context with a long name {n}", "ts": ts}
        start = envelope("reasoning/start", {"message": f"Think about it, for the {n}th time"}, id=f"why-{n}", ts=ts)
        ask = tool_call("grep", sender=f"agent-{n % 3}", **inside)
        log.write(
            start, ask, tool_result(ask, sender="files", **inside), *[envelope(sender="lead", ts=ts)] * (n * 7 % 9)
        )
        panes_of(window).bridge.flush()
        assert_apart(panel)


def test_long_names_of_lanes_take_two_lines_and_keep_their_ends(theme_controller: ThemeController) -> None:
    metrics = QFontMetrics(theme_controller.theme.font("body-medium"))
    names = [f"Explore: Review the payment service for missing {what}" for what in ("retries", "timeouts")]
    shown = [name_lines(metrics, name, 96, two=True) for name in names]
    for name, lines in zip(names, shown, strict=True):
        assert len(lines) == 2
        assert name.startswith(f"{lines[0]} ")
        assert name.split()[-1].endswith(lines[1].partition("…")[2].split()[-1])
        assert max(map(metrics.horizontalAdvance, lines)) <= 96
    assert shown[0][1] != shown[1][1]
    assert name_lines(metrics, "system:gateway", 80, two=True) == ["system:", "gateway"]
    assert name_lines(metrics, "claude", 96, two=True) == ["claude"]
    assert len(name_lines(metrics, names[0], 96, two=False)) == len(name_lines(metrics, "x" * 99, 96, two=True)) == 1


def test_the_legend_has_one_line_and_its_tooltip_every_sign(application: Application) -> None:
    window = window_on(application, read(LOGS[0]))
    for width in (1600, 900, 640):
        panel = opened(window, (width, 700))
        panel.grab()
        assert 0 < len(panel.legend.label_boxes) <= len(panel.legend.keys)
        assert width < 1600 or len(panel.legend.label_boxes) == len(panel.legend.keys)
        assert {box.y() for box in panel.legend.label_boxes} == {0.0}
        assert panel.legend.toolTip() == ", ".join(key.words for key in panel.legend.keys)
        assert all(box.left() >= 0 and box.right() <= panel.legend.width() for box in panel.legend.label_boxes)
        assert all(box.bottom() <= panel.legend.height() + 1 for box in panel.legend.label_boxes)
