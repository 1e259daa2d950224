"""A table of Qt's as a plain list of rows: no grid, no editing, one row selected."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

_LEAST = 24
"""A list in a low window; by itself Qt keeps room for the arrows of a scroll bar."""


def make_plain(view: QTableView) -> None:
    """Leave out what only spreadsheets need."""
    view.verticalHeader().hide()
    view.verticalHeader().setMinimumSectionSize(1)
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.setMinimumHeight(_LEAST)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTabKeyNavigation(False)
    view.setCornerButtonEnabled(False)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


def make_single_column(view: QTableView) -> None:
    """A plain table of one column, as wide as the view."""
    make_plain(view)
    view.horizontalHeader().hide()
    view.horizontalHeader().setStretchLastSection(True)
    view.horizontalHeader().setMinimumSectionSize(1)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
