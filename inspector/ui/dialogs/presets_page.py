"""Settings > General > Presets: the list in its order, name, filter and key of the selected one, files to share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from inspector.filters import FilterError, compile_filter
from inspector.settings import Preset
from inspector.settings.sharing import Shared, UnreadableShareError, not_yet_among
from inspector.ui import preset_keys
from inspector.ui.dialogs.key_trouble import trouble_with
from inspector.ui.dialogs.ordered_list import OrderedList
from inspector.ui.dialogs.preset_model import PresetDelegate, PresetListModel
from inspector.ui.dialogs.share_buttons import ShareButtons, outcome
from inspector.ui.kept import NOT_WRITTEN, holds_secret
from inspector.ui.keys import Keyed
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.key_field import KeyField
from inspector.ui.widgets.labels import TextLabel

HELP = "A preset is a named filter. $context in it stands for the selected context."
FILTER_HELP = "Empty shows everything."
NEW_NAME = "New preset"
NO_NAME = "A preset needs a name."
KEY_HELP = "Applies the preset from anywhere in the window."
PLACE_HELP = "By its place in the bar; press another key to give it one of its own."


class PresetsPage(QWidget):
    """Edits a copy of the presets. A wrong filter or an empty name is said in place and not taken over.

    Signals:
        changed: the user changed something; ask `presets`.
    """

    changed = Signal()

    def __init__(
        self,
        theme_controller: ThemeController,
        presets: Sequence[Preset],
        parent: QWidget | None = None,
        *,
        taken: Mapping[str, str] | None = None,
    ) -> None:
        """Make the page.

        Args:
            theme_controller: gives the look.
            presets: what it shows; not changed.
            parent: owner.
            taken: what keys mean that no preset can have, by key as `preset_keys.normal` writes it.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._taken = dict(taken or {})
        self.setObjectName("settingsPresets")
        self.setAccessibleName("Presets")
        self._model = PresetListModel(presets, self, self._taken)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(TextLabel(HELP, variant="secondary", name="presetsHelp", wrap=True, parent=self))
        column.addWidget(self._build_list(), 1)
        column.addLayout(self._build_buttons())
        column.addWidget(self._share.said)
        column.addLayout(self._build_form())
        self.setFocusProxy(self._list)
        self._select(0)

    def _build_list(self) -> QFrame:
        frame = QFrame(self)
        frame.setObjectName("presetsFrame")
        frame.setProperty("variant", "card")
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(1, 4, 1, 4)
        self._list = OrderedList("presetsList", "Presets", frame)
        self._list.moved.connect(lambda row, target: self._move_to(row, target))
        self._list.removed.connect(lambda _row: self._on_remove_clicked())
        self._list.setModel(self._model)
        self._list.setItemDelegate(PresetDelegate(self._themes, self))
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        inside.addWidget(self._list)
        return frame

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        made: dict[str, IconButton] = {}
        for name, icon, words in (
            ("Add", "add", "Add a preset"),
            ("Remove", "ri.subtract-line", "Remove this preset"),
            ("Up", "up", "Move up (Alt+Up)"),
            ("Down", "down", "Move down (Alt+Down)"),
        ):
            made[name] = IconButton(self._themes, icon, words, name=f"presets{name}", variant="small", parent=self)
            row.addWidget(made[name])
        made["Add"].clicked.connect(self._on_add_clicked)
        made["Remove"].clicked.connect(self._on_remove_clicked)
        made["Up"].clicked.connect(lambda: self._move(-1))
        made["Down"].clicked.connect(lambda: self._move(1))
        self._buttons = made
        row.addStretch(1)
        self._share = ShareButtons("presets", "presets", self._give, self._take, self)
        row.addWidget(self._share)
        return row

    def _build_form(self) -> Form:
        form = Form(self._themes, self)
        form.setColumnMinimumWidth(0, 48)
        self._name = QLineEdit(self)
        self._name.setObjectName("presetsName")
        self._name.setAccessibleName("Name")
        self._name.textEdited.connect(self._on_edited)
        self._filter = QLineEdit(self)
        self._filter.setObjectName("presetsFilter")
        self._filter.setAccessibleName("Filter")
        self._filter.textEdited.connect(self._on_edited)
        self._name_row = FieldColumn(self._name, name="presetsNameHelp", parent=self)
        self._filter_row = FieldColumn(self._filter, name="presetsFilterHelp", help_text=FILTER_HELP, parent=self)
        form.add_field("Name", self._name_row, self._name)
        form.add_field("Filter", self._filter_row, self._filter)
        form.add_field("Key", self._build_key(), self._key)
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        return form

    def _build_key(self) -> FieldColumn:
        self._key_line = QWidget(self)
        row = QHBoxLayout(self._key_line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self._key = KeyField(name="presetsKey", label="Key", parent=self._key_line)
        self._key.pressed.connect(self._on_key_pressed)
        row.addWidget(self._key, 1)
        self._no_key = IconButton(
            self._themes, "clear", "Let it have no key", name="presetsKeyClear", variant="small", parent=self._key_line
        )
        self._no_key.clicked.connect(lambda: self._give_key(""))
        row.addWidget(self._no_key)
        self._by_place = IconButton(
            self._themes, "refresh", "Give it the key of its place again", name="presetsKeyByPlace", variant="small",
            parent=self._key_line,
        )  # fmt: skip
        self._by_place.clicked.connect(lambda: self._give_key(None))
        row.addWidget(self._by_place)
        self._key_row = FieldColumn(self._key_line, name="presetsKeyHelp", help_text=KEY_HELP, parent=self)
        return self._key_row

    def _on_theme_changed(self) -> None:
        self._filter.setFont(self._themes.theme.font("mono"))

    # Content

    def presets(self) -> list[Preset]:
        """The presets in their order."""
        return self._model.items()

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Show other presets; says nothing."""
        self._model.replace(presets)
        self._select(0)

    def set_taken(self, taken: Mapping[str, str]) -> None:
        """Say anew what keys mean that no preset can have."""
        self._taken.clear()
        self._taken.update(taken)
        self._show_key()

    def select(self, row: int) -> None:
        """Select a preset, ready to be edited."""
        self._select(row)
        self._name.setFocus()

    def _row(self) -> int:
        return self._list.currentIndex().row()

    def _select(self, row: int) -> None:
        self._list.setCurrentIndex(self._model.index(min(row, self._model.rowCount() - 1)))
        self._show_current()

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        row = self._row()
        preset = self._model.item(row)
        name, text = (preset.name, preset.filter) if preset else ("", "")
        for field, shown in ((self._name, name), (self._filter, text)):
            field.setText(shown)
            field.setCursorPosition(0)
            field.setEnabled(preset is not None)
        self._buttons["Remove"].setEnabled(preset is not None)
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(0 <= row < self._model.rowCount() - 1)
        self._say_trouble()
        self._share.set_can_export(self._model.rowCount() > 0)
        self._show_key()

    def _show_key(self) -> None:
        """Show the key in force of the selected preset, and where it comes from."""
        row = self._row()
        preset = self._model.item(row)
        self._key.show_key(self._model.key(row) if preset else "")
        self._key_line.setEnabled(preset is not None)
        self._no_key.setEnabled(preset is not None and bool(self._model.key(row)))
        by_place = preset is not None and preset.key is None
        self._by_place.setEnabled(preset is not None and not by_place and row < preset_keys.BY_PLACE)
        self._key_row.say_trouble("")
        self._key_row.say_help(PLACE_HELP if by_place and row < preset_keys.BY_PLACE else KEY_HELP)

    def _say_trouble(self) -> bool:
        """Say in place what is wrong; whether anything is."""
        nameless = self._name.isEnabled() and not self._name.text().strip()
        self._name_row.say_trouble(NO_NAME if nameless else "")
        sentence = _trouble_of(self._filter.text())
        self._filter_row.say_trouble(sentence)
        self._filter_row.say_help(NOT_WRITTEN if holds_secret(self._filter.text()) else FILTER_HELP)
        return nameless or bool(sentence)

    # What the user does

    def _on_edited(self) -> None:
        row = self._row()
        if row < 0 or self._say_trouble():
            return
        preset = self._model.item(row)
        key = preset.key if preset else None
        self._model.change(row, Preset(name=self._name.text().strip(), filter=self._filter.text().strip(), key=key))
        self.changed.emit()

    def _on_key_pressed(self, key: str) -> None:
        key = preset_keys.normal(key)
        sentence = self._trouble_of_key(key)
        if sentence:
            self._show_key()  # the one in force
            self._key_row.say_trouble(sentence)
        else:
            self._give_key(key)

    def _trouble_of_key(self, key: str) -> str:
        trouble = trouble_with(key, Keyed("", "", ""))
        if trouble:
            return trouble
        words = preset_keys.shown(key)
        if key in self._taken:
            return f"{words} is the key of {self._taken[key]}."
        for row, preset in enumerate(self._model.items()):
            if row != self._row() and preset.key and preset_keys.normal(preset.key) == key:
                return f"{words} is the key of the preset {preset.name}."
        return ""

    def _give_key(self, key: str | None) -> None:
        row = self._row()
        preset = self._model.item(row)
        if preset is not None and preset.key != key:
            self._model.change(row, preset.model_copy(update={"key": key}))
            self._show_key()
            self.changed.emit()

    # Sharing

    def _give(self) -> Shared:
        return Shared(presets=self._model.items())

    def _take(self, shared: Shared, file: str) -> str:
        """Add the presets of a file that are not here yet and whose filters are filters."""
        if not shared.presets:
            other = " It holds highlight rules; their page can import them." if shared.highlights else ""
            raise UnreadableShareError(f"{file} holds no presets.{other}")
        fresh = not_yet_among(self._model.items(), shared.presets)
        wrong: list[str] = []
        own = {preset_keys.normal(preset.key) for preset in self._model.items() if preset.key}
        first = self._model.rowCount()
        for preset in fresh:
            trouble = _trouble_of(preset.filter)
            if trouble:
                wrong.append(f"{preset.name} ({trouble.rstrip('.')})")
                continue
            key = preset_keys.normal(preset.key) if preset.key else ""
            usable = (
                bool(key) and key not in own and key not in self._taken and not trouble_with(key, Keyed("", "", ""))
            )
            own.add(key)
            self._model.add(preset.model_copy(update={"key": key if usable else None}))
        added = self._model.rowCount() - first
        if added:
            self._select(first)
            self.changed.emit()
        return outcome(added, len(shared.presets) - len(fresh), wrong, "preset", file)

    def _on_add_clicked(self) -> None:
        row = self._model.add(Preset(name=NEW_NAME, filter=""))
        self._select(row)
        self._name.setFocus()
        self._name.selectAll()
        self.changed.emit()

    def _on_remove_clicked(self) -> None:
        row = self._row()
        if row >= 0:
            self._model.remove(row)
            self._select(row)
            self.changed.emit()

    def _move(self, step: int) -> None:
        self._move_to(self._row(), self._row() + step)

    def _move_to(self, row: int, target: int) -> None:
        target = self._model.move(row, target - row)
        if target != row:
            self._select(target)
            self.changed.emit()


def _trouble_of(text: str) -> str:
    try:
        compile_filter(text, selected_context="context")
    except FilterError as error:
        return str(error)
    return ""
