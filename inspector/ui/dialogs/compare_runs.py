"""Dialog that chooses the other run of a comparison, and fields that do not count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from inspector.present.rows import ListedRows, Row
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.dialogs.two_line_list import LAYOUT, two_line_spec
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.form import FieldColumn
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

TITLE = "Compare with another run"
IGNORE_HELP = "Fields of arguments and results, or patterns, separated by commas: seed, options.port"
NOTHING = "No other log is open or was opened lately. Browse chooses one."
_WIDTH, _HEIGHT = 640, 460


class RunChoice(NamedTuple):
    """A log to choose.

    Attributes:
        target: as in `base.targets`.
        title, detail: for the user.
        is_open: another window shows it.
    """

    target: str
    title: str
    detail: str
    is_open: bool = False


def _row_of(choice: RunChoice) -> Row:
    words = ", ".join(filter(None, (choice.title, choice.detail, "open" if choice.is_open else "")))
    return two_line_spec(
        choice.target, choice.title, "", choice.detail, "open" if choice.is_open else "", spoken=words,
        tip=choice.target,
    )  # fmt: skip


class CompareRunsDialog(Dialog):
    """Lists logs that are open or were lately.

    Signals:
        chosen(str, tuple): target of the other run, and names of fields and patterns that do not count.
        browse_requested(tuple): choose a file, with the same names; the dialog has closed.
    """

    chosen = Signal(str, object)
    browse_requested = Signal(object)

    def __init__(
        self, themes: ThemeController, choices: Sequence[RunChoice], ignore: Sequence[str], parent: QWidget
    ) -> None:
        super().__init__(themes, name="compareRunsDialog", title=TITLE, parent=parent)
        self._choices = {choice.target: choice for choice in choices}
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel(TITLE, variant="title", name="compareRunsTitle", parent=self))
        frame = ListFrame("compareRunsFrame", self)
        frame.lines.addWidget(self._build_list(frame, choices))
        self._page.addWidget(frame, 1)
        self.ignore = QLineEdit(", ".join(ignore), self)
        self.ignore.setObjectName("compareRunsIgnore")
        self.ignore.setAccessibleName("Ignore")
        self.ignore.setPlaceholderText("Ignore fields or patterns")
        self._page.addWidget(FieldColumn(self.ignore, name="compareRunsIgnoreHelp", help_text=IGNORE_HELP, parent=self))
        self._page.addLayout(self._build_buttons())
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.list.select_row(0)
        self._enable()
        self.list.setFocus()

    def _build_list(self, frame: QFrame, choices: Sequence[RunChoice]) -> RowsView:
        model = RowsModel(ListedRows(LAYOUT, [_row_of(choice) for choice in choices]), self)
        self.list = RowsView(
            model, self._themes, name="compareRunsList", title="Logs", parent=frame, in_dialog=True
        )  # fmt: skip
        self.list.set_empty_text(NOTHING)
        self.list.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.list.entered.connect(lambda _row: self._choose())
        return self.list

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(16)
        browse = WordButton("&Browse...", name="compareRunsBrowse", parent=self)
        browse.clicked.connect(self._browse)
        row.addWidget(browse)
        row.addStretch(1)
        cancel = WordButton("Cancel", name="compareRunsCancel", parent=self)
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        self._compare = WordButton("Compare", name="compareRunsDone", parent=self, default=True)
        self._compare.clicked.connect(self._choose)
        row.addWidget(self._compare)
        return row

    @property
    def _ignored(self) -> tuple[str, ...]:
        return tuple(filter(None, (part.strip() for part in self.ignore.text().split(","))))

    def _enable(self) -> None:
        self._compare.setEnabled(self.list.selected is not None)

    def _choose(self, *_clicked: object) -> None:
        if isinstance(target := self.list.selected, str):
            ignored = self._ignored
            self.accept()
            self.chosen.emit(target, ignored)

    def _browse(self) -> None:
        ignored = self._ignored
        self.accept()
        self.browse_requested.emit(ignored)

    def _on_theme_changed(self) -> None:
        self.take_margins(self._page)
        self._page.setSpacing(round(8 * self._themes.theme.zoom))
        self.take_size(_WIDTH, _HEIGHT)
