"""The presets of one window: kept in the settings, chosen by chip, key and menu, saved, edited, moved, removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.filters import FilterError, compile_filter
from inspector.present import formats
from inspector.present.log_topics import LogTopics
from inspector.present.wire_text import plain
from inspector.settings import Preset, Topic, topics_of
from inspector.ui.input.keys import Keyed, Keys
from inspector.ui.input.preset_keys import keys_of
from inspector.ui.widgets.preset_bar import PresetBar
from inspector.ui.widgets.preset_chip import CONTEXT_VARIABLE

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.name_card import NameCard
    from inspector.ui.widgets.notice import NoticeStack

_NAME_LENGTH = 24
_GROUP = "Presets"
PROBLEMS = "finding.severity >= warning"
"""The preset that carries a count: its own filter, whatever it is called."""


class Presets(QObject):
    """The presets of one window; the settings behind them are everybody's.

    Signals:
        chosen(str): a preset's filter shall be applied.
        edit_requested(int): a preset shall be edited; its place in the settings.
        saved_changed(bool): whether the filter in force is one of them.

    Attributes:
        bar: the chips.
        actions: what applies each preset, in the order of the settings; those with a filter that is none are left out.
    """

    chosen = Signal(str)
    edit_requested = Signal(int)
    saved_changed = Signal(bool)

    def __init__(
        self, theme: ThemeController, owner: SettingsOwner, keys: Keys, notices: NoticeStack,
        name_card: Callable[[], NameCard], parent: QWidget,
    ) -> None:  # fmt: skip
        """Show the presets there are.

        Args:
            theme: gives the look.
            owner: has the presets.
            keys: of the window; each preset can have one.
            notices: where it is said why nothing is kept.
            name_card: asks for names.
            parent: the window: keys count in it, and the card lies on it.
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
        self._topics: LogTopics | None = None
        self.actions: list[QAction] = []
        self.bar = PresetBar(theme, (), parent)
        self.bar.chosen.connect(lambda preset: self.chosen.emit(preset.filter.strip()))
        self.bar.add_requested.connect(self.ask_to_save_active)
        self.bar.removed.connect(self._remove)
        self.bar.rename_requested.connect(self._ask_for_name)
        self.bar.edit_requested.connect(self._on_edit_requested)
        self.bar.moved.connect(self._move)
        owner.settings_changes.presets_changed.connect(self._on_presets_changed)
        self.show_presets()

    @property
    def _presets(self) -> list[Preset]:
        return self._owner.settings.presets

    def _usable(self) -> list[Preset]:
        """The presets whose fields exist by now and that fit the document, its most frequent traffic first."""
        usable = [preset for preset in self._presets if _compiles(preset.filter)]
        order = self._topics.order if self._topics is not None else ()
        if not order:
            return usable if self._topics is None else [preset for preset in usable if not topics_of(preset)]
        return in_order(usable, order)

    # Showing

    def attach(self, panes: Panes) -> None:
        """Offer the presets that fit the document of these panes, as it grows."""
        topics, document = LogTopics(), panes.document
        topics.update(document)
        self._topics = topics
        panes.bridge.settled.connect(lambda _changes: self._follow_topics(topics, document))
        self._on_presets_changed()

    def _follow_topics(self, topics: LogTopics, document: CaptureDocument) -> None:
        if topics.update(document) and topics is self._topics:
            self._on_presets_changed()

    def show_active(self, text: str, *, scoped: bool) -> None:
        """Mark the preset of the filter in force, and whether it can still be saved as one.

        Args:
            text: the filter.
            scoped: a part of the tree is chosen as well, so that no filter shows everything.
        """
        self._text, self._scoped = text, scoped
        self.bar.set_active_filter(text if text.strip() or not scoped else None)
        saved = self.bar.holds(text)
        self.saved_changed.emit(saved)
        self.bar.set_can_add(bool(text.strip()) and not saved)

    def show_problems(self, messages: int, words: str) -> None:
        """Say how many messages the preset Problems shows, and what was found, by severity."""
        self.bar.set_count(PROBLEMS, messages)
        note = f"{formats.count_of(messages, 'message')} with a problem: {words}" if messages else ""
        self.bar.set_note(PROBLEMS, note)

    def set_context_selected(self, selected: bool, *, document: bool) -> None:
        """Say whether there is a document to choose from, and a context that `$context` can stand for."""
        self._can_choose, self._context_selected = document, selected
        self.bar.set_context_selected(selected)
        self._enable()

    def fill_menu(self, menu: QMenu, before: QAction) -> None:
        """Put a menu of the presets into another one."""
        self._menu = QMenu("&Presets", menu)
        self._menu.setObjectName("view.presetMenu")
        self._menu.setAccessibleName("Presets")
        menu.insertMenu(before, self._menu)
        self._menu.addActions(self.actions)

    def show_presets(self) -> None:
        """Show the presets as the settings have them now: chips, menu entries, keys."""
        self._take_keys_over()
        presets = self._usable()
        if presets != self._shown or not self.actions:
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
        for name, preset, key in zip(_ids(presets), presets, keys_of(presets), strict=True):
            action = QAction(plain(preset.name).replace("&", "&&"), self)
            action.setObjectName(name)
            action.triggered.connect(_with(self.chosen.emit, preset.filter))
            self._parent.addAction(action)
            self.actions.append(action)
            named.append((action, Keyed(name, _GROUP, plain(preset.name), (key,) if key else ())))
        keys.take_all(named)
        if self._menu is not None:
            self._menu.clear()
            self._menu.addActions(self.actions)

    def _take_keys_over(self) -> None:
        """Keys that the page of all keys gave to presets go with these: they are kept, moved and shared with them."""
        chosen = self._owner.settings.keys
        for name, preset in zip(_ids(self._usable()), self._usable(), strict=True):
            if name in chosen:
                preset.key = next(iter(chosen.pop(name)), "")

    def _enable(self) -> None:
        for action, preset in zip(self.actions, self._shown, strict=True):
            waits = CONTEXT_VARIABLE in preset.filter and not self._context_selected
            action.setEnabled(self._can_choose and not waits)

    # What the user does

    def ask_to_save_active(self) -> None:
        """Keep the filter in force as a preset, under a name that is asked for."""
        self.ask_to_save(self._text)

    def ask_to_save(self, text: str) -> None:
        """Keep a filter as a preset, under a name that is asked for where the preset will stand."""
        known = next((preset for preset in self._usable() if preset.filter.strip() == text.strip()), None)
        if not text.strip():
            self._notices.say("There is no filter to keep as a preset.")
        elif known is not None:
            self._notices.say(f"This filter is a preset already: {plain(known.name)}.")
        else:
            self._name_card().ask(
                "Name of the preset", text, formats.shortened(text, _NAME_LENGTH), self._add_place(),
                lambda name: self.save(text, name), self._objection,
            )  # fmt: skip

    def _objection(self, name: str, renamed: Preset | None = None) -> str:
        others = (preset for preset in self._presets if preset is not renamed)
        known = next((preset for preset in others if plain(preset.name).casefold() == name.casefold()), None)
        return f"There is a preset {plain(known.name)} already. Give this one another name." if known else ""

    def _add_place(self) -> QRect:
        """The right end of the bar, where a preset is added."""
        bar = self.bar
        return QRect(bar.mapTo(self._parent, bar.rect().topRight()), QSize(1, bar.height()))

    def save(self, text: str, name: str = "") -> None:
        """Keep a filter as a preset, named after itself where it has no name."""
        if text.strip() and all(preset.filter != text for preset in self._usable()):
            self._presets.append(Preset(name=name or formats.shortened(text, _NAME_LENGTH), filter=text))
            self.refresh()

    def _ask_for_name(self, preset: Preset) -> None:
        self._name_card().ask(
            "Rename the preset", preset.filter, preset.name, self._add_place(),
            lambda name: self._rename(preset, name), lambda name: self._objection(name, preset),
        )  # fmt: skip

    def _rename(self, preset: Preset, name: str) -> None:
        if name.strip():
            preset.name = name.strip()
            self.refresh()

    def _remove(self, preset: Preset) -> None:
        place = self._place_of(preset)
        if place is not None:
            del self._presets[place]
            self.refresh()

    def _move(self, preset: Preset, place: int) -> None:
        """Move a preset to a place among those of the bar."""
        now, others = self._place_of(preset), [one for one in self._usable() if one is not preset]
        if now is None:
            return
        moved = self._presets.pop(now)
        follower = self._place_of(others[place]) if place < len(others) else None
        self._presets.insert(len(self._presets) if follower is None else follower, moved)
        self.refresh()
        self.bar.focus_preset(moved)

    def _on_edit_requested(self, preset: Preset) -> None:
        place = self._place_of(preset)
        if place is not None:
            self.edit_requested.emit(place)

    def _place_of(self, preset: Preset) -> int | None:
        # By identity: two presets may say the same.
        return next((place for place, one in enumerate(self._presets) if one is preset), None)

    def refresh(self) -> None:
        """Presets were added, removed, moved or edited: show them in every window, and store them."""
        self._owner.settings_changes.presets_changed.emit()
        self._owner.save_settings()

    def _on_presets_changed(self) -> None:
        self.show_presets()
        self.show_active(self._text, scoped=self._scoped)


def in_order(presets: Sequence[Preset], topics: Sequence[Topic]) -> list[Preset]:
    """Returns the presets that fit some topics; of several topics those of the first one come first.

    Presets for all logs keep their place before or behind the rest.
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


def _ids(presets: list[Preset]) -> list[str]:
    """Names of their actions: they stay when presets are moved."""
    found: list[str] = []
    for preset in presets:
        name, number = f"preset.{preset.name}", 2
        while name in found:
            name, number = f"preset.{preset.name} {number}", number + 1
        found.append(name)
    return found


def _with(act: Callable[[str], object], text: str) -> Callable[..., object]:
    return lambda *_checked: act(text)


@lru_cache(maxsize=256)  # asked for each preset three times while a window is made
def _compiles(text: str) -> bool:
    try:
        compile_filter(text, selected_context="context")
    except FilterError:
        return False
    return True
