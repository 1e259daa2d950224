"""Which keys do what in a window, and how the user changes that.

Everything that can be done is a `QAction` that `Keys.take` was told of: those of actions.py, and those that come and
go, such as a preset's. Then its keys follow the settings, the palette finds it, and the lists of keys name it.

To add one that is not in actions.py:

    action = QAction(preset.name, window)
    action.setObjectName("preset.1")          # its id: stays the same between starts
    action.triggered.connect(...)
    window.keys.take(action, "Presets", ("Alt+1",))
    ...
    window.keys.release("preset.1")           # when it is no more

`Settings.keys` holds the keys of actions that do not have their usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

Chosen = Mapping[str, Sequence[str]]
"""Keys the user gave to actions, by id; as `Settings.keys`."""

KeyWords = Callable[[str], str]
"""The key of an action as the keyboard names it, by its id, "" for none: `Keys.words`."""


def with_key(words: str, key: str) -> str:
    """Words of a button with the key that does the same, where there is one: "Next hit (F3)"."""
    return f"{words} ({key})" if key else words


@dataclass(frozen=True, slots=True)
class Keyed:
    """What can have keys.

    Attributes:
        id: such as `view.toggle_follow`.
        group: under which it is listed, as a menu's title: "File".
        title: sentence case, without access key and dots.
        defaults: its usual keys, written portably ("Ctrl+M"); the first one is shown.
        in_panes: its keys count in the panes only, so that keys that write a letter or press a button may be used.
        words: other words for it, which the palette finds it by.
    """

    id: str
    group: str
    title: str
    defaults: tuple[str, ...] = ()
    in_panes: bool = False
    words: str = ""


@lru_cache(maxsize=1024)  # each window asks for a hundred titles and keys three times while it is made
def plain_title(title: str) -> str:
    """An action's title without its access key and dots."""
    return title.replace("&&", "\0").replace("&", "").replace("\0", "&").removesuffix("...").removesuffix("…")


@lru_cache(maxsize=1024)
def normal(key: str) -> str:
    """A key in Qt's portable writing, whichever way it was written; empty where it is no key."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def native(keys: Iterable[str]) -> str:
    """Keys as they stand on this system's keyboards: "Ctrl+Shift+Z, Ctrl+Y"."""
    return ", ".join(map(_native, keys))


@lru_cache(maxsize=1024)
def _native(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def keys_in_force(known: Sequence[Keyed], chosen: Chosen) -> dict[str, tuple[str, ...]]:
    """The keys of each action by id, in the order of `known`; no key has two meanings.

    A key the user gave to one action is taken from those that usually have it. Where the settings give it to two, the
    first one has it. What is no key counts for nothing.
    """
    taken: set[str] = set()
    found: dict[str, tuple[str, ...]] = {}
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


class Keys(QObject):
    """What can be done in one window, and by which keys.

    Signals:
        changed: actions came or went, or have other keys.
    """

    changed = Signal()

    def __init__(self, window: QWidget, chosen: Chosen) -> None:
        """Know of nothing yet.

        Args:
            window: keys count in it.
            chosen: keys the user gave to actions, as `Settings.keys`.
        """
        super().__init__(window)
        self._frame = window
        self._chosen = chosen
        self._known: dict[str, Keyed] = {}
        self._actions: dict[str, QAction] = {}
        self._in_force: dict[str, tuple[str, ...]] = {}

    def take(self, action: QAction, group: str, defaults: Sequence[str] = (), *, in_panes: bool = False) -> None:
        """Let an action's keys follow the settings from now on; one of the same id is replaced.

        Args:
            action: its object name is its id, its text its title, now and whenever it is shown.
            group: under which it is listed: "File".
            defaults: its usual keys; the first one is shown.
            in_panes: somebody else adds it to the widgets where its keys count; else they count in the whole window.
        """
        name = action.objectName()
        self.release(name)
        self._known[name] = Keyed(name, group, plain_title(action.text()), tuple(defaults), in_panes)
        self._actions[name] = action
        if not in_panes:
            self._frame.addAction(action)
        self.apply(self._chosen)

    def release(self, name: str) -> None:
        """Know of an action no more; fine when it is not known."""
        self._known.pop(name, None)
        action = self._actions.pop(name, None)
        if action is not None:
            self._in_force.pop(name, None)
            self._frame.removeAction(action)
            self.changed.emit()

    def take_all(self, actions: Iterable[tuple[QAction, Keyed]]) -> None:
        """Take many at once; their keys are set once."""
        for action, keyed in actions:
            self._known[keyed.id] = keyed
            self._actions[keyed.id] = action
            self._in_force.pop(keyed.id, None)
        self.apply(self._chosen)

    def apply(self, chosen: Chosen) -> None:
        """Set the keys of every action, as the settings have them."""
        self._chosen = chosen
        others = [
            (name, keys)
            for name, keys in keys_in_force(list(self._known.values()), chosen).items()
            if self._in_force.get(name) != keys
        ]
        for name, keys in others:
            action = self._actions[name]
            if keys or self._in_force.get(name):  # a new action has none
                action.setShortcuts([QKeySequence(key) for key in keys])
            self._in_force[name] = keys
            title = plain_title(action.text())
            if not action.toolTip() or action.toolTip().startswith(title):  # else it has words of its own
                action.setToolTip(f"{title} ({native(keys[:1])})" if keys else title)
        if others:
            self.changed.emit()

    def known(self) -> list[Keyed]:
        """Everything that can have keys, in the order in which it is listed; not what is hidden, as for developers."""
        return [one for one in self._known.values() if self._actions[one.id].isVisible()]

    def action(self, name: str) -> QAction:
        """The action of an id.

        Raises:
            KeyError: there is none.
        """
        return self._actions[name]

    def words(self, name: str) -> str:
        """The key an action shows, as the keyboard names it; empty without one or without the action."""
        return native(self._in_force.get(name, ())[:1])
