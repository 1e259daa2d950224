"""Help > About: versions, environment, and the licences of all dependencies."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.diagnostics.licences import Licence, bundled_licences
from inspector.present.wire_text import safe_line, visible_controls
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import LinkButton, WordButton
from inspector.ui.widgets.labels import Sign, TextLabel
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel

CLAIM = "See what your agents did, why, and what it cost."
_WIDTH, _HEIGHT = 640, 600
_COLUMNS = ("Part", "Version", "Licence")
_NO_LICENCE_TEXT = "The licence text of this part is missing."
_MAX_LICENCE_LENGTH = 60
"""Maximum number of characters of a licence's name in the list. Some packages put the whole text there."""


class PartsModel(TableModel[Licence]):
    """Names, versions and licences of parts."""

    columns = range(len(_COLUMNS))
    titles = _COLUMNS
    first_figure = len(_COLUMNS)

    @override
    def column(self, section: int) -> int:
        return section

    @override
    def text(self, one: Licence, column: int) -> str:
        return (one.name, one.version, safe_line(one.licence, _MAX_LICENCE_LENGTH))[column]


class AboutDialog(Dialog):
    """Shows name, version and environment of the program, its parts, and the licence of the selected part.

    Signals:
        page_requested: open the page of the newer version.
    """

    page_requested = Signal()

    def __init__(
        self, theme_controller: ThemeController, facts: list[tuple[str, str]], parent: QWidget | None = None, *,
        newer: str = "",
    ) -> None:  # fmt: skip
        """Creates the dialog; `open()` shows it.

        Args:
            theme_controller: gives the look.
            facts: (name, value) of versions and environment.
            parent: owner; the dialog is modal to its window.
            newer: number of a newer version with a page, or "".
        """
        super().__init__(theme_controller, name="aboutDialog", title="About Context Inspector", parent=parent)
        self._facts, self._newer = facts, newer
        self._trouble = ""
        try:
            self._parts = bundled_licences()
        except (OSError, ValueError, TypeError, LookupError) as error:
            self._parts = list[Licence]()
            self._trouble = f"The list of parts cannot be read: {error}. Reinstall the program."
        self._page = QVBoxLayout(self)
        self._build_head()
        self._build_parts()
        self._build_buttons()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.take_size(_WIDTH, _HEIGHT)
        self.table.setFocus()

    def _build_head(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(Sign(self._themes, self), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(TextLabel("Context Inspector", variant="title", name="aboutTitle", parent=self))
        words.addWidget(TextLabel(CLAIM, variant="secondary", name="aboutClaim", wrap=True, parent=self))
        versions = "\n".join(f"{name}: {safe_line(value)}" for name, value in self._facts)
        facts = TextLabel(versions, variant="small", name="aboutFacts", wrap=True, parent=self)
        facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words.addSpacing(4)
        words.addWidget(facts)
        if self._newer:
            link = LinkButton(f"Page of version {self._newer}...", name="aboutNewer", parent=self)
            link.clicked.connect(lambda *_checked: self.page_requested.emit())
            words.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        row.addLayout(words, 1)
        self._page.addLayout(row)

    def _build_parts(self) -> None:
        heading = self._trouble or f"{len(self._parts)} parts and their licences"
        self._page.addWidget(TextLabel(heading, variant="strong", name="aboutParts", wrap=True, parent=self))
        frame = ListFrame("aboutFrame", self)
        model = PartsModel(None, self)
        model.take_rows(self._parts)
        self.table = TableView(
            model, self._themes, frame, name="about", title="Parts of the program", in_dialog=True
        )  # fmt: skip
        header = self.table.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.table.selectionModel().currentRowChanged.connect(lambda index, _before: self._show_licence(index.row()))
        frame.lines.addWidget(self.table)
        self._page.addWidget(frame, 3)
        self.licence = QPlainTextEdit(self)
        self.licence.setObjectName("aboutLicence")
        self.licence.setAccessibleName("Licence")
        self.licence.setProperty("variant", "field")
        self.licence.setReadOnly(True)
        self.licence.setTabChangesFocus(True)
        self._page.addWidget(self.licence, 2)
        if self._parts:
            self.table.selectRow(0)

    def _build_buttons(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        copy = WordButton("&Copy versions", name="aboutCopy", parent=self)
        copy.clicked.connect(self.copy)
        self._status = TextLabel(variant="secondary", name="aboutStatus", parent=self)
        close = WordButton("Close", name="aboutClose", parent=self, default=True)
        close.clicked.connect(self.accept)
        row.addWidget(copy)
        row.addWidget(self._status, 1)
        row.addWidget(close)
        self._page.addLayout(row)

    def versions(self) -> str:
        """Returns the text for Copy."""
        facts = [f"{name}: {value}" for name, value in self._facts]
        parts = [f"{part.name} {part.version} ({safe_line(part.licence, _MAX_LICENCE_LENGTH)})" for part in self._parts]
        return "\n".join([*facts, "", *parts]).rstrip() + "\n"

    def copy(self) -> None:
        QApplication.clipboard().setText(self.versions())
        self._status.setText("Versions copied.")

    def _show_licence(self, row: int) -> None:
        if 0 <= row < len(self._parts):
            part = self._parts[row]
            self.licence.setPlainText(visible_controls(part.text) or _NO_LICENCE_TEXT)
            self.licence.setAccessibleName(f"Licence of {part.name}")

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.take_margins(self._page)
        self._page.setSpacing(round(12 * theme.zoom))
        self.licence.setFont(theme.font("mono-row"))
