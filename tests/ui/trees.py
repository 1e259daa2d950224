"""Helpers for the context tree."""

from __future__ import annotations

from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.contexts.panel import ContextsPanel


def follow(panel: ContextsPanel, _changes: object) -> None:
    """Reports changes, and shows those of rows that a panel would ask for in the next turn of the event loop."""
    panel.model.client.changed.emit()
    panel.model.changes.request_now()


def tip_of(model: ContextTreeModel, row: int) -> str:
    """Returns the tooltip of a row."""
    tips: list[str] = []
    model.request_tip(row, tips.append)
    return tips[0]
