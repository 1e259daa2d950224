"""All that a window says: texts, tooltips, what screen readers get, item models, menus."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QAbstractTableModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

_ROLES = (
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.StatusTipRole, Qt.ItemDataRole.WhatsThisRole,
    Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole,
)  # fmt: skip
_PAINTED = ("second_line", "namespace", "name", "tool", "words", "whole", "label")
"""Attributes of painted widgets that hold what they say."""
_MOST_ROWS = 400


def said_by(window: QWidget) -> Iterator[tuple[str, str]]:
    """(where, text) of everything a widget and all below it say or would say; hidden ones included."""
    for widget in (window, *window.findChildren(QWidget)):
        where = f"{type(widget).__name__} {widget.objectName()}"
        for method in (
            "text", "toPlainText", "title", "windowTitle", "toolTip", "statusTip", "whatsThis", "accessibleName",
            "accessibleDescription", "placeholderText", "currentText",
        ):  # fmt: skip
            value = getattr(widget, method, None)
            value = value() if callable(value) else value
            if isinstance(value, str) and value:
                yield f"{where}.{method}", value
        for name in _PAINTED:
            value = getattr(widget, name, None)
            if isinstance(value, str) and value:
                yield f"{where}.{name}", value
        if isinstance(widget, QMenu):
            for action in widget.actions():
                yield from _said_by_action(where, action)
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from said_by_model(where, widget.model())


def _said_by_action(where: str, action: QAction) -> Iterator[tuple[str, str]]:
    for said in (action.text(), action.toolTip(), action.statusTip(), action.iconText()):
        if said:
            yield f"{where} action", said


def said_by_model(
    where: str, model: QAbstractItemModel, parent: QModelIndex | None = None, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """(where, text) of every cell and head of an item model, what lies below included."""
    parent = QModelIndex() if parent is None else parent
    flat = isinstance(model, QAbstractTableModel | QAbstractListModel)  # what they have none of is private
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for section in range(0 if depth else columns):
        for role in _ROLES:
            value = model.headerData(section, Qt.Orientation.Horizontal, role)
            if isinstance(value, str):
                yield f"{where} head {section}", value
    if model.canFetchMore(parent):
        model.fetchMore(parent)
    for row in range(min(model.rowCount(parent), _MOST_ROWS)):
        for column in range(columns):
            index = model.index(row, column, parent)
            for role in _ROLES:
                value = index.data(role)
                if isinstance(value, str):
                    yield f"{where} cell {row},{column} {role.name}", value
        below = model.index(row, 0, parent)
        if not flat and depth < 12 and model.hasChildren(below):
            yield from said_by_model(where, model, below, depth + 1)
