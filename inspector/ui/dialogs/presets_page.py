"""Settings > General > Presets: the list in its order, and name and filter of the selected one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QLineEdit, QListView, QVBoxLayout, QWidget

from inspector.filters import FilterError, compile_filter
from inspector.settings import Preset
from inspector.ui.dialogs.preset_model import PresetDelegate, PresetListModel
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

HELP = "A preset is a named filter. $context in it stands for the selected context."
FILTER_HELP = "Empty shows everything."
NEW_NAME = "New preset"
NO_NAME = "A preset needs a name."


class PresetsPage(QWidget):
    """Edits a copy of the presets. A wrong filter or an empty name is said in place and not taken over.

    Signals:
        changed: the user changed something; ask `presets`.
    """

    changed = Signal()

    def __init__(
        self, theme_controller: ThemeController, presets: Sequence[Preset], parent: QWidget | None = None
    ) -> None:
        """Make the page.

        Args:
            theme_controller: gives the look.
            presets: what it shows; not changed.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("settingsPresets")
        self.setAccessibleName("Presets")
        self._model = PresetListModel(presets, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(TextLabel(HELP, variant="secondary", name="presetsHelp", wrap=True, parent=self))
        column.addWidget(self._build_list(), 1)
        column.addLayout(self._build_buttons())
        column.addLayout(self._build_form())
        self._select(0)

    def _build_list(self) -> QFrame:
        frame = QFrame(self)
        frame.setObjectName("presetsFrame")
        frame.setProperty("variant", "card")
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(1, 4, 1, 4)
        self._list = QListView(frame)
        self._list.setObjectName("presetsList")
        self._list.setAccessibleName("Presets")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setMouseTracking(True)
        self._list.setUniformItemSizes(True)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
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
            ("Up", "ri.arrow-up-line", "Move up"),
            ("Down", "down", "Move down"),
        ):
            made[name] = IconButton(self._themes, icon, words, name=f"presets{name}", variant="small", parent=self)
            row.addWidget(made[name])
        made["Add"].clicked.connect(self._on_add_clicked)
        made["Remove"].clicked.connect(self._on_remove_clicked)
        made["Up"].clicked.connect(lambda: self._move(-1))
        made["Down"].clicked.connect(lambda: self._move(1))
        self._buttons = made
        row.addStretch(1)
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
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        return form

    def _on_theme_changed(self) -> None:
        self._filter.setFont(self._themes.theme.font("mono"))

    # Content

    def presets(self) -> list[Preset]:
        """The presets in their order."""
        return self._model.presets()

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Show other presets; says nothing."""
        self._model.replace(presets)
        self._select(0)

    def _row(self) -> int:
        return self._list.currentIndex().row()

    def _select(self, row: int) -> None:
        self._list.setCurrentIndex(self._model.index(min(row, self._model.rowCount() - 1)))
        self._show_current()

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        row = self._row()
        preset = self._model.preset(row)
        name, text = (preset.name, preset.filter) if preset else ("", "")
        for field, shown in ((self._name, name), (self._filter, text)):
            field.setText(shown)
            field.setCursorPosition(0)
            field.setEnabled(preset is not None)
        self._buttons["Remove"].setEnabled(preset is not None)
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(0 <= row < self._model.rowCount() - 1)
        self._say_trouble()

    def _say_trouble(self) -> bool:
        """Say in place what is wrong; whether anything is."""
        nameless = self._name.isEnabled() and not self._name.text().strip()
        self._name_row.say_trouble(NO_NAME if nameless else "")
        sentence = _trouble_of(self._filter.text())
        self._filter_row.say_trouble(sentence)
        return nameless or bool(sentence)

    # What the user does

    def _on_edited(self) -> None:
        row = self._row()
        if row < 0 or self._say_trouble():
            return
        self._model.change(row, Preset(name=self._name.text().strip(), filter=self._filter.text().strip()))
        self.changed.emit()

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
        row = self._row()
        target = self._model.move(row, step)
        if target != row:
            self._select(target)
            self.changed.emit()


def _trouble_of(text: str) -> str:
    try:
        compile_filter(text, selected_context="context")
    except FilterError as error:
        return str(error)
    return ""
