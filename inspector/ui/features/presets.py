"""The filter presets of a window: chips, keys and menu; save, edit, move and remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.filters import check_text
from inspector.engine.requests.scopes import TopicsOfLog
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.settings import Preset, Topic, topics_of
from inspector.ui import intervals
from inspector.ui.input.keys import Keyed, Keys
from inspector.ui.input.preset_keys import keys_of
from inspector.ui.widgets.latest_answer import LatestAnswer
from inspector.ui.widgets.preset_bar import PresetBar
from inspector.ui.widgets.preset_chip import CONTEXT_VARIABLE

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.name_card import NameCard
    from inspector.ui.widgets.notice import NoticeStack

_NAME_LENGTH = 24
_KEY_GROUP = "Presets"
PROBLEMS = "finding.severity >= warning"
"""Filter of the preset with a count, under any name."""


class Presets(QObject):
    """The presets of one window. All windows share the settings.

    Signals:
        chosen(str): apply the filter of a preset.
        edit_requested(int): edit the preset at this index of the settings.
        saved_changed(bool): True if the active filter is a preset.

    Attributes:
        bar: the chips.
        actions: the actions of the presets in the order of the settings, without invalid filters.
    """

    chosen = Signal(str)
    edit_requested = Signal(int)
    saved_changed = Signal(bool)

    def __init__(
        self, theme: ThemeController, owner: SettingsOwner, keys: Keys, notices: NoticeStack,
        name_card: Callable[[], NameCard], parent: QWidget,
    ) -> None:  # fmt: skip
        """Shows the presets.

        Args:
            theme: gives the look.
            owner: has the presets.
            keys: the window's shortcuts; each preset can have one.
            notices: shows why a filter is not saved.
            name_card: returns the card that asks for names.
            parent: the window, scope of the shortcuts and parent of the card.
        """
        super().__init__(parent)
        self._owner = owner
        self._keys = keys
        self._notices = notices
        self._name_card = name_card
        self._parent = parent
        self._text = ""
        self._scoped = False
        self._menu: QMenu | None = None
        self._can_choose = False
        self._context_selected = False
        self._shown: list[Preset] = []
        self._topics: tuple[Topic, ...] | None = None
        self._latest: LatestAnswer[tuple[Topic, ...]] | None = None
        self.actions: list[QAction] = []
        self.bar = PresetBar(theme, (), parent)
        self.bar.chosen.connect(lambda preset: self.chosen.emit(preset.filter.strip()))
        self.bar.add_requested.connect(self.ask_to_save_active)
        self.bar.removed.connect(self._remove)
        self.bar.rename_requested.connect(self._ask_for_name)
        self.bar.edit_requested.connect(self._on_edit_requested)
        self.bar.moved.connect(self._move)
        owner.settings_changes.presets_changed.connect(self._on_presets_changed)

    @property
    def _presets(self) -> list[Preset]:
        return self._owner.settings.presets

    def _usable_presets(self) -> list[Preset]:
        """Returns the presets that compile and fit the document, most frequent traffic first."""
        usable = [preset for preset in self._presets if check_text(preset.filter).filter is not None]
        if not self._topics:
            return usable if self._topics is None else [preset for preset in usable if not topics_of(preset)]
        return in_order(usable, self._topics)

    # Showing

    def attach(self, panes: Panes) -> None:
        """Offers the presets that fit the growing document of these panes."""
        if self._latest is not None:
            self._latest.stop()
        self._latest = LatestAnswer(
            self, panes.client, TopicsOfLog, self._show_topics, every_ms=lambda: intervals.LISTS_MS
        )
        self._topics = ()
        self._latest.request_now()
        if not self._topics:  # an answer at once has shown them
            self._on_presets_changed()

    def _show_topics(self, topics: tuple[Topic, ...]) -> None:
        if topics != self._topics:
            self._topics = topics
            self._on_presets_changed()

    def show_active(self, text: str, *, scoped: bool) -> None:
        """Marks the preset of the active filter, and enables saving it if it is new.

        Args:
            text: the filter.
            scoped: True if a part of the tree is also selected, so that no filter shows all messages.
        """
        self._text, self._scoped = text, scoped
        self.bar.set_active_filter(text if text.strip() or not scoped else None)
        saved = self.bar.contains_filter(text)
        self.saved_changed.emit(saved)
        self.bar.set_can_add(bool(text.strip()) and not saved)

    def show_problems(self, messages: int, words: str) -> None:
        """Shows the count of problems and their severities on the preset Problems."""
        self.bar.set_count(PROBLEMS, messages)
        note = f"{formats.count_of(messages, 'message')} with a problem: {words}" if messages else ""
        self.bar.set_note(PROBLEMS, note)

    def set_context_selected(self, selected: bool, *, document: bool) -> None:
        """Stores if a document is shown and if `$context` has a value."""
        self._can_choose, self._context_selected = document, selected
        self.bar.set_context_selected(selected)
        self._enable()

    def fill_menu(self, menu: QMenu, before: QAction) -> None:
        """Adds a submenu of the presets to a menu."""
        self._menu = QMenu("&Presets", menu)
        self._menu.setObjectName("view.presetMenu")
        self._menu.setAccessibleName("Presets")
        menu.insertMenu(before, self._menu)
        self._menu.addActions(self.actions)

    def show_presets(self) -> None:
        """Updates chips, menu entries and keys from the settings."""
        self._move_keys_to_presets()
        presets = self._usable_presets()
        # actions are rebuilt only for other presets, because their keys are registered anew
        if presets != self._shown or not self.actions:
            # Copies, since presets are edited in place.
            self._shown = [preset.model_copy() for preset in presets]
            self._make_actions(presets)
        self.bar.set_presets(presets, [self._keys.words(action.objectName()) for action in self.actions])
        self._enable()

    def _make_actions(self, presets: list[Preset]) -> None:
        keys = self._keys
        for action in self.actions:
            keys.release(action.objectName())
            action.deleteLater()
        self.actions = []
        named: list[tuple[QAction, Keyed]] = []
        for name, preset, key in zip(_action_ids(presets), presets, keys_of(presets), strict=True):
            # Qt reads a single & as a mnemonic.
            action = QAction(safe_line(preset.name).replace("&", "&&"), self)
            action.setObjectName(name)
            action.triggered.connect(_bind_text(self.chosen.emit, preset.filter))
            self._parent.addAction(action)
            self.actions.append(action)
            named.append((action, Keyed(name, _KEY_GROUP, safe_line(preset.name), (key,) if key else ())))
        keys.take_all(named)
        if self._menu is not None:
            self._menu.clear()
            self._menu.addActions(self.actions)

    def _move_keys_to_presets(self) -> None:
        """Moves keys from the settings of keys to their presets, so that they are moved and shared with them."""
        chosen = self._owner.settings.keys
        for name, preset in zip(_action_ids(self._usable_presets()), self._usable_presets(), strict=True):
            if name in chosen:
                preset.key = next(iter(chosen.pop(name)), "")

    def _enable(self) -> None:
        for action, preset in zip(self.actions, self._shown, strict=True):
            waits = CONTEXT_VARIABLE in preset.filter and not self._context_selected
            action.setEnabled(self._can_choose and not waits)

    # User actions

    def ask_to_save_active(self) -> None:
        """Asks for a name and saves the active filter as a preset."""
        self.ask_to_save(self._text)

    def ask_to_save(self, text: str) -> None:
        """Asks for a name at the place of the new preset, and saves a filter."""
        known = next((preset for preset in self._usable_presets() if preset.filter.strip() == text.strip()), None)
        if not text.strip():
            self._notices.show_sentence("There is no filter to save as a preset.")
        elif known is not None:
            self._notices.show_sentence(f"This filter is already saved as the preset {safe_line(known.name)}.")
        else:
            self._name_card().ask_name(
                "Preset name", text, formats.truncate(text, _NAME_LENGTH), self._add_rect(),
                lambda name: self.save(text, name), self._name_error,
            )  # fmt: skip

    def _name_error(self, name: str, renamed: Preset | None = None) -> str:
        others = (preset for preset in self._presets if preset is not renamed)
        known = next((preset for preset in others if safe_line(preset.name).casefold() == name.casefold()), None)
        return f"The preset {safe_line(known.name)} already exists. Choose another name." if known else ""

    def _add_rect(self) -> QRect:
        """Returns the right end of the bar, where a preset is added."""
        bar = self.bar
        return QRect(bar.mapTo(self._parent, bar.rect().topRight()), QSize(1, bar.height()))

    def save(self, text: str, name: str = "") -> None:
        """Saves a filter as a preset, with a shortened filter as default name."""
        if text.strip() and all(preset.filter != text for preset in self._usable_presets()):
            self._presets.append(Preset(name=name or formats.truncate(text, _NAME_LENGTH), filter=text))
            self.refresh()

    def _ask_for_name(self, preset: Preset) -> None:
        self._name_card().ask_name(
            "Rename preset", preset.filter, preset.name, self._add_rect(),
            lambda name: self._rename(preset, name), lambda name: self._name_error(name, preset),
        )  # fmt: skip

    def _rename(self, preset: Preset, name: str) -> None:
        if name.strip():
            preset.name = name.strip()
            self.refresh()

    def _remove(self, preset: Preset) -> None:
        place = self._index_of(preset)
        if place is not None:
            del self._presets[place]
            self.refresh()

    def _move(self, preset: Preset, place: int) -> None:
        """Moves a preset to an index among the shown ones."""
        now, others = self._index_of(preset), [one for one in self._usable_presets() if one is not preset]
        if now is None:
            return
        moved = self._presets.pop(now)
        # the settings also have presets that do not fit this log, so indices differ
        follower = self._index_of(others[place]) if place < len(others) else None
        self._presets.insert(len(self._presets) if follower is None else follower, moved)
        self.refresh()
        self.bar.focus_preset(moved)

    def _on_edit_requested(self, preset: Preset) -> None:
        place = self._index_of(preset)
        if place is not None:
            self.edit_requested.emit(place)

    def _index_of(self, preset: Preset) -> int | None:
        # by identity, since two presets may be equal
        return next((place for place, one in enumerate(self._presets) if one is preset), None)

    def refresh(self) -> None:
        """Shows the changed presets in every window and saves them."""
        self._owner.settings_changes.presets_changed.emit()
        self._owner.save_settings()

    def _on_presets_changed(self) -> None:
        self.show_presets()
        self.show_active(self._text, scoped=self._scoped)


def in_order(presets: Sequence[Preset], topics: Sequence[Topic]) -> list[Preset]:
    """Returns the presets that fit some topics, in the order of the topics.

    Presets for all logs keep their place before or after the others.
    """
    ranks = {topic: rank for rank, topic in enumerate(topics)}
    fitting: list[tuple[int, Preset]] = []
    for preset in presets:
        of = topics_of(preset)
        if not of or any(topic in ranks for topic in of):
            fitting.append((min((ranks[topic] for topic in of if topic in ranks), default=-1), preset))
    places = [place for place, (rank, _) in enumerate(fitting) if rank >= 0]
    ranked = sorted((fitting[place] for place in places), key=lambda one: one[0])
    for place, one in zip(places, ranked, strict=True):
        fitting[place] = one
    return [preset for _, preset in fitting]


def _action_ids(presets: list[Preset]) -> list[str]:
    """Returns the ids of their actions, which do not change when presets are moved."""
    found: list[str] = []
    for preset in presets:
        name, number = f"preset.{preset.name}", 2
        while name in found:
            name, number = f"preset.{preset.name} {number}", number + 1
        found.append(name)
    return found


def _bind_text(act: Callable[[str], object], text: str) -> Callable[..., object]:
    return lambda *_checked: act(text)
