"""The tokens table: painting, keys, pointer and context menu."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from inspector.ui.panels.tokens.model import TITLES, Column, TokensModel
from inspector.ui.panels.tokens.rows import FILL_ALPHA, TokenRow
from inspector.ui.theme import Theme, ThemeController
from inspector.ui.widgets.filter_menu import add_filter_actions

_WIDEST = {Column.TOKENS: "888,888,888", Column.SHARE: "88.8 %", Column.MESSAGES: "88,888,888"}
_BAR_PX = 96
"""The bar of all tokens, pixels at 100 %."""
_ELIDED = Qt.TextElideMode.ElideRight
_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class _Delegate(QStyledItemDelegate):
    def __init__(self, view: TokensView, themes: ThemeController) -> None:
        super().__init__(view)
        self._view = view
        self._themes = themes

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, view = self._themes.theme, self._view
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]  PySide's stubs lack it
        row, column = index.row(), Column(index.column())
        if view.selectionModel().isRowSelected(row):
            painter.fillRect(rect, theme.color("accent.wash" if view.hasFocus() else "accent.washdim"))
            if column is Column.NAME:
                bar = QRect(rect.x(), rect.y(), theme.metrics.selection_bar, rect.height())
                painter.fillRect(bar, theme.color("accent.ring"))
        elif row == view.hovered_row:
            painter.fillRect(rect, theme.color("surface.hover"))
        left, right = paddings(theme, column)
        box = rect.adjusted(left, 0, -right, 0)
        if column is Column.BAR:
            self._paint_bar(painter, box, row)
            return
        font = view.font_of(column, row)
        text = str(index.data() or "")
        if column is Column.NAME:
            self._paint_name(painter, box, row, font)
            return
        painter.setFont(font)
        painter.setPen(theme.color("ink.primary" if column is Column.TOKENS else "ink.secondary"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_name(self, painter: QPainter, box: QRect, row: int, font: QFont) -> None:
        """The name, which tells it from its neighbours, and where there is room what it lies in."""
        theme, one, metrics = self._themes.theme, self._view.row_at(row), QFontMetrics(font)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(font)
        painter.setPen(theme.color("ink.primary"))
        text = metrics.elidedText(one.name, _ELIDED, box.width())
        painter.drawText(box, flags, text)
        rest = box.adjusted(metrics.horizontalAdvance(text) + 2 * theme.metrics.unit, 0, 0, 0)
        if one.aside and rest.width() >= 12 * theme.metrics.unit:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(rest, flags, metrics.elidedText(f"in {one.aside}", _ELIDED, rest.width()))

    def _paint_bar(self, painter: QPainter, box: QRect, row: int) -> None:
        theme, one = self._themes.theme, self._view.row_at(row)
        high = round(8 * theme.zoom)
        wide = round(box.width() * min(1.0, one.share))  # the track is everything
        top = box.y() + (box.height() - high) // 2
        painter.fillRect(box.x(), top, box.width(), high, theme.color("line.hair"))
        painter.fillRect(box.x(), top, max(wide, 1 if one.tokens else 0), high, _filled(theme, one.color))


def _filled(theme: Theme, token: str) -> QColor:
    """The colour of a bar: large areas are softer than the letters the colour was chosen for."""
    color = QColor(theme.color(token))
    color.setAlphaF(FILL_ALPHA)
    return color


class _Head(QHeaderView):
    """Column heads that stand over their figures, with an arrow at the one the rows are sorted by."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._themes = themes
        self.setObjectName("tokensHeader")
        self.setAccessibleName("Columns of the tokens table")
        self.setHighlightSections(False)
        self.setSectionsClickable(True)
        self.setMinimumSectionSize(16)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme = self._themes.theme
        painter.fillRect(rect, theme.color("surface.base"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("line.hair"))
        column = Column(logicalIndex)
        left, right = paddings(theme, column)
        sorted_here = self.isSortIndicatorShown() and self.sortIndicatorSection() == logicalIndex
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.primary" if sorted_here else "ink.secondary"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        if sorted_here:
            arrow = "↓" if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder else "↑"
            text = f"{arrow} {text}" if column > Column.BAR else f"{text} {arrow}"
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect.adjusted(left, 0, -right, 0), int(side | Qt.AlignmentFlag.AlignVCenter), text)


