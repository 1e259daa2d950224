"""List of saved connections: connect, edit, rename, delete and reorder."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present.rows import SECONDARY, TERTIARY, Column, Layout, ListedRows, Row, Text
from inspector.present.wire_text import safe_line
from inspector.settings import NamedConnection, Settings
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

TOKEN_WORDS = {"none": "no token", "keyring": "token in the keyring", "ask": "ask for token"}


LAYOUT = Layout(
    ((Column(width=100, share=0.3), Column(), Column(width=132)),), height="control", left=12, right=12
)  # fmt: skip


def connection_spec(one: NamedConnection) -> Row:
    """Returns a row: name, address and space, and the place of the token."""
    name, place, token = safe_line(one.name), safe_line(f"{one.url}, space {one.space}"), TOKEN_WORDS[one.token]
    cells = (Text(name),), (Text(place, ink=SECONDARY),), (Text(token, "small", TERTIARY),)
    return Row(one.id, (cells,), name, spoken=f"{name}: {place}, {token}")


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

    def _build_list(self, frame: QFrame) -> RowsView:
        self._model = RowsModel(ListedRows(LAYOUT), self, rename=self._take_name)
        self._list = RowsView(
            self._model, self._themes, name="connectionsList", title=TITLE, parent=frame, in_dialog=True
        )
        self._list.set_empty_text(NO_CONNECTIONS)
        self._list.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._list.entered.connect(lambda _row: self.join())
        self._list.menu_asked.connect(self._open_menu)
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
        return self._connection(self._list.row)

    def _connection(self, row: int) -> NamedConnection | None:
        key = self._model.key_at(row)
        return next((one for one in self._settings.connections if one.id == key), None)

    def refresh(self, *_answer: object) -> None:
        """Shows the current connections and keeps the selection."""
        row = self._list.row
        self._model.show_rows(LAYOUT, [connection_spec(one) for one in self._settings.connections])
        if self._list.row < 0:
            self._list.select_row(max(0, min(row, self._model.rowCount() - 1)))
        self._enable()

    def _on_selection_changed(self, _now: QItemSelection, _before: QItemSelection) -> None:
        self._enable()

    def _enable(self) -> None:
        row, last = self._list.row, self._model.rowCount() - 1
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

    def _take_name(self, row: int, text: str) -> bool:
        """Requests a new name, unless it is empty or another connection has it."""
        chosen, name = self._connection(row), text.strip()
        others = (one.name.casefold() for one in self._settings.connections if one is not chosen)
        if chosen is None or not name or name.casefold() in others:
            return False
        if name != chosen.name:
            self.renamed.emit(chosen, name)
            QTimer.singleShot(0, self, self.refresh)  # the view is still closing the name field
        return True

    def delete(self) -> None:
        chosen = self.current()
        if chosen is not None:
            self.delete_requested.emit(chosen)

    def shift(self, step: int) -> None:
        """Moves the selected connection up (-1) or down (1)."""
        row = self._list.row
        all_of_them = self._settings.connections
        if 0 <= row < len(all_of_them) and 0 <= row + step < len(all_of_them):
            all_of_them.insert(row + step, all_of_them.pop(row))
            self.refresh()
            self.moved.emit()

    def _open_menu(self, _row: int, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName("connectionsMenu")
        # `popup` returns at once, so the menu has to delete itself.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, act in (("&Connect", self.join), ("&Edit...", self.edit), ("&Rename", self.rename),
                           ("&Delete...", self.delete)):  # fmt: skip
            menu.addAction(words).triggered.connect(lambda *_checked, act=act: act())
        menu.popup(place)

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
