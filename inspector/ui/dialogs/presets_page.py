"""Settings > General > Presets: ordered list, name, filter and key of the selected preset, import and export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.present.rows import AUTO, EMPTY, TERTIARY, Cell, Column, Layout, Row, Text
from inspector.present.wire_text import safe_line
from inspector.settings import Preset
from inspector.settings.sharing import SharedPresets
from inspector.ui.dialogs.key_validation import trouble_with
from inspector.ui.dialogs.named_filters_page import NamedFiltersPage, Words
from inspector.ui.input import preset_keys
from inspector.ui.input.keys import Keyed
from inspector.ui.input.preset_keys import keys_in_settings, shown
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.key_field import KeyField

LAYOUT = Layout(
    ((Column(width=140, gap=8), Column(gap=12), Column(width=AUTO, right=True)),), height="control", left=12, right=12
)  # fmt: skip
"""Name, filter and key."""


def filter_cell(text: str, ink: str, without: str) -> Cell:
    """Returns a filter, or words for an empty one."""
    return (Text(safe_line(text), "mono-row", ink) if text else Text(without, ink=ink),)


NEW_NAME = "New preset"
KEY_HELP = "Applies the preset from anywhere in the window."
PLACE_HELP = "Set by its place in the bar, which depends on the log. Press another key to set a fixed one."
_WORDS = Words(
    "presets",
    "Presets",
    "preset",
    "A preset is a named filter. $context is the selected context.",
    "An empty filter shows all messages.",
    "Enter a name.",
)


class PresetsPage(NamedFiltersPage[Preset]):
    """Edits a copy of the presets; after `changed`, `items` has the new ones."""

    layout_of_rows = LAYOUT

    def __init__(
        self,
        theme_controller: ThemeController,
        presets: Sequence[Preset],
        parent: QWidget | None = None,
        *,
        taken: Mapping[str, str] | None = None,
    ) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            presets: the shown presets; not changed.
            parent: the owner.
            taken: titles of actions by their key as `preset_keys.normal` writes it; presets cannot use these keys.
        """
        super().__init__(theme_controller, presets, _WORDS, parent)
        self._taken = dict(taken or {})
        self.build()

    @override
    def new_item(self) -> Preset:
        return Preset(name=NEW_NAME, filter="")

    @override
    def item_spec(self, key: int, item: Preset, row: int) -> Row:
        name, pressed = safe_line(item.name), shown(self._key_of(row))
        cells = (
            (Text(name),), filter_cell(item.filter, TERTIARY, "all messages"),
            (Text(pressed, "small", TERTIARY, "never"),) if pressed else EMPTY,
        )  # fmt: skip
        words = f"{name}: {safe_line(item.filter) or 'all messages'}"
        return Row(key, (cells,), item.name, spoken=f"{words}, {pressed}" if pressed else words)

    def _key_of(self, row: int) -> str:
        """Returns the key of a row's preset, or ""."""
        return keys_in_settings(self.items(), self._taken)[row]

    @override
    def add_fields(self, form: Form) -> None:
        self._key_line = QWidget(self)
        row = QHBoxLayout(self._key_line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self._key = KeyField(name="presetsKey", label="Key", parent=self._key_line)
        self._key.pressed.connect(self._on_key_pressed)
        row.addWidget(self._key, 1)
        self._no_key = IconButton(
            self._themes, "clear", "Remove the key", name="presetsKeyClear", variant="small", parent=self._key_line
        )
        self._no_key.clicked.connect(lambda: self._set_key(""))
        row.addWidget(self._no_key)
        self._by_place = IconButton(
            self._themes, "refresh", "Use the key of its place", name="presetsKeyByPlace", variant="small",
            parent=self._key_line,
        )  # fmt: skip
        self._by_place.clicked.connect(lambda: self._set_key(None))
        row.addWidget(self._by_place)
        self._key_row = FieldColumn(self._key_line, name="presetsKeyHelp", help_text=KEY_HELP, parent=self)
        form.add_field("Key", self._key_row, self._key)

    @override
    def show_fields(self, item: Preset | None) -> None:
        self._show_key()

    @override
    def edited(self, item: Preset, name: str, text: str) -> Preset:
        return Preset(name=name, filter=text, key=item.key)

    # Keys

    def set_taken(self, taken: Mapping[str, str]) -> None:
        """Replaces the keys that presets cannot use."""
        self._taken.clear()
        self._taken.update(taken)
        self._show_key()

    def _show_key(self) -> None:
        """Shows the key of the selected preset and its origin."""
        row = self._row()
        preset = self._item(row)
        self._key.show_key(self._key_of(row) if preset else "")
        self._key_line.setEnabled(preset is not None)
        self._no_key.setEnabled(preset is not None and bool(self._key_of(row)))
        by_place = preset is not None and preset.key is None
        self._by_place.setEnabled(preset is not None and not by_place and row < preset_keys.BY_PLACE)
        self._key_row.say_trouble("")
        self._key_row.say_help(PLACE_HELP if by_place and row < preset_keys.BY_PLACE else KEY_HELP)

    def _on_key_pressed(self, key: str) -> None:
        key = preset_keys.normal(key)
        sentence = self._key_error(key)
        if sentence:
            self._show_key()  # the current key
            self._key_row.say_trouble(sentence)
        else:
            self._set_key(key)

    def _key_error(self, key: str) -> str:
        trouble = trouble_with(key, Keyed("", "", ""))
        if trouble:
            return trouble
        words = preset_keys.shown(key)
        if key in self._taken:
            return f"{words} is the key of {self._taken[key]}."
        for row, preset in enumerate(self.items()):
            if row != self._row() and preset.key and preset_keys.normal(preset.key) == key:
                return f"{words} is the key of the preset {preset.name}."
        return ""

    def _set_key(self, key: str | None) -> None:
        row = self._row()
        preset = self._item(row)
        if preset is not None and preset.key != key:
            self.replace_item(row, preset.model_copy(update={"key": key}))
            self._show_key()

    # Sharing

    @override
    def given(self) -> SharedPresets:
        return SharedPresets(presets=self.items())

    @override
    def found_in(self, shared: SharedPresets) -> tuple[Sequence[Preset], str]:
        return (
            shared.presets,
            "It has highlight rules: import them on the Highlight rules page." if shared.highlights else "",
        )

    @override
    def fitted(self, items: Sequence[Preset]) -> Iterator[Preset]:
        """Keeps only keys that are free."""
        own = {preset_keys.normal(preset.key) for preset in self.items() if preset.key}
        for preset in items:
            key = preset_keys.normal(preset.key) if preset.key else ""
            free = bool(key) and key not in own and key not in self._taken and not trouble_with(key, Keyed("", "", ""))
            own.add(key)
            yield preset.model_copy(update={"key": key if free else None})
