"""The tab Files: files that tool calls read or change, each with its accesses in order."""

from __future__ import annotations

from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.files import FileLine, FinalContent, ListFiles
from inspector.present import formats
from inspector.present.rows import ListedRows, Row
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.files.rows import LAYOUT, file_rows
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel, ShownMessages
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView


class FilesPanel(ListPanel):
    """Files of one document.

    Attributes:
        head, view, model: its parts.
    """

    def __init__(
        self, client: Client, theme_controller: ThemeController, rows: ShownMessages, parent: QWidget | None = None
    ) -> None:
        """Creates the panel.

        Args:
            client: asks the engine.
            theme_controller: gives the look.
            rows: the messages that the table shows.
            parent: owner.
        """
        super().__init__(rows, "Files", parent)
        self._client = client
        self._files: list[FileLine] = []
        self._rows: list[Row] = []
        self._opened: set[str] = set()
        self._is_first = True
        self._message: int | None = None
        self.model = RowsModel(ListedRows(LAYOUT), self)
        self.head = ListHead(theme_controller, "Files", name="files", parent=self)
        self.view = RowsView(self.model, theme_controller, name="filesList", title="Files", parent=self)
        self.head.show_title(False)  # the tab has it
        self.head.hide_close()
        self._changed_only = QAction("Changed files only", self)
        self._changed_only.setObjectName("changedOnly")
        self._changed_only.setCheckable(True)
        self._changed_only.toggled.connect(self._list)
        self.head.menu.addAction(self._changed_only)
        self.put_together(self.head, self.view, self.model)
        self.view.expanded.connect(self._set_open)
        self.latest: LatestAnswer[list[FileLine]] = LatestAnswer(
            self, client, ListFiles, self._show, every_ms=lambda: intervals.LISTS_MS
        )
        self.update_texts()
        self.latest.request_now()

    def refresh(self) -> None:
        """Updates the files after changes of the document."""
        self.latest.invalidate()

    def show_message(self, message: int | None) -> None:
        """Selects the access of a message, if its file is expanded."""
        self._message = message
        self.view.select(next((row.key for row in self._rows if row.message == message), None))

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    def _show(self, files: list[FileLine]) -> None:
        if self._is_first and files:
            self._is_first = False
            self._opened = {file.path for file in files if file.is_changed}
        self._files = files
        self._list()

    def _list(self) -> None:
        selected = self.view.selected
        shown = [file for file in self._files if file.is_changed or not self._changed_only.isChecked()]
        self._rows = list(file_rows(shown, self._opened))
        self.model.replace_source(ListedRows(LAYOUT, self._rows))
        self.view.select(selected)
        if selected is None:
            self.show_message(self._message)
        self.update_texts()

    def _set_open(self, row: int, is_open: bool) -> None:
        key = self._rows[row].key
        assert isinstance(key, str)
        (self._opened.add if is_open else self._opened.discard)(key)
        self._list()

    def _file_at(self, row: int) -> FileLine | None:
        key = self._rows[row].key
        path = key[0] if isinstance(key, tuple) else key
        return next((file for file in self._files if file.path == path), None)

    def _copy_content(self, file: FileLine) -> None:
        """Copies the content after the last change, or says that it is unknown."""
        self._client.send_request(
            FinalContent(file.path), QGuiApplication.clipboard().setText, lambda why: self.head.show_hint(why, ""),
        )  # fmt: skip

    @override
    def update_texts(self) -> None:
        self.head.count_things(len(self._files), "file")
        changed = sum(file.is_changed for file in self._files)
        self.head.show_hint(f"{formats.count_of(changed, 'file')} changed" if changed else "", "")
        self.view.set_empty_text("No call names a file." if self.latest.answer == [] else "")

    @override
    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName("fileMenu")
        menu.addAction("Copy row").triggered.connect(lambda: self._copy_row(row))
        file = self._file_at(row)
        if file is not None and file.is_changed:
            copy = menu.addAction("Copy final content")
            copy.setObjectName("copyFinalContent")
            copy.triggered.connect(lambda: self._copy_content(file))
        menu.aboutToHide.connect(menu.deleteLater)
        return menu
