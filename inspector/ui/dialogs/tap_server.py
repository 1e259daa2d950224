"""Dialog that taps an MCP server: choose a configured one, review the change, follow its capture."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from inspector.present.rows import ListedRows, Row
from inspector.present.wire_text import safe_line
from inspector.tap.install.changes import Change, Found, Server
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.dialogs.two_line_list import LAYOUT, looked_in, two_line_spec
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

TITLE = "Tap an MCP server"
LOOKING = "Looking for servers..."
TAP, UNTAP = "Tap", "Remove tap"
_MAX_TEXT_LENGTH = 2_000
_WIDTH, _HEIGHT = 760, 560


def server_spec(one: Server) -> Row:
    """Returns a row: name and client, command or address, and the tap state."""
    texts = safe_line(one.name), one.client.title, safe_line(one.shown), "tapped" if one.form.tapped else ""
    return two_line_spec(
        (one.file, one.table, one.name), *texts, spoken=", ".join(filter(None, texts)),
        tip=f"{one.file.path}\n{one.shown}",
    )  # fmt: skip


class TapServerDialog(Dialog):
    """Lists servers, shows the planned change and its progress.

    Not modal, because the capture arrives in the window.

    Signals:
        selected(Server | None): the user selected a server.
        change_requested(): apply the shown change.
        refresh_requested(): look servers up again.
    """

    selected = Signal(object)
    change_requested = Signal()
    refresh_requested = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Creates the dialog in the state of a running lookup.

        Args:
            theme_controller: gives the look.
            parent: the owner.
        """
        super().__init__(theme_controller, name="tapServerDialog", title=TITLE, parent=parent)
        self.setModal(False)
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel(TITLE, variant="title", name="tapServerTitle", parent=self))
        frame = ListFrame("tapServerFrame", self)
        frame.lines.addWidget(self._build_list(frame))
        self._page.addWidget(frame, 1)
        self._changes = TextLabel("", name="tapServerChanges", wrap=True, parent=self)
        self._page.addWidget(self._changes)
        self._status_label = TextLabel(LOOKING, variant="secondary", name="tapServerSays", wrap=True, parent=self)
        self._page.addWidget(self._status_label)
        self._page.addLayout(self._build_buttons())
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._list.setFocus()

    def _build_list(self, frame: QFrame) -> RowsView:
        self._servers: list[Server] = []
        self._model = RowsModel(ListedRows(LAYOUT), self)
        self._list = RowsView(
            self._model, self._themes, name="tapServerList", title=TITLE, parent=frame, in_dialog=True
        )
        self._list.selectionModel().currentChanged.connect(lambda *_: self._select())
        return self._list

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(16)
        self._again = WordButton("Refresh", name="tapServerAgain", parent=self)
        self._again.clicked.connect(lambda *_checked: self.refresh_requested.emit())
        row.addWidget(self._again)
        row.addStretch(1)
        close = WordButton("Close", name="tapServerClose", parent=self)
        close.clicked.connect(self.reject)
        row.addWidget(close)
        self._change = WordButton(TAP, name="tapServerChange", parent=self, default=True)
        self._change.setEnabled(False)
        self._change.clicked.connect(lambda *_checked: self.change_requested.emit())
        row.addWidget(self._change)
        return row

    # Content

    def show_found(self, found: Found) -> None:
        """Shows the servers and keeps the selection."""
        self._servers = found.servers
        self._model.show_rows(LAYOUT, [server_spec(one) for one in found.servers])
        if not found.servers:
            self._list.set_empty_text(looked_in("No MCP servers are configured on this machine.", found.looked_at))
            self.show_sentence(" ".join(found.troubles))
        if self._list.row < 0:
            self._list.select_row(0)
        self._select()

    def show_change(self, change: Change | None, why_not: str = "") -> None:
        """Shows the planned change, or the reason why there is none."""
        self._changes.setText(
            "\n".join(safe_line(line, _MAX_TEXT_LENGTH) for line in change.lines) if change is not None else ""
        )
        self._changes.setVisible(change is not None)
        tapped = change is not None and change.server.form.tapped
        self._change.setText(UNTAP if tapped else TAP)
        self._change.setEnabled(change is not None)
        if change is not None:
            self.show_sentence(" ".join((f"In {change.server.file.path}.", *change.notes)))
        elif why_not:
            self.show_sentence(why_not)

    def show_running(self, sentence: str) -> None:
        """Shows the progress of an applied change and disables other changes."""
        self._list.setEnabled(False)
        self._again.setEnabled(False)
        self._change.setEnabled(False)
        self.show_sentence(sentence)

    def show_ended(self) -> None:
        """Enables other changes again."""
        self._list.setEnabled(True)
        self._again.setEnabled(True)

    def show_sentence(self, sentence: str) -> None:
        """Shows a sentence below the list."""
        self._status_label.setText(safe_line(sentence, _MAX_TEXT_LENGTH))
        self._status_label.setVisible(bool(sentence))

    def _select(self) -> None:
        row = self._list.row
        self.selected.emit(self._servers[row] if 0 <= row < len(self._servers) else None)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self.take_margins(self._page)
        self._page.setSpacing(round(8 * zoom))
        self._changes.setFont(self._themes.theme.font("mono-row"))
        self.take_size(_WIDTH, _HEIGHT)
