"""Finds the document window around a widget, which may be a tab of a top-level window."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow, QWidget


def frame_of(widget: QWidget) -> QWidget:
    """Returns the nearest `QMainWindow` around a widget, or else its top-level window."""
    part: QWidget | None = widget
    while part is not None and not isinstance(part, QMainWindow):
        part = part.parentWidget()
    return widget.window() if part is None else part
