"""List of saved connections: connect, edit, rename, delete and reorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QItemSelection, QModelIndex, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.settings import NamedConnection, Settings
from inspector.ui.dialogs.base_dialog import Dialog, DialogList, ListFrame
from inspector.ui.dialogs.ordered_list import Index, RowDelegate
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.labels import TextLabel

PLACE_ROLE = Qt.ItemDataRole.UserRole + 1
"""Address and space."""
TOKEN_ROLE = Qt.ItemDataRole.UserRole + 2
"""Place of the token in words."""

TOKEN_WORDS = {"none": "no token", "keyring": "token in the keyring", "ask": "ask for token"}


class ConnectionListModel(QAbstractListModel):
    """Connections in their order. `rename` receives an edited name, and the row changes after the rename.

    Never changes a connection itself.
    """

    def __init__(self, rename: Callable[[NamedConnection, str], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rename = rename
        self._connections: list[NamedConnection] = []

    def connection(self, row: int) -> NamedConnection | None:
        return self._connections[row] if 0 <= row < len(self._connections) else None

    def row_of(self, connection_id: str) -> int:
        """Returns the row of a connection, or -1."""
        return next((row for row, one in enumerate(self._connections) if one.id == connection_id), -1)

    def replace(self, connections: Sequence[NamedConnection]) -> None:
        self.beginResetModel()
        self._connections = list(connections)
        self.endResetModel()

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._connections)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        one = self.connection(index.row()) if index.isValid() else None
        if one is None:
            return None
        place = f"{one.url}, space {one.space}"
        return {
            Qt.ItemDataRole.DisplayRole: one.name,
            Qt.ItemDataRole.EditRole: one.name,
            PLACE_ROLE: place,
            TOKEN_ROLE: TOKEN_WORDS[one.token],
            Qt.ItemDataRole.AccessibleTextRole: f"{safe_line(one.name)}: {safe_line(place)}, {TOKEN_WORDS[one.token]}",
        }.get(Qt.ItemDataRole(role) if role < Qt.ItemDataRole.UserRole else role)

    @override
    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        one = self.connection(index.row())
        name = str(value).strip()
        others = (other.name.casefold() for other in self._connections if other is not one)
        if role != Qt.ItemDataRole.EditRole or one is None or not name or name.casefold() in others:
            return False
        if name != one.name:
            self._rename(one, name)
        return True


class ConnectionDelegate(RowDelegate):
    """Draws a connection on one line, with in-place editing of the name."""

    def _columns(self, box: QRect) -> tuple[int, int, int, int]:
        """Returns the left edges of name, place and token, and the right end."""
        zoom = self._themes.theme.zoom
        right = box.right() - round(12 * zoom)
        left = box.x() + round(12 * zoom)
        token = right - round(132 * zoom)
        return left, left + (token - left) * 2 // 5, token, right

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setObjectName("connectionsRename")
        field.setAccessibleName("Name")
        return field

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        left, place, _, _ = self._columns(box)
        editor.setGeometry(left - 4, box.y(), place - left, box.height())

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        left, place, token, right = self._columns(box)
        gap = round(10 * paints.theme.zoom)
        for role, ink, words, start, end in (
            ("body", "ink.primary", index.data(), left, place - gap),
            ("body", "ink.secondary", index.data(PLACE_ROLE), place, token - gap),
            ("small", "ink.tertiary", index.data(TOKEN_ROLE), token, right),
        ):
            paints.draw(painter, role, ink, start, box, safe_line(str(words)), end - start)


TITLE = "Connections"
HELP = "Tokens are saved only in the system keyring. Enter connects, F2 renames, Del deletes."
NO_CONNECTIONS = "No saved connections. Press New, or enter a name in the connect dialog."


class ConnectionsDialog(Dialog):
    """Shows the saved connections. The window performs the requests, and `refresh` shows the result.

    Signals:
        join_requested(NamedConnection): connect; the dialog has closed.
        new_requested: add a connection.
        edit_requested(NamedConnection): edit it.
        delete_requested(NamedConnection): delete it after a question.
        renamed(NamedConnection, str): rename it.
        moved: the order has changed.
    """

    join_requested = Signal(object)
    new_requested = Signal()
    edit_requested = Signal(object)
    delete_requested = Signal(object)
    renamed = Signal(object, str)
    moved = Signal()

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            settings: the connections. The dialog changes only their order.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="connectionsDialog", title=TITLE, parent=parent)
        self._settings = settings
        self._build()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.refresh()
        (self._list if self._model.rowCount() else self._tools["New"]).setFocus()

    def _build(self) -> None:
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel(TITLE, variant="title", name="connectionsTitle", parent=self))
        self._page.addWidget(TextLabel(HELP, variant="secondary", name="connectionsHelp", wrap=True, parent=self))
        frame = ListFrame("connectionsFrame", self)
        frame.lines.addWidget(self._build_list(frame))
        self._page.addWidget(frame, 1)
        self._page.addLayout(self._build_tools())
        self._page.addLayout(self._build_buttons())

    def _build_list(self, frame: QFrame) -> DialogList:
        self._model = ConnectionListModel(self._rename, self)
        self._list = DialogList(self._themes, name="connectionsList", title=TITLE, model=self._model, parent=frame)
        self._list.set_empty_text(NO_CONNECTIONS)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.setItemDelegate(ConnectionDelegate(self._themes, self))
        self._list.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._list.doubleClicked.connect(lambda _index: self.join())
        self._list.customContextMenuRequested.connect(self._open_menu)
        return self._list

    def _build_tools(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self._tools: dict[str, IconButton] = {}
        for name, icon, words, act in (
            ("New", "add", "New connection", self.new_requested.emit),
            ("Edit", "ri.pencil-line", "Edit", self.edit),
            ("Rename", "ri.edit-box-line", "Rename (F2)", self.rename),
            ("Delete", "ri.delete-bin-line", "Delete (Del)", self.delete),
            ("Up", "ri.arrow-up-line", "Move up", lambda: self.shift(-1)),
            ("Down", "down", "Move down", lambda: self.shift(1)),
        ):
            tool = IconButton(self._themes, icon, words, name=f"connections{name}", variant="small", parent=self)
            tool.clicked.connect(lambda *_checked, act=act: act())
            self._tools[name] = tool
            row.addWidget(tool)
        row.addStretch(1)
        return row

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(16)
        row.addStretch(1)
        close = WordButton("Close", name="connectionsClose", parent=self)
        close.clicked.connect(self.reject)
        row.addWidget(close)
        self._connect = WordButton("Connect", name="connectionsConnect", parent=self, default=True)
        self._connect.clicked.connect(lambda *_checked: self.join())
        row.addWidget(self._connect)
        return row

    # Content

    def current(self) -> NamedConnection | None:
        return self._model.connection(self._list.currentIndex().row())

    def refresh(self, *_answer: object) -> None:
        """Shows the current connections and keeps the selection."""
        before = self.current()
        row = self._list.currentIndex().row()
        self._model.replace(self._settings.connections)
        found = self._model.row_of(before.id) if before is not None else -1
        self._select(found if found >= 0 else max(0, min(row, self._model.rowCount() - 1)))

    def _select(self, row: int) -> None:
        self._list.setCurrentIndex(self._model.index(row))
        self._enable()

    def _on_selection_changed(self, _now: QItemSelection, _before: QItemSelection) -> None:
        self._enable()

    def _enable(self) -> None:
        row, last = self._list.currentIndex().row(), self._model.rowCount() - 1
        for name, tool in self._tools.items():
            tool.setEnabled({"New": True, "Up": row > 0, "Down": 0 <= row < last}.get(name, row >= 0))
        self._connect.setEnabled(row >= 0)

    # User actions

    def join(self) -> None:
        chosen = self.current()
        if chosen is not None:
            self.accept()
            self.join_requested.emit(chosen)

    def edit(self) -> None:
        chosen = self.current()
        if chosen is not None:
            self.edit_requested.emit(chosen)

    def rename(self) -> None:
        """Edits the name of the selected connection in place."""
        index = self._list.currentIndex()
        if index.isValid():
            self._list.setFocus()
            self._list.edit(index)

    def _rename(self, chosen: NamedConnection, name: str) -> None:
        self.renamed.emit(chosen, name)
        QTimer.singleShot(0, self, self.refresh)  # the view is still closing the name field

    def delete(self) -> None:
        chosen = self.current()
        if chosen is not None:
            self.delete_requested.emit(chosen)

    def shift(self, step: int) -> None:
        """Moves the selected connection up (-1) or down (1)."""
        row = self._list.currentIndex().row()
        all_of_them = self._settings.connections
        if 0 <= row < len(all_of_them) and 0 <= row + step < len(all_of_them):
            all_of_them.insert(row + step, all_of_them.pop(row))
            self.refresh()
            self.moved.emit()

    def _open_menu(self, place: QPoint) -> None:
        index: QModelIndex = self._list.indexAt(place)
        if not index.isValid():
            return
        menu = QMenu(self)
        menu.setObjectName("connectionsMenu")
        # `popup` returns at once, so the menu has to delete itself.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, act in (("&Connect", self.join), ("&Edit...", self.edit), ("&Rename", self.rename),
                           ("&Delete...", self.delete)):  # fmt: skip
            menu.addAction(words).triggered.connect(lambda *_checked, act=act: act())
        menu.popup(self._list.viewport().mapToGlobal(place))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete()
        else:
            super().keyPressEvent(event)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self.take_margins(self._page)
        self._page.setSpacing(round(8 * zoom))
        self.take_size(640, 360)
