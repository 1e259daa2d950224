"""The list of kept connections: join, edit, rename, delete, put in another order."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QMenu,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.settings import NamedConnection, Settings
from inspector.ui.dialogs.connection_model import ConnectionDelegate, ConnectionListModel
from inspector.ui.dialogs.dialog import Dialog
from inspector.ui.dialogs.list_frame import ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.labels import TextLabel

TITLE = "Connections"
HELP = "Tokens are in the system keyring only. Enter joins, F2 renames, Delete deletes."
NONE_KEPT = "No connection is kept yet. New keeps one; so does a name in the connect dialog."


class ConnectionsDialog(Dialog):
    """Shows the connections of the settings. It asks; the window does, and `refresh` shows what came of it.

    Signals:
        join_requested(NamedConnection): watch it; the dialog has closed.
        new_requested: keep another one.
        edit_requested(NamedConnection): edit it.
        delete_requested(NamedConnection): delete it, after a question.
        renamed(NamedConnection, str): call it something else.
        moved: their order is another one.
    """

    join_requested = Signal(object)
    new_requested = Signal()
    edit_requested = Signal(object)
    delete_requested = Signal(object)
    renamed = Signal(object, str)
    moved = Signal()

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Make the dialog.

        Args:
            theme_controller: gives the look.
            settings: holds the connections; their order is changed here, the rest by the window.
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
        self._hint = TextLabel(HELP, variant="secondary", name="connectionsHelp", wrap=True, parent=self)
        self._page.addWidget(self._hint)
        frame = ListFrame("connectionsFrame", self)
        frame.lines.addWidget(self._build_list(frame))
        self._page.addWidget(frame, 1)
        self._page.addLayout(self._build_tools())
        self._page.addLayout(self._build_buttons())

    def _build_list(self, frame: QFrame) -> QListView:
        self._model = ConnectionListModel(self._rename, self)
        self._list = QListView(frame)
        self._list.setObjectName("connectionsList")
        self._list.setAccessibleName(TITLE)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setMouseTracking(True)
        self._list.setUniformItemSizes(True)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.setModel(self._model)
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
        """The connection that is selected."""
        return self._model.connection(self._list.currentIndex().row())

    def refresh(self, *_answer: object) -> None:
        """Show the connections as they are now; the selection stays."""
        before = self.current()
        row = self._list.currentIndex().row()
        self._model.replace(self._settings.connections)
        found = self._model.row_of(before.id) if before is not None else -1
        self._select(found if found >= 0 else max(0, min(row, self._model.rowCount() - 1)))
        self._hint.setText(HELP if self._model.rowCount() else NONE_KEPT)

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

    # What the user does

    def join(self) -> None:
        """Watch the selected one."""
        chosen = self.current()
        if chosen is not None:
            self.accept()
            self.join_requested.emit(chosen)

    def edit(self) -> None:
        """Edit the selected one."""
        chosen = self.current()
        if chosen is not None:
            self.edit_requested.emit(chosen)

    def rename(self) -> None:
        """Edit the name of the selected one in its place."""
        index = self._list.currentIndex()
        if index.isValid():
            self._list.setFocus()
            self._list.edit(index)

    def _rename(self, chosen: NamedConnection, name: str) -> None:
        self.renamed.emit(chosen, name)
        QTimer.singleShot(0, self, self.refresh)  # the view is still closing the field of the name

    def delete(self) -> None:
        """Delete the selected one, after a question."""
        chosen = self.current()
        if chosen is not None:
            self.delete_requested.emit(chosen)

    def shift(self, step: int) -> None:
        """Move the selected one up (-1) or down (1)."""
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
        side = round(24 * zoom)
        self._page.setContentsMargins(side, round(20 * zoom), side, round(16 * zoom))
        self._page.setSpacing(round(8 * zoom))
        self.take_size(640, 360)
