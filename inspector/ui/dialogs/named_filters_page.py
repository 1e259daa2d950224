"""Base class of settings pages with a list of named filters: order, edit, import and export.

Presets and highlight rules derive from it and add their own fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from inspector.engine.requests.filters import check_text
from inspector.present.rows import Layout, ListedRows, Row
from inspector.present.secret_settings import NOT_WRITTEN, holds_secret
from inspector.settings import HighlightRule, Preset
from inspector.settings.sharing import SharedPresets, UnreadableShareError, new_items
from inspector.ui.dialogs.base_dialog import ListFrame
from inspector.ui.dialogs.share_buttons import ShareButtons, outcome
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView, Toggles

Item = TypeVar("Item", Preset, HighlightRule)


class Words(NamedTuple):
    """The texts of a page."""

    name: str
    """Prefix of object names."""
    title: str
    """Title of the list."""
    one: str
    """Noun for a row."""
    help: str
    filter_help: str
    no_name: str


class NamedFiltersPage(QWidget, Generic[Item]):
    """Edits a copy of the items. Shows an invalid filter or empty name at the field and does not apply it.

    Subclasses call `build` when their methods are ready.

    Signals:
        changed: the user made a change.
    """

    changed = Signal()
    layout_of_rows = Layout()
    toggles: Toggles = ""

    def __init__(
        self, theme_controller: ThemeController, items: Sequence[Item], words: Words, parent: QWidget | None
    ) -> None:
        """Creates an empty page.

        Args:
            theme_controller: gives the look.
            items: the shown items; not changed.
            words: the texts.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._numbers = itertools.count()
        # Items have no identity of their own; their number keeps the selection while they move.
        self._items = [(next(self._numbers), item.model_copy()) for item in items]
        self._model = RowsModel(ListedRows(self.layout_of_rows), self, reorders=True)
        self._words = words
        self.setObjectName(f"settings{words.name.capitalize()}")
        self.setAccessibleName(words.title)

    # Fields besides name and filter

    def new_item(self) -> Item:
        raise NotImplementedError

    def item_spec(self, key: int, item: Item, row: int) -> Row:
        """Returns the row of an item."""
        raise NotImplementedError

    def add_fields(self, form: Form) -> None:
        """Adds the fields below name and filter."""
        raise NotImplementedError

    def show_fields(self, item: Item | None) -> None:
        """Shows an item in these fields; None empties them."""
        raise NotImplementedError

    def edited(self, item: Item, name: str, text: str) -> Item:
        """Returns the item with a new name and filter and the values of the fields."""
        raise NotImplementedError

    def filter_help(self, text: str) -> str:
        """Returns the help text under a valid filter."""
        return NOT_WRITTEN if holds_secret(text) else self._words.filter_help

    def given(self) -> SharedPresets:
        """Returns the content of an exported file."""
        raise NotImplementedError

    def found_in(self, shared: SharedPresets) -> tuple[Sequence[Item], str]:
        """Returns the items of an imported file. Without any, the sentence names its other content, or is ""."""
        raise NotImplementedError

    def fitted(self, items: Sequence[Item]) -> Iterable[Item]:
        """Adapts items of a file to the existing ones."""
        return items

    # Building

    def build(self) -> None:
        words = self._words
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(TextLabel(words.help, variant="secondary", name=f"{words.name}Help", wrap=True, parent=self))
        column.addWidget(self._build_list(), 1)
        column.addLayout(self._build_buttons())
        column.addWidget(self._share.status)
        column.addLayout(self._build_form())
        self.setFocusProxy(self._list)
        self._show_rows()
        self._select(0)

    def _build_list(self) -> ListFrame:
        frame = ListFrame(f"{self._words.name}Frame", self)
        self._list = RowsView(
            self._model, self._themes, name=f"{self._words.name}List", title=self._words.title, parent=frame,
            in_dialog=True, removes=True, toggles=self.toggles,
        )  # fmt: skip
        self._list.selectionModel().currentChanged.connect(lambda _current, _previous: self._show_current())
        self._list.moved.connect(lambda row, target: self._move_to(row, target))
        self._list.removed.connect(lambda _row: self._on_remove_clicked())
        frame.lines.addWidget(self._list)
        return frame

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        made: dict[str, IconButton] = {}
        prefix = self._words.name
        for name, icon, words in (
            ("Add", "add", f"Add a {self._words.one}"),
            ("Remove", "ri.subtract-line", f"Remove this {self._words.one}"),
            ("Up", "up", "Move up (Alt+Up)"),
            ("Down", "down", "Move down (Alt+Down)"),
        ):
            made[name] = IconButton(self._themes, icon, words, name=f"{prefix}{name}", variant="small", parent=self)
            row.addWidget(made[name])
        made["Add"].clicked.connect(lambda: self.add(self.new_item()))
        made["Remove"].clicked.connect(self._on_remove_clicked)
        made["Up"].clicked.connect(lambda: self._move_to(self._row(), self._row() - 1))
        made["Down"].clicked.connect(lambda: self._move_to(self._row(), self._row() + 1))
        self._buttons = made
        row.addStretch(1)
        self._share = ShareButtons(prefix, self._words.title.lower(), self.given, self._take, self)
        row.addWidget(self._share)
        return row

    def _build_form(self) -> Form:
        name = self._words.name
        form = Form(self._themes, self)
        form.setColumnMinimumWidth(0, 48)
        self._name = QLineEdit(self)
        self._name.setObjectName(f"{name}Name")
        self._name.setAccessibleName("Name")
        self._filter = QLineEdit(self)
        self._filter.setObjectName(f"{name}Filter")
        self._filter.setAccessibleName("Filter")
        for field in (self._name, self._filter):
            field.textEdited.connect(self._on_edited)
        self._name_row = FieldColumn(self._name, name=f"{name}NameHelp", parent=self)
        self._filter_row = FieldColumn(
            self._filter, name=f"{name}FilterHelp", help_text=self._words.filter_help, parent=self
        )
        form.add_field("Name", self._name_row, self._name)
        form.add_field("Filter", self._filter_row, self._filter)
        self.add_fields(form)
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        return form

    def _on_theme_changed(self) -> None:
        self._filter.setFont(self._themes.theme.font("mono"))

    # Content

    def items(self) -> list[Item]:
        """Returns the items in their order."""
        return [item.model_copy() for _, item in self._items]

    def _item(self, row: int) -> Item | None:
        return self._items[row][1] if 0 <= row < len(self._items) else None

    def _show_rows(self) -> None:
        rows = [self.item_spec(key, item, row) for row, (key, item) in enumerate(self._items)]
        self._model.show_rows(self.layout_of_rows, rows)

    def _append(self, item: Item) -> int:
        """Appends an item and returns its row."""
        self._items.append((next(self._numbers), item.model_copy()))
        self._show_rows()
        return len(self._items) - 1

    def show_items(self, items: Sequence[Item]) -> None:
        """Shows other items without a signal."""
        self._items = [(next(self._numbers), item.model_copy()) for item in items]
        self._show_rows()
        self._select(0)

    def add(self, item: Item) -> None:
        """Appends an item and focuses its name."""
        self._select(self._append(item))
        self._name.setFocus()
        self._name.selectAll()
        self.changed.emit()

    def select(self, row: int) -> None:
        """Selects an item and focuses its name."""
        self._select(row)
        self._name.setFocus()

    def _row(self) -> int:
        return self._list.row

    def _select(self, row: int) -> None:
        self._list.select_row(min(row, len(self._items) - 1))
        self._show_current()

    def _show_current(self) -> None:
        row = self._row()
        item = self._item(row)
        for field, shown in ((self._name, item.name if item else ""), (self._filter, item.filter if item else "")):
            field.setText(shown)
            field.setCursorPosition(0)
            field.setEnabled(item is not None)
        self._buttons["Remove"].setEnabled(item is not None)
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(0 <= row < len(self._items) - 1)
        self._share.set_can_export(len(self._items) > 0)
        self.show_fields(item)
        self._show_errors()

    def _show_errors(self) -> bool:
        """Shows errors at the fields. Returns True if the input must not be applied."""
        nameless = self._name.isEnabled() and not self._name.text().strip()
        self._name_row.say_trouble(self._words.no_name if nameless else "")
        sentence = _filter_error(self._filter.text())
        self._filter_row.say_trouble(sentence)
        self._filter_row.say_help(self.filter_help(self._filter.text()))
        return nameless or bool(sentence)

    # User actions

    def _on_edited(self) -> None:
        row = self._row()
        item = self._item(row)
        if item is not None and not self._show_errors():
            self.replace_item(row, self.edited(item, self._name.text().strip(), self._filter.text().strip()))

    def replace_item(self, row: int, item: Item) -> None:
        """Replaces the item of a row after an edit."""
        self._items[row] = self._items[row][0], item.model_copy()
        self._show_rows()
        self.changed.emit()

    def _on_remove_clicked(self) -> None:
        row = self._row()
        if row >= 0:
            del self._items[row]
            self._show_rows()
            self._select(row)
            self.changed.emit()

    def _move_to(self, row: int, target: int) -> None:
        if 0 <= row < len(self._items) and 0 <= target < len(self._items) and target != row:
            self._items.insert(target, self._items.pop(row))
            self._show_rows()
            self._select(target)
            self.changed.emit()

    # Sharing

    def _take(self, shared: SharedPresets, file: str) -> str:
        """Adds the new items of a file that have valid filters."""
        found, other = self.found_in(shared)
        if not found:
            raise UnreadableShareError(" ".join(filter(None, (f"{file} holds no {self._words.title.lower()}.", other))))
        new = new_items(self.items(), found)
        troubles = [(item, _filter_error(item.filter)) for item in new]
        wrong = [f"{item.name} ({trouble.rstrip('.')})" for item, trouble in troubles if trouble]
        good = [item for item, trouble in troubles if not trouble]
        rows = [self._append(item) for item in self.fitted(good)]
        if rows:
            self._select(rows[0])
            self.changed.emit()
        return outcome(len(rows), len(found) - len(new), wrong, self._words.one, file)


def _filter_error(text: str) -> str:
    """Returns the error of a filter, or ""."""
    return str(check_text(text).problem or "")
