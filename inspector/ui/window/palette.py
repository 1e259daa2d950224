"""The entries of the command palette: actions, recent files, gateways and panes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow
from shiboken6 import isValid

from inspector.base.targets import target_path
from inspector.ui.input import fuzzy
from inspector.ui.input.keys import native
from inspector.ui.widgets.command_list import CommandEntry
from inspector.ui.widgets.palette_card import PaletteCard
from inspector.ui.window.docks import SIDES, Docks
from inspector.ui.window.pane_focus import PaneFocus

if TYPE_CHECKING:
    from inspector.settings import ConnectionSettings
    from inspector.ui.input.keys import Keys
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import SettingsOwner

_MAX_RECENT = 20
_MOST_AT_TOP = 5
_RECENT = "Recent"
_TEMPORARY_PREFIXES = ("file.", "join.", "float.", "move.", "close.")
"""Id prefixes of temporary entries and of files and places, which are listed as recent elsewhere."""
_PALETTE_ACTION = "help.palette"
_LIST_KEYS = {"edit.copy_row": "Ctrl+C", "edit.select_all": "Ctrl+A"}
"""Keys that every list and field handles itself, so that no action can use them."""
_Run = Callable[[], object]


class Palette(QObject):
    """The command palette of one window.

    Attributes:
        card: its widget.
    """

    def __init__(
        self, window: QMainWindow, theme: ThemeController, keys: Keys, services: SettingsOwner, docks: Docks,
        pane_focus: PaneFocus, *, open_target: Callable[[str], object], join: Callable[[ConnectionSettings], object],
    ) -> None:  # fmt: skip
        """Creates the hidden palette.

        Args:
            window: shows the palette.
            theme: gives the look.
            keys: all actions with their keys.
            services: the recent files and gateways.
            docks: the docks to move and close.
            pane_focus: focuses panes.
            open_target: opens a recent file or session.
            join: connects to a gateway.
        """
        super().__init__(window)
        self._frame = window
        self._keys = keys
        self._services = services
        self._docks = docks
        self._pane_focus = pane_focus
        self._open_target = open_target
        self._join = join
        self._runs_by_id: dict[str, _Run] = {}
        self.card = PaletteCard(theme, self.find, window)
        self.card.run_requested.connect(self._run)

    def find(self, query: str) -> list[CommandEntry]:
        """Returns the entries that match a query, best match first and disabled entries last.

        An empty query matches every entry and puts recent commands first; of equal matches, recent ones are first.
        Files match by their whole path. Actions match by title, menu and synonyms.
        """
        lines = [*self._action_entries(), *self._other_entries()]
        lately = {name: place for place, name in enumerate(self._services.settings.recent_commands)}
        if not query.strip():
            lately = dict(islice(lately.items(), _MOST_AT_TOP))
            lines = [replace(line, group=_RECENT) if line.usable and line.id in lately else line for line in lines]
            lines.sort(key=lambda line: (not line.usable, lately.get(line.id, _MAX_RECENT)))
            return lines
        found: list[tuple[tuple[bool, int, int], CommandEntry]] = []
        for line in lines:
            place = lately.get(line.id, _MAX_RECENT)
            fits = fuzzy.match(query, line.title)
            if fits is not None:
                found.append(((not line.usable, -fits.score, place), replace(line, lit=fits.places)))
                continue
            whole = f"{line.group} {line.title} {line.detail} {line.words}".casefold()
            if all(word in whole for word in query.casefold().split()):
                found.append(((not line.usable, 0, place), line))
        found.sort(key=lambda pair: pair[0])
        return [line for _, line in found]

    def _action_entries(self) -> Iterable[CommandEntry]:
        keys = self._keys
        for known in keys.visible_actions():
            if known.id == _PALETTE_ACTION:
                continue
            action = keys.action(known.id)
            key = action.shortcut().toString() or _LIST_KEYS.get(known.id, "")
            shown = native([key]) if key else ""
            yield CommandEntry(
                known.id, known.group, known.title, (shown,) if shown else (),
                usable=action.isEnabled(), checked=action.isCheckable() and action.isChecked(), words=known.words,
            )  # fmt: skip

    def _other_entries(self) -> list[CommandEntry]:
        settings = self._services.settings
        self._runs_by_id = {}
        lines: list[CommandEntry] = []

        def add(name: str, group: str, title: str, run: _Run, detail: str = "") -> None:
            self._runs_by_id[name] = run
            lines.append(CommandEntry(name, group, title, detail=detail))

        for title, taker in self._pane_focus.panes():
            add(f"pane.{title}", "Panes", f"Go to {title}", partial(taker.setFocus, Qt.FocusReason.TabFocusReason))
        for title, dock in self._docks.by_title.items():
            self._add_moves(add, title, dock)
        for target in settings.recent_files:
            place = target_path(target)
            add(f"file.{target}", "Open recent", place.name, partial(self._open_target, target), str(place.parent))
        for one in [*settings.connections, *settings.unnamed_connections()]:
            name = getattr(one, "name", "") or one.url
            detail = " ".join(filter(None, (one.url if name != one.url else "", one.space)))
            add(f"join.{one.url} {one.space} {name}", "Gateways", name, partial(self._join, one), detail)
        return lines

    def _add_moves(self, add: Callable[[str, str, str, _Run], None], title: str, dock: QDockWidget) -> None:
        """Adds the moves that a pointer can do with a pane's head, for the focused pane and floating panes."""
        before, floats = self.card.came_from, dock.isFloating()
        held = before is not None and isValid(before) and dock.isAncestorOf(before)
        if dock.isHidden() or not (held or floats):
            return
        words = f"Dock {title}" if floats else f"Float {title}"
        add(f"float.{title}", "Panes", words, partial(dock.setFloating, not floats))
        for area, side in SIDES.items():
            if floats or self._frame.dockWidgetArea(dock) != area:
                move = partial(self._docks.move, title, area)
                add(f"move.{title} {side}", "Panes", f"Move {title} to the {side}", move)
        add(f"close.{title}", "Panes", f"Close {title}", dock.close)

    def _run(self, name: str) -> None:
        settings = self._services.settings
        # files and gateways are recent elsewhere, and the other prefixes name entries of the moment
        if not name.startswith(_TEMPORARY_PREFIXES):
            others = (other for other in settings.recent_commands if other != name)
            settings.recent_commands = [name, *others][:_MAX_RECENT]
            self._services.save_settings()
        other = self._runs_by_id.get(name)
        if other is not None:
            other()
        elif any(known.id == name for known in self._keys.visible_actions()):
            self._keys.action(name).trigger()
