"""The choice between Formatted and Text holds for all windows and for the next start."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextFrameFormat, QTextTable
from PySide6.QtTest import QTest

from inspector.ui.app.application import Application
from inspector.ui.panels.details.section import SegmentButton
from inspector.ui.panels.details.text_block import TextView
from tests.builders import document_of, envelope
from tests.ui.find import child
from tests.ui.windows import bury, panes_of, window_on


def test_the_choice_is_kept(application: Application) -> None:
    document = document_of(envelope("chat", {"text": "It is **done**"}))
    window = window_on(application, document)
    window.show()
    panes_of(window).go_to(0)
    assert child(window, TextView, "chatText").toPlainText() == "It is done"
    QTest.mouseClick(child(window, SegmentButton, "textAsText"), Qt.MouseButton.LeftButton)
    bury()
    assert child(window, TextView, "chatText").toPlainText() == "It is **done**"
    assert application.settings.display.formatted_text is False
    other = window_on(application, document_of(envelope("chat", {"text": "So **it** is"})))
    panes_of(other).go_to(0)
    assert child(other, TextView, "chatText").toPlainText() == "So **it** is"


def test_tables_and_quotes_look_like_the_rest(application: Application) -> None:
    """Qt draws raised frames, and leaves 40 pixels on both sides of a quote."""
    said = "# Totals\n\n| place | cents |\n|---|---|\n| shop | 1 |\n\n> Rounded twice.\n"
    window = window_on(application, document_of(envelope("chat", {"text": said, "format": "markdown"})))
    window.show()
    panes_of(window).go_to(0)
    document = child(window, TextView, "chatText").document()
    (table,) = (frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable))
    look = table.format().toTableFormat()
    theme = application.theme.theme
    assert look.borderStyle() == QTextFrameFormat.BorderStyle.BorderStyle_Solid
    assert look.borderBrush().color() == theme.color("line.strong")
    quote = document.begin()
    while "Rounded" not in quote.text():
        quote = quote.next()
    layout = quote.blockFormat()
    assert (layout.leftMargin(), layout.rightMargin()) == (theme.metrics.indent, 0)
