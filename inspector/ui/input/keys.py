"""Keyboard shortcuts of a window: applies, names and changes them, and shows keys as native text.

Every user action is a `QAction` passed to `Keys.add_action`: the table in actions.py, and dynamic ones such as presets.
The settings then define its keys, the palette finds it, and the lists of keys show it. To add a dynamic action:

    action = QAction(preset.name, window)
    action.setObjectName("preset.1")          # its id: stays the same between starts
    action.triggered.connect(...)
    window.keys.add_action(action, "Presets", ("Alt+1",))
    ...
    window.keys.release("preset.1")           # when it is removed

`Settings.keys` has the keys of actions that differ from their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

Chosen = Mapping[str, Sequence[str]]
"""The user's keys by action id, as in `Settings.keys`."""

KeyWords = Callable[[str], str]
"""Returns the key of an action id in native notation, "" for none: `Keys.words`."""


def with_key(words: str, key: str) -> str:
    """Appends the key of an action to a text: "Next hit (F3)"."""
    return f"{words} ({key})" if key else words


@dataclass(frozen=True, slots=True)
class Keyed:
    """An action that can have keys.

    Attributes:
        id: such as `view.time_start`.
        group: heading in lists, such as a menu's title: "File".
        title: sentence case, without mnemonic and dots.
        defaults: default keys in portable notation ("Ctrl+M"); the first one is shown.
        in_panes: its keys work in the panes only, so that letters and Space may be used.
        words: further search terms for the palette.
    """

    id: str
    group: str
    title: str
    defaults: tuple[str, ...] = ()
    in_panes: bool = False
    words: str = ""


def plain_title(title: str) -> str:
    """Returns an action's title without mnemonic and dots."""
    return title.replace("&&", "\0").replace("&", "").replace("\0", "&").removesuffix("...").removesuffix("…")


# Qt parses a key in 7 µs, and the cache answers in 0.06 µs.
@lru_cache(maxsize=1024)
def normal(key: str) -> str:
    """Returns a key in Qt's portable notation; "" if it is not a key."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def native(keys: Iterable[str]) -> str:
    """Returns keys in this system's notation: "Ctrl+Shift+Z, Ctrl+Y"."""
    return ", ".join(map(_native_key, keys))


# As for `normal`.
@lru_cache(maxsize=1024)
def _native_key(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText).replace("Return", "Enter")


def keys_in_force(known: Sequence[Keyed], chosen: Chosen) -> dict[str, tuple[str, ...]]:
    """Resolves the keys of each action by id, in the order of `known`; no key has two actions.

    A key that the user assigned is removed from actions that have it by default. If the settings assign it twice, the
    first action gets it. Invalid keys are ignored.
    """
    taken: set[str] = set()
    found: dict[str, tuple[str, ...]] = {}
    # Two rounds: keys chosen by the user take precedence over defaults.
    for by_user in (True, False):
        for one in known:
            if (one.id in chosen) is not by_user:
                continue
            keys: list[str] = []
            for key in map(normal, chosen[one.id] if by_user else one.defaults):
                if key and key not in taken:
                    taken.add(key)
                    keys.append(key)
            found[one.id] = tuple(keys)
    return {one.id: found[one.id] for one in known}


_CONFINED = Qt.ShortcutContext.WidgetWithChildrenShortcut


class Keys(QObject):
    """Actions of one window and their keys.

    Signals:
        changed: actions or keys changed.
    """

    changed = Signal()

    def __init__(self, window: QWidget, chosen: Chosen) -> None:
        """Makes an empty set of actions.

        Args:
            window: scope of the keys.
            chosen: the user's keys, as in `Settings.keys`.
        """
        super().__init__(window)
        self._frame = window
        self._chosen = chosen
        self._confined = False
        self._known: dict[str, Keyed] = {}
        self._actions: dict[str, QAction] = {}
        self._in_force: dict[str, tuple[str, ...]] = {}

    def add_action(self, action: QAction, group: str, defaults: Sequence[str] = (), *, in_panes: bool = False) -> None:
        """Manages an action's keys from now on; an action of the same id is replaced.

        Args:
            action: its object name is its id, its text its title.
            group: heading in lists: "File".
            defaults: default keys; the first one is shown.
            in_panes: the caller adds it to the widgets in which its keys work; else they work in the whole window.
        """
        name = action.objectName()
        self.release(name)
        self._known[name] = Keyed(name, group, plain_title(action.text()), tuple(defaults), in_panes)
        self._actions[name] = action
        if not in_panes:
            if self._confined:
                action.setShortcutContext(_CONFINED)
            self._frame.addAction(action)
        self.apply(self._chosen)

    def release(self, name: str) -> None:
        """Removes an action, if known."""
        self._known.pop(name, None)
        action = self._actions.pop(name, None)
        if action is not None:
            self._in_force.pop(name, None)
            self._frame.removeAction(action)
            self.changed.emit()

    def take_all(self, actions: Iterable[tuple[QAction, Keyed]]) -> None:
        """Adds many actions and sets their keys once."""
        for action, keyed in actions:
            self._known[keyed.id] = keyed
            self._actions[keyed.id] = action
            self._in_force.pop(keyed.id, None)
        self.apply(self._chosen)

    def confine(self, confined: bool) -> None:
        """Makes the keys work only while the focus is in the window, or everywhere in its top-level window."""
        self._confined = confined
        for name, keyed in self._known.items():
            if not keyed.in_panes:
                self._actions[name].setShortcutContext(_CONFINED if confined else Qt.ShortcutContext.WindowShortcut)

    def apply(self, chosen: Chosen) -> None:
        """Sets the keys of every action from the settings."""
        self._chosen = chosen
        others = [
            (name, keys)
            for name, keys in keys_in_force(list(self._known.values()), chosen).items()
            if self._in_force.get(name) != keys
        ]
        for name, keys in others:
            action = self._actions[name]
            if keys or self._in_force.get(name):  # a new action has no keys yet
                action.setShortcuts([QKeySequence(key) for key in keys])
            self._in_force[name] = keys
            title = plain_title(action.text())
            if not action.toolTip() or action.toolTip().startswith(title):  # keep a tooltip set by its owner
                action.setToolTip(f"{title} ({native(keys[:1])})" if keys else title)
        if others:
            self.changed.emit()

    def visible_actions(self) -> list[Keyed]:
        """Returns all visible actions in the order of lists; hidden ones are those for developers."""
        return [one for one in self._known.values() if self._actions[one.id].isVisible()]

    def action(self, name: str) -> QAction:
        """Returns the action of an id.

        Raises:
            KeyError: if there is none.
        """
        return self._actions[name]

    def words(self, name: str) -> str:
        """Returns the first key of an action in native notation, or ""."""
        return native(self._in_force.get(name, ())[:1])
