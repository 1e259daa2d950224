"""Why tooltips are escaped (`wire_text.tool_tip`)."""

from __future__ import annotations

from PySide6.QtGui import Qt  # its functions for text are in this part of Qt


def test_plain_wire_text_would_be_guessed_rich_by_qt() -> None:
    """Why tooltips are escaped: should Qt ever stop guessing, they can become plain."""
    assert Qt.mightBeRichText("<b>bold</b>")
