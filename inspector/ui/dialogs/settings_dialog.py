"""Settings dialog: categories at the left, a page at the right; changes apply at once, and can be restored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from inspector.settings import Contexts, Display, Settings, Start, default_highlights, default_presets
from inspector.ui.dialogs.base_dialog import Dialog
from inspector.ui.dialogs.contexts_page import ContextsPage
from inspector.ui.dialogs.display_page import DisplayPage
from inspector.ui.dialogs.highlight_page import HighlightPage
from inspector.ui.dialogs.keys_page import KeysPage
from inspector.ui.dialogs.navigation import Navigation
from inspector.ui.dialogs.presets_page import PresetsPage
from inspector.ui.dialogs.start_settings import StartSettingsPage
from inspector.ui.dialogs.tool_names_page import ToolNamesPage
from inspector.ui.input.keys import Keyed, keys_in_force
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.scrolled_part import ScrolledPart

PAGES = (
    ("display", "Display"), ("start", "Startup"), ("presets", "Presets"), ("highlights", "Highlight rules"),
    ("contexts", "Contexts"), ("tools", "Tool names"),
)  # fmt: skip
"""Ids and titles below General, in their order. Further pages and the keys follow."""
_KEYS = ("keys", "Keys")


class SettingsPage(QWidget):
    """A page provided by the caller. It edits the settings object in place.

    Signals:
        changed(): the user made a change.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None, *, name: str, title: str) -> None:
        """Creates an empty page.

        Args:
            settings: edited in place.
            parent: the owner.
            name: object name.
            title: name for screen readers.
        """
        super().__init__(parent)
        self._settings = settings
        self.setObjectName(name)
        self.setAccessibleName(title)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def restore(self) -> None:
        """Restores the defaults without a signal."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FurtherPage:
    """Declares a page that another module creates."""

    id: str
    title: str
    make: Callable[[ThemeController, Settings, QWidget], SettingsPage]


class SettingsDialog(Dialog):
    """Edits a settings object in place.

    Changes only the values on its pages, so that values saved meanwhile, such as recent files, are not reverted.

    Signals:
        changed(Settings): the settings have changed; the same object.
    """

    changed = Signal(object)

    def __init__(
        self,
        theme_controller: ThemeController,
        settings: Settings,
        parent: QWidget | None = None,
        *,
        keyed: Sequence[Keyed] = (),
        further: Sequence[FurtherPage] = (),
    ) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: owner; the dialog is modal to its window.
            keyed: the actions with keys.
            further: pages of other modules.
        """
        super().__init__(theme_controller, name="settingsDialog", title="Settings", parent=parent)
        self._settings = settings
        self._keyed = keyed
        self._listed = (*PAGES, *((page.id, page.title) for page in further), _KEYS)
        self._build(further)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build(self, further: Sequence[FurtherPage]) -> None:
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self._navigation = Navigation(self._themes, "General", self._listed, self)
        self._navigation.chosen.connect(self.show_page)
        whole.addWidget(self._navigation)
        line = QFrame(self)
        line.setObjectName("settingsDivider")
        line.setProperty("variant", "hair-v")
        whole.addWidget(line)
        self._column = QVBoxLayout()
        whole.addLayout(self._column, 1)
        self._title = TextLabel(variant="title", name="settingsTitle", parent=self)
        self._column.addWidget(self._title)
        self._display = DisplayPage(self._themes, self._settings.display, self)
        self._display.changed.connect(self._on_display_changed)
        self._start = StartSettingsPage(self._themes, self._settings.start, self)
        self._start.changed.connect(self._on_start_changed)
        self._presets = PresetsPage(self._themes, self._settings.presets, self, taken=self._taken())
        self._presets.changed.connect(self._on_presets_changed)
        self._highlights = HighlightPage(self._themes, self._settings.highlights, self)
        self._highlights.changed.connect(self._on_highlights_changed)
        self._contexts = ContextsPage(self._themes, self._settings.contexts, self)
        self._contexts.changed.connect(self._on_contexts_changed)
        self._tools = ToolNamesPage(self._themes, self._settings.tool_aliases, self)
        self._tools.changed.connect(self._on_tools_changed)
        self._keys = KeysPage(self._themes, self._keyed, self._settings.keys, self)
        self._keys.changed.connect(self._on_keys_changed)
        self._pages: list[QWidget] = [
            self._display, self._start, self._presets, self._highlights, self._contexts, self._tools,
        ]  # fmt: skip
        for declared in further:
            page = declared.make(self._themes, self._settings, self)
            page.changed.connect(self._on_further_changed)
            self._pages.append(page)
        self._pages.append(self._keys)
        self._scrolled = ScrolledPart(name="settingsScrolled", label="Settings", parent=self)
        # No stack: it is as high as its highest page, and short pages would have a scroll bar.
        for page in self._pages:
            page.hide()
            self._scrolled.lines.addWidget(page)
        self._current = self._pages[0]
        self._column.addWidget(self._scrolled, 1)
        self._column.addWidget(HairLine("settingsLine", self))
        self._column.addLayout(self._build_buttons())
        self.show_page("display")

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(18)
        restore = WordButton("Restore defaults", name="settingsRestore", parent=self)
        restore.clicked.connect(self._on_restore_clicked)
        row.addWidget(restore)
        row.addStretch(1)
        row.addWidget(TextLabel("Changes apply at once", variant="hint", name="settingsHint", parent=self))
        close = WordButton("Close", name="settingsClose", parent=self, default=True)
        close.clicked.connect(self.accept)
        row.addWidget(close)
        return row

    def enter_page(self, page: str) -> None:
        """Shows and focuses the page with this id."""
        self.show_page(page)
        self._current.setFocus()

    def show_page(self, page: str) -> None:
        """Shows the page with this id.

        Raises:
            ValueError: there is no such page.
        """
        place = [known for known, _ in self._listed].index(page)
        self._current.hide()
        self._current = self._pages[place]
        self._current.show()
        self._title.setText(self._listed[place][1])
        self._navigation.set_current(page)

    def _on_display_changed(self, display: Display) -> None:
        self._settings.display = display
        self.changed.emit(self._settings)

    def _on_start_changed(self, start: Start) -> None:
        self._settings.start = start
        self.changed.emit(self._settings)

    def _on_presets_changed(self) -> None:
        self._settings.presets = self._presets.items()
        self.changed.emit(self._settings)

    def edit_preset(self, place: int) -> None:
        """Selects a preset for editing.

        Args:
            place: its index in the settings.
        """
        self.show_page("presets")
        self._presets.select(place)

    def _taken(self) -> dict[str, str]:
        """Returns the titles of actions by their key; presets cannot use these keys."""
        # presets are excluded, because they are checked against each other
        keyed = [one for one in self._keyed if not one.id.startswith("preset.")]
        titles = {one.id: one.title for one in keyed}
        return {key: titles[name] for name, keys in keys_in_force(keyed, self._settings.keys).items() for key in keys}

    def _on_highlights_changed(self) -> None:
        self._settings.highlights = self._highlights.items()
        self.changed.emit(self._settings)

    def _on_contexts_changed(self, contexts: Contexts) -> None:
        self._settings.contexts = contexts
        self.changed.emit(self._settings)

    def _on_tools_changed(self) -> None:
        self._settings.tool_aliases = self._tools.rules()
        self.changed.emit(self._settings)

    def _on_further_changed(self) -> None:
        self.changed.emit(self._settings)

    def _on_keys_changed(self) -> None:
        self._settings.keys = self._keys.chosen()
        self.changed.emit(self._settings)
        # A preset stores its own key, which the page of keys may have changed.
        self._presets.set_taken(self._taken())
        if self._presets.items() != self._settings.presets:
            self._presets.show_items(self._settings.presets)

    def show_keyed(self, keyed: Sequence[Keyed]) -> None:
        """Updates the actions with keys without a signal, since presets and their keys change."""
        if list(keyed) != list(self._keyed):
            self._keyed = keyed
            self._keys.show_keyed(keyed, self._settings.keys)
            self._presets.set_taken(self._taken())

    def _on_restore_clicked(self) -> None:
        page = self._current
        if isinstance(page, SettingsPage):
            page.restore()
        elif page is self._keys:
            self._settings.keys = {}
            self._keys.show_chosen({})
        elif page is self._contexts:
            self._settings.contexts = Contexts()
            self._contexts.show_values(self._settings.contexts)
        elif page is self._tools:
            self._settings.tool_aliases = []
            self._tools.show_rules([])
        elif page is self._start:
            self._settings.start = Start()
            self._start.show_values(self._settings.start)
        elif page is self._display:
            self._settings.display = Display()
            self._display.show_values(self._settings.display)
        elif page is self._highlights:
            self._settings.highlights = default_highlights()
            self._highlights.show_items(self._settings.highlights)
        else:
            self._settings.presets = default_presets()
            self._presets.show_items(self._settings.presets)
        self.changed.emit(self._settings)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        side = round(28 * zoom)
        bar = self._scrolled.verticalScrollBar().sizeHint().width()
        least = max(page.minimumSizeHint().width() for page in self._pages) + bar
        self._scrolled.setMinimumWidth(least)
        room = self.most_size().width() - least - 2 * side - 1
        self._navigation.setFixedWidth(min(round(196 * zoom), max(round(120 * zoom), room)))
        self._column.setContentsMargins(side, round(18 * zoom), side, round(16 * zoom))
        self._column.setSpacing(round(10 * zoom))
        self.take_size(820, 600)
