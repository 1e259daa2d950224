"""Export dialog: messages, format, fields, and masking of secrets with a preview."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.exports import (
    DEFAULT_FIELDS,
    CheckColumns,
    ExportOptions,
    Format,
    Preview,
    names_in,
)
from inspector.present import formats
from inspector.ui.dialogs.base_dialog import FittedDialog
from inspector.ui.dialogs.secrets_preview import SecretsPreview
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.form import CheckField, FieldColumn, Form
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.segmented import SegmentedControl


class Which(enum.StrEnum):
    """The choice of messages to export."""

    SELECTED = "selected"
    MARKED = "marked"
    SHOWN = "shown"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """The result of the dialog."""

    which: Which
    options: ExportOptions
    marks: bool = False
    """JSON Lines: write marks and comments beside the file."""


_SLOW_PAGE_MESSAGES = 20_000
"""Number of messages from which a browser opens the page slowly."""
_SELF_CONTAINED_HELP = "Envelopes only. Each response includes its method, target and request."
_MARKS_HELP = "In a separate file, which this program loads with the export."
_RAW_HELP = "In a separate column, so that this program can open the file."
_CONTENT_HELP = "Without content, spans have participants, methods, durations and outcomes."
_UNMASKED_HELP = "For this export only. Anyone with the file can read and use them."


class ExportDialog(FittedDialog):
    """Asks for the options of an export.

    Signals:
        which_chosen(str): another choice of messages; count their secrets again.
        accepted_choice(ExportChoice): Export was pressed with valid input.
    """

    which_chosen = Signal(str)
    accepted_choice = Signal(object)

    def __init__(
        self,
        theme_controller: ThemeController,
        client: Client,
        counts: dict[Which, int],
        before: ExportChoice,
        parent: QWidget | None = None,
    ) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            client: checks the columns.
            counts: number of messages of each choice; empty choices are hidden.
            before: the last choice. Masking is enabled again.
            parent: the owner.
        """
        super().__init__(theme_controller, name="exportMessages", title="Export messages", width=812, parent=parent)
        self._client, self._counts = client, counts
        self._tallest = 0.0
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel("Export messages", variant="title", name="exportTitle", parent=self))
        self._page.addSpacing(12)
        self._page.addLayout(self._build_fields())
        self._page.addSpacing(10)
        self.secrets = SecretsPreview(theme_controller, self)
        self._page.addWidget(self.secrets)
        self._unmasked = CheckField("Include unmasked secrets", _UNMASKED_HELP, name="exportUnmasked", parent=self)
        self._unmasked.toggled.connect(self._on_unmasked_toggled)
        self._page.addSpacing(8)
        self._page.addWidget(self._unmasked)
        self._page.addStretch(1)
        self._build_buttons()
        for one in Format:
            self._format.set_value(one)
            self._refresh()
            self.fit()
        self._take(before)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build_fields(self) -> Form:
        words = {Which.SELECTED: "Selected", Which.MARKED: "Marked", Which.SHOWN: "Shown", Which.ALL: "All"}
        choices = [
            (str(which), f"{word} ({formats.number(self._counts[which])})")
            for which, word in words.items()
            if self._counts[which]
        ]
        self._which = SegmentedControl(self._themes, choices, name="exportWhich", label="Messages", parent=self)
        self._which.chosen.connect(self.which_chosen)
        self._which.chosen.connect(self._refresh)
        self._format = SegmentedControl(
            self._themes,
            [(str(one), one.display_name) for one in Format],
            name="exportFormat",
            label="Format",
            parent=self,
        )
        self._format.chosen.connect(self._refresh)
        self._format_row = FieldColumn(
            _left_aligned(self._format, self), name="exportFormatHelp", help_text=" ", parent=self
        )
        self._self_contained = CheckField(
            "Self-contained", _SELF_CONTAINED_HELP, name="exportSelfContained", parent=self
        )
        self._self_contained.toggled.connect(self._refresh)
        self._marks = CheckField("Include marks and comments", _MARKS_HELP, name="exportMarks", parent=self)
        self._raw = CheckField("Include original lines", _RAW_HELP, name="exportRaw", parent=self)
        self._content = CheckField("Include message content", _CONTENT_HELP, name="exportContent", parent=self)
        self._has_marks = False
        self._columns = QLineEdit(self)
        self._columns.setObjectName("exportColumns")
        self._columns.setAccessibleName("Columns")
        self._columns.textEdited.connect(lambda _text: self._columns_row.say_trouble(""))
        self._columns_row = FieldColumn(
            self._columns, name="exportColumnsHelp", help_text="Fields, separated by commas.", parent=self
        )
        form = Form(self._themes, self)
        form.add_field("Messages", _left_aligned(self._which, self))
        form.add_field("Format", self._format_row)
        form.add_wide(self._self_contained)
        for box in (self._marks, self._raw, self._content):
            form.add_wide(box)
        form.add_wide(self._columns_row)
        form.add_across(HairLine("exportLine", self))
        return form

    def _build_buttons(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 14, 0, 0)
        row.setSpacing(12)
        row.addStretch(1)
        cancel = WordButton("Cancel", name="exportCancel", parent=self)
        cancel.clicked.connect(self.reject)
        self._export = WordButton("Export...", name="exportExport", parent=self)
        self._export.setDefault(True)
        self._export.clicked.connect(self._on_export_clicked)
        row.addWidget(cancel)
        row.addWidget(self._export)
        self._page.addLayout(row)
        self._export.setFocus()

    def _take(self, before: ExportChoice) -> None:
        if self._counts[before.which]:
            self._which.set_value(before.which)
        self._format.set_value(before.options.format)
        self._self_contained.set_checked(before.options.self_contained)
        self._marks.set_checked(before.marks)
        self._raw.set_checked(before.options.raw)
        self._content.set_checked(before.options.content)
        # masking is not taken from the last export: unmasked secrets need a choice each time
        self._columns.setText(", ".join(before.options.fields))
        self._refresh()

    # Input

    @property
    def which(self) -> Which:
        return Which(self._which.value())

    def set_has_marks(self, has: bool) -> None:
        """Shows the option for marks if the document has marks or comments."""
        self._has_marks = has
        self._refresh()

    def show_preview(self, preview: Preview | None) -> None:
        """Shows the secrets counted so far; None before the count."""
        self.secrets.show_preview(preview, self._counts[self.which])

    # User actions

    def _refresh(self, *_chosen: object) -> None:
        format_ = Format(self._format.value())
        words = format_.help
        if format_ is Format.JSONL and self._self_contained.box.isChecked():
            words = "One message per line, readable without the capture."
        if format_ is Format.HTML and self._counts[self.which] > _SLOW_PAGE_MESSAGES:
            words = f"{words} A page of this size opens slowly."
        self._format_row.say_help(words)
        self._self_contained.setVisible(format_ is Format.JSONL)
        self._marks.setVisible(format_ is Format.JSONL and self._has_marks)
        self._raw.setVisible(format_ is Format.PARQUET)
        self._content.setVisible(format_ is Format.OTLP)
        self._columns_row.setVisible(format_ is Format.CSV)
        self._unmasked.setVisible(format_ is not Format.CONVERSATION)

    def _on_unmasked_toggled(self, unmasked: bool) -> None:
        self.secrets.set_masked(not unmasked)
        words = "Export unmasked..." if unmasked else "Export..."
        self._export.setText(words)
        self._export.setAccessibleName(words)

    def _on_export_clicked(self) -> None:
        names = self._column_names()
        if names is None:
            self._columns.setFocus()
            return
        options = ExportOptions(
            format=Format(self._format.value()),
            self_contained=self._self_contained.box.isChecked(),
            masked=self._unmasked.isHidden() or not self._unmasked.box.isChecked(),
            fields=names,
            raw=self._raw.box.isChecked(),
            content=self._content.box.isChecked(),
        )
        choice = ExportChoice(self.which, options, marks=self._has_marks and self._marks.box.isChecked())
        self.accept()
        self.accepted_choice.emit(choice)

    def _column_names(self) -> tuple[str, ...] | None:
        """Returns the columns, or None after showing the invalid one."""
        names = tuple(names_in(self._columns.text()))
        if self._format.value() != Format.CSV:
            return names or DEFAULT_FIELDS
        try:
            trouble = self._client.answer_now(CheckColumns(names))
        except RequestError as error:
            trouble = str(error)
        if trouble:
            self._columns_row.say_trouble(trouble)
            return None
        if not names:
            self._columns_row.say_trouble("Enter a field, such as no or text.")
            return None
        return names

    def _on_theme_changed(self) -> None:
        self.take_margins(self._page)
        self._page.setSpacing(0)
        self.fit()

    @override
    def fit(self) -> None:
        """Keeps the height of the tallest format so far, so that the buttons stay under the pointer."""
        super().fit()
        zoom = self._themes.theme.zoom
        self._tallest = max(self._tallest, self.height() / zoom)
        self.setFixedHeight(min(round(self._tallest * zoom), self.most_size().height()))


def _left_aligned(control: QWidget, parent: QWidget) -> QWidget:
    """Returns a row of the form with the control at the left in its own width."""
    holder = QWidget(parent)
    holder.setObjectName(f"{control.objectName()}Row")
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(control)
    row.addStretch(1)
    return holder