def paddings(theme: Theme, column: Column) -> tuple[int, int]:
    """Room left and right of the text in a column, pixels: the outer ones keep that of a pane."""
    pane, cell = theme.metrics.pane_padding, theme.metrics.cell_padding
    return (pane if column is Column.NAME else cell), (pane if column is Column.MESSAGES else cell)


class TokensView(QTableView):
    """The table.

    Signals:
        filter_requested(str, str): a display filter, and how it joins the one in force (filter_menu.FilterMode).
        sees_requested(int): what the model of a participant sees; string id of the name.
        left(): Escape was pressed.
    """

    filter_requested = Signal(str, str)
    sees_requested = Signal(int)
    left = Signal()

    def __init__(self, model: TokensModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._model = model
        self._selected: int | None = None
        self.hovered_row = -1
        self.empty = ""
        self.setObjectName("tokensTable")
        self.setAccessibleName("Tokens")
        self.setModel(model)
        self.setItemDelegate(_Delegate(self, themes))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalHeader(_Head(themes, self))
        self.setSortingEnabled(True)
        self.sortByColumn(Column.TOKENS, Qt.SortOrder.DescendingOrder)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        model.modelReset.connect(self._restore)
        themes.changed.connect(self.use_theme)
        self.use_theme()

    def row_at(self, row: int) -> TokenRow:
        """What a row says."""
        return self._model.rows[row]

    # Looks

    def font_of(self, column: Column, row: int) -> QFont:
        """Font of a cell: names of tools and kinds are set in mono."""
        mono = column is Column.NAME and self._model.rows[row].mono
        return self._themes.theme.font("mono-row" if mono else "body")

    def use_theme(self) -> None:
        """Take grid and fonts from the theme now in force."""
        theme = self._themes.theme
        metrics = theme.metrics
        self.verticalHeader().setMinimumSectionSize(metrics.row)
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        heads = self.horizontalHeader()
        heads.setFixedHeight(metrics.column_head)
        body, head = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("column"))
        for column in Column:
            if column is Column.NAME:
                heads.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
                continue
            if column is Column.BAR:
                heads.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
                heads.resizeSection(column, round(_BAR_PX * theme.zoom))
                continue
            arrow = 4 * metrics.unit  # of the column it is sorted by
            widest = max(body.horizontalAdvance(_WIDEST[column]), head.horizontalAdvance(TITLES[column]) + arrow)
            heads.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            heads.resizeSection(column, widest + sum(paddings(theme, column)))
        self.viewport().update()

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        super().paintEvent(e)
        if self._model.rows or not self.empty:
            return
        theme = self._themes.theme
        padding = theme.metrics.pane_padding
        painter = QPainter(self.viewport())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        box = self.viewport().rect().adjusted(padding, padding, -padding, 0)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap), self.empty)

    # Selection

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            self._selected = self._model.rows[current.row()].key

    def _restore(self) -> None:
        """Rows have another order: the one selected stays selected."""
        row = -1 if self._selected is None else self._model.row_of(self._selected)
        if row >= 0:
            self.selectionModel().setCurrentIndex(self._model.index(row, 0), _ROW)

    # Keys and pointer

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self._filter_by(row)
        elif event.matches(QKeySequence.StandardKey.Copy) and row >= 0:
            self._copy(row)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self._filter_by(index.row())

    def _filter_by(self, row: int) -> None:
        text = self._model.rows[row].filter
        if text:
            self.filter_requested.emit(text, "replace")

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.indexAt(event.position().toPoint()).row())

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, row: int) -> None:
        if row != self.hovered_row:
            self.hovered_row = row
            self.viewport().update()

    # Menu

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_for(index.row()).popup(self.viewport().mapToGlobal(at))

    def menu_for(self, row: int) -> QMenu:
        """The context menu of a row; it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName("tokensMenu")
        menu.setAccessibleName("Tokens")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        add_filter_actions(menu, self._model.rows[row].filter, self.filter_requested.emit)
        key = self._model.rows[row].key
        if self._model.way == "participant" and key:
            menu.addSeparator()
            action = menu.addAction("Show what its model sees")
            action.setObjectName("modelSees")
            action.triggered.connect(lambda: self.sees_requested.emit(key))
        menu.addSeparator()
        menu.addAction("Copy row").triggered.connect(lambda: self._copy(row))
        return menu

    def _copy(self, row: int) -> None:
        one = self._model.rows[row]
        QGuiApplication.clipboard().setText("\t".join(self._model.text(one, column) for column in Column))
