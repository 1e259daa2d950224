"""Width of the column Message in windows of the default size, for recordings of several formats."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint

from inspector.document.document import CaptureDocument
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from tests.samples import sample
from tests.ui.windows import panes_of, window_on

RECORDINGS = (
    "captures/demo-round.ctxcap",
    "captures/loop-mcp.jsonl",
    "captures/model-wire.jsonl",
    "otlp/openai-agents-openinference-2.6.0.jsonl",
    "transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10.jsonl",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_messages_have_room_in_a_window_of_1280_pixels(application: Application, name: str) -> None:
    document = CaptureDocument()
    document.load(sample(name))
    window = window_on(application, document)
    window.resize(1280, 800)
    view = panes_of(window).messages.view
    view.columns.lay_out()
    assert view.columnWidth(Column.MESSAGE) >= 420
    assert view.columnWidth(Column.FROM_TO) >= 72
    assert view.horizontalScrollBar().maximum() == 0


def test_receivers_below_a_sender_are_a_place_of_their_own(application: Application) -> None:
    document = CaptureDocument()
    document.load(sample(RECORDINGS[0]))
    view = panes_of(window_on(application, document)).messages.view
    cell = view.visualRect(view.messages.index(9, Column.FROM_TO))
    content = view.messages.content(9)
    assert not view.painter.fits_ends(cell.width(), content)
    assert not view.painter.is_on_receivers(cell, cell.topRight(), content)
    assert view.painter.is_on_receivers(cell, cell.bottomLeft() - QPoint(0, 2), content)
