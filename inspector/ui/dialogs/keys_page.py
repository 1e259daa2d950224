"""Settings > General > Keys: list of actions, and fields to change their keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector.ui.dialogs.base_dialog import ListFrame
from inspector.ui.dialogs.key_validation import trouble_with
from inspector.ui.dialogs.keys_dialog import find_lines
from inspector.ui.input.keys import Chosen, Keyed, keys_in_force, native, normal
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry, CommandList
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.key_field import KeyField
from inspector.ui.widgets.labels import TextLabel

HELP = "Select an action, go to Key, and press the new key."
KEY_HELP = "Press the key. Backspace removes it, Tab moves on."
_FIELDS = (("Key", "keysKey"), ("Second key", "keysAlso"))


class KeysPage(QWidget):
    """Edits a copy of the chosen keys. A key in use stays with its action until the user reassigns it.

    Signals:
        changed: the user made a change; `chosen` has the new keys.
    """

    changed = Signal()

    def __init__(
        self, theme_controller: ThemeController, keyed: Sequence[Keyed], chosen: Chosen, parent: QWidget | None = None
    ) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            keyed: the actions.
            chosen: the keys that differ from the defaults; not changed.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._keyed = list(keyed)
        self._chosen = {name: list(keys) for name, keys in chosen.items()}
        self._wanted: tuple[int, str, Keyed] | None = None
        self.setObjectName("settingsKeys")
        self.setAccessibleName("Keys")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(TextLabel(HELP, variant="secondary", name="keysHelp", wrap=True, parent=self))
        frame = ListFrame("keysPageFrame", self)
        self.list = CommandList(theme_controller, name="keysPageList", label="Actions and their keys", parent=frame)
        self.list.selectionModel().currentChanged.connect(self._on_current_changed)
        frame.lines.addWidget(self.list)
        self.field = ChoosingField(
            self.list, name="keysPageSearch", label="Search actions", hint="Search by action or key", parent=self
        )
        self.field.textChanged.connect(self._fill)
        self.field.accepted.connect(lambda: self._edits[0].setFocus())
        self.field.left.connect(self._on_search_left)
        self.setFocusProxy(self.field)
        column.addWidget(self.field)
        column.addWidget(frame, 1)
        column.addLayout(self._build_form())
        self._fill()

    def _build_form(self) -> Form:
        form = Form(self._themes, self)
        self._edits: list[KeyField] = []
        self._columns: list[FieldColumn] = []
        for place, (words, name) in enumerate(_FIELDS):
            edit = KeyField(name=name, label=words, parent=self)
            edit.pressed.connect(partial(self._on_pressed, place))
            help_text = KEY_HELP if place == 0 else ""
            field_column = FieldColumn(edit, name=f"{name}Help", help_text=help_text, parent=self)
            self._edits.append(edit)
            self._columns.append(field_column)
            form.add_field(words, field_column, edit)
        row = QWidget(self)
        inside = QHBoxLayout(row)
        inside.setContentsMargins(0, 0, 0, 0)
        self._take_button = WordButton("Reassign key", name="keysTake", parent=row)
        self._take_button.clicked.connect(self._on_take_clicked)
        self._reset_button = WordButton("Reset key", name="keysUsual", parent=row)
        self._reset_button.clicked.connect(self._on_usual_clicked)
        inside.addWidget(self._reset_button)
        inside.addWidget(self._take_button)
        inside.addStretch(1)
        form.add_wide(row)
        return form

    # Content

    def chosen(self) -> dict[str, list[str]]:
        """Returns the keys that differ from the defaults, by the id of the action."""
        return {name: list(keys) for name, keys in self._chosen.items()}

    def show_chosen(self, chosen: Chosen) -> None:
        """Shows other keys without a signal."""
        self._chosen = {name: list(keys) for name, keys in chosen.items()}
        self._fill()

    def show_keyed(self, keyed: Sequence[Keyed], chosen: Chosen) -> None:
        """Shows other actions and their keys without a signal."""
        self._keyed = list(keyed)
        self.show_chosen(chosen)

    def _fill(self, *_text: object) -> None:
        now = keys_in_force(self._keyed, self._chosen)
        before = self.list.line()
        lines = [
            CommandEntry(
                one.id, one.group, one.title, tuple(native([key]) for key in now[one.id]),
                detail="changed" if one.id in self._chosen else "",
            )
            for one in self._keyed
        ]  # fmt: skip
        self.list.show_lines(find_lines(lines, self.field.text()), before.id if before is not None else "")
        self._show_current()

    def _current(self) -> Keyed | None:
        line = self.list.line()
        return next((one for one in self._keyed if line is not None and one.id == line.id), None)

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        current = self._current()
        keys = keys_in_force(self._keyed, self._chosen)[current.id] if current is not None else ()
        for place, edit in enumerate(self._edits):
            edit.show_key(keys[place] if place < len(keys) else "")
            edit.setEnabled(current is not None)
            self._columns[place].say_trouble("")
        self._reset_button.setEnabled(current is not None and current.id in self._chosen)
        usual = native(current.defaults) if current is not None else ""
        self._reset_button.setText(f"Reset to {usual}" if usual else "Reset to no key")
        self._offer_reassignment(None)

    def _offer_reassignment(self, wanted: tuple[int, str, Keyed] | None) -> None:
        self._wanted = wanted
        self._take_button.setVisible(wanted is not None)

    # User actions

    def _on_search_left(self) -> None:
        if self.field.text():
            self.field.clear()
        else:
            self.window().close()

    def _on_pressed(self, place: int, key: str) -> None:
        current, key = self._current(), normal(key)
        if current is None:
            return
        self._show_current()
        trouble = trouble_with(key, current)
        if trouble:
            self._columns[place].say_trouble(trouble)
            return
        now = keys_in_force(self._keyed, self._chosen)
        owner = next((one for one in self._keyed if key and one.id != current.id and key in now[one.id]), None)
        if owner is not None:
            self._edits[place].show_key(key)
            words = f"{native([key])} is the key of {owner.title}. Reassign it to use it here."
            self._columns[place].say_trouble(words)
            self._offer_reassignment((place, key, owner))
            return
        self._set_key(current, place, key)

    def _on_take_clicked(self) -> None:
        current, wanted = self._current(), self._wanted
        if current is None or wanted is None:
            return
        place, key, owner = wanted
        left = [one for one in keys_in_force(self._keyed, self._chosen)[owner.id] if one != key]
        self._store_keys(owner, left)
        self._set_key(current, place, key)
        self._edits[place].setFocus()

    def _on_usual_clicked(self) -> None:
        current = self._current()
        if current is not None:
            self._chosen.pop(current.id, None)
            self._after_change()

    def _set_key(self, current: Keyed, place: int, key: str) -> None:
        keys = list(keys_in_force(self._keyed, self._chosen)[current.id])
        keys[place : place + 1] = [key]
        self._store_keys(current, list(dict.fromkeys(filter(None, keys))))
        self._after_change()

    def _store_keys(self, one: Keyed, keys: list[str]) -> None:
        if keys == [normal(key) for key in one.defaults]:
            self._chosen.pop(one.id, None)
        else:
            self._chosen[one.id] = keys

    def _after_change(self) -> None:
        self._fill()
        self.changed.emit()
