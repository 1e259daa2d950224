"""A long session of a coding agent in the window: times, facets and the chain in the timeline."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.panels.facets.panel import FacetsPanel
from inspector.ui.panels.timeline.panel import TimelinePanel
from inspector.ui.widgets.status_button import StatusButton
from tests.pages import ROOT
from tests.ui.windows import panes_of, run_in_window, until

ORDERS = ROOT / "tests/data/transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"

pytestmark = pytest.mark.styled


def test_times_are_whole_kinds_are_words_and_the_timeline_draws_the_turn(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.resize(1000, 700)
        window.show()
        await window.opening.load(ORDERS)
        panes = panes_of(window)
        table = panes.messages.view
        metrics = table.fontMetrics()
        width = table.columnWidth(Column.TIME)
        times = ("3599.888", "17:14:15")
        assert all(metrics.horizontalAdvance(time) < width for time in times), "times are never elided"
        assert window.windowTitle().startswith("Rounding of order totals")
        source = window.status.findChild(StatusButton, "statusSource")
        assert source is not None
        await until(lambda: "Rounding" in source.accessibleName(), "its title")
        assert source.accessibleName().startswith("Rounding of order totals"), "a session is never named by its hash"
        assert str(ORDERS) in source.toolTip()
        window.dock_row.turn_over("Facets")
        facets = window.docks["Facets"].widget()
        assert isinstance(facets, FacetsPanel)
        await until(lambda: len(facets.rows) > 5, "the facets")
        labels = [row.words for row in facets.rows if row.field == "kind" and row.value is not None]
        assert {"call", "result", "thought"} <= set(labels)
        assert not any("/" in label for label in labels)
        panes.go_to(145)
        window.center.show_view("timeline")
        timeline = window.center.currentWidget()
        assert isinstance(timeline, TimelinePanel)
        timeline.show_message(145)
        assert 1 < len(timeline.view._chain) < 10
        assert len(panes.client.document.chain(145)) > 50

    run_in_window(qapp, steps)


def test_the_growth_of_one_of_several_sessions_is_named_by_its_title(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.resize(1280, 800)
        window.show()
        await window.opening.load(ROOT / "tests/data/together/invoices.ctxsources")
        window.center.show_view("timeline")
        timeline = window.center.currentWidget()
        assert isinstance(timeline, TimelinePanel)
        growth = timeline.plot.growth
        await until(lambda: growth.figures.readers, "the models")
        names = [one.name for one in growth.figures.readers]
        assert any(name.startswith("claude in Which of the invoices") for name in names), names
        assert window.windowTitle().startswith("invoices"), "a saved list has its own name"
        model = panes_of(window).messages.model
        stripe = model.index(0, Column.GUTTER).data(Qt.ItemDataRole.ToolTipRole)
        assert "From tap-files.jsonl" in stripe, "the colour of a source is named"

    run_in_window(qapp, steps)
