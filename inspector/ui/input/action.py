"""Declares the type of user actions; builds menus, tool bars and shortcuts from their table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.ui.input.keys import Keyed, plain_title
from inspector.ui.look import icons

SESSIONS = "&Sub-sessions"
"""Menu for sessions; visible only with a document of sessions."""

MENUS = ("&File", "&Edit", "&View", "&Go", "&Capture", SESSIONS, "&Analyze", "&Developer", "&Window", "&Help")
"""The menus of a window, in order."""

W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True)
class Action(Generic[W]):
    """One user action in a window of type W.

    Attributes:
        id: such as `view.time_start`.
        title: sentence case, with the menu's mnemonic.
        menu: title of its menu, one of MENUS.
        do: runs the action.
        keys: shortcuts, the first one is shown.
        icon: name in icons.ICONS.
        needs: condition that enables it: "", "document", "filter" (a document or a survey), "live", "connection" (to a
            gateway, live), "message", "marks", "undo" or "redo" (a step to undo), or "unsaved": a capture without
            a name yet, or sessions with edits. For a document of sessions: "sessions", "editable", and the selected
            items: "open_subsession", "mergeable", "own_message". "developer": the Developer menu, hidden without it.
            "tabs": several documents in one window. "beside": two side by side.
        on: makes it a switch: returns True while it is on.
        separated: put a separator above it in its menu.
        short: text of its tool button beside the icon, or "".
        in_panes: its keys work in the panes only, since they mean something else on buttons and fields.
        pane: object name of the only pane in which they work; "" for all.
        submenu: title of its submenu.
        words: further search terms for the palette.
    """

    id: str
    title: str
    menu: str
    do: Callable[[W], object]
    keys: tuple[str, ...] = ()
    icon: str = ""
    needs: str = ""
    on: Callable[[W], bool] | None = None
    separated: bool = False
    short: str = ""
    in_panes: bool = False
    pane: str = ""
    submenu: str = ""
    words: str = ""

    @cached_property
    def keyed(self) -> Keyed:
        """Its `Keyed` entry; cached, since the program and each window need it."""
        group = plain_title(self.submenu or self.menu)
        return Keyed(self.id, group, plain_title(self.title), self.keys, self.in_panes, self.words)

    def qt_icon(self) -> QIcon:
        """Returns its icon in the current colours; switches use the accent while on."""
        return icons.icon(self.icon, on_token="accent.text" if self.on is not None else None)


def keyed_actions(declared: Sequence[Action[W]]) -> list[Keyed]:
    """Returns the `Keyed` entries of all actions, in the order of the menus."""
    return [one.keyed for menu in MENUS for one in declared if one.menu == menu]


class Actions(QObject, Generic[W]):
    """QActions of one window for its declared actions; `Keys` sets their shortcuts. They end with the window.

    Attributes:
        by_id: the actions.
    """

    def __init__(self, window: W, declared: Sequence[Action[W]]) -> None:
        super().__init__(window)
        self._frame = window
        self._declared = declared
        self._menus: dict[str, QMenu] = {}
        self.by_id = {one.id: self._make(one) for one in declared}

    def _make(self, declared: Action[W]) -> QAction:
        action = QAction(declared.title, self._frame)
        action.setObjectName(declared.id)
        action.setCheckable(declared.on is not None)
        action.setEnabled(not declared.needs)
        if declared.in_panes:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        if declared.icon:
            action.setIcon(declared.qt_icon())
        if declared.short:
            action.setIconText(declared.short)  # text of the tool button; also kept after a change of its icon
        # Qt passes the checked state as well.
        action.triggered.connect(lambda *_checked: self._do(declared, action))
        return action

    def _do(self, declared: Action[W], action: QAction) -> None:
        declared.do(self._frame)
        if declared.on is not None:  # Qt has toggled it already, whatever the action did
            action.setChecked(declared.on(self._frame))

    def keyed(self) -> Iterable[tuple[QAction, Keyed]]:
        """Returns each action with its `Keyed` entry, in the order of the menus."""
        return [(self.by_id[keyed.id], keyed) for keyed in keyed_actions(self._declared)]

    def fill_menus(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Adds the actions to the window and its menus, after their keys are set. Returns the menus by title.

        Setting keys later would notify the window and every menu for each action.
        """
        self._frame.addActions([self.by_id[one.id] for one in self._declared if not one.in_panes])
        menus = self._menus = {title: bar.addMenu(title) for title in MENUS}
        within: dict[str, QMenu] = {}
        for declared in self._declared:
            menu = menus[declared.menu]
            if declared.separated:
                menu.addSeparator()
            if declared.submenu:
                if declared.submenu not in within:
                    within[declared.submenu] = menu.addMenu(declared.submenu)
                menu = within[declared.submenu]
            menu.addAction(self.by_id[declared.id])
        return menus

    def needing(self, need: str) -> list[QAction]:
        return [self.by_id[one.id] for one in self._declared if one.needs == need]

    def enable(self, present: set[str]) -> None:
        """Enables actions by the set of present conditions."""
        for one in self._declared:
            self.by_id[one.id].setEnabled(not one.needs or one.needs in present)
        if SESSIONS in self._menus:
            self._menus[SESSIONS].menuAction().setVisible("sessions" in present)

    def show_switches(self, *_changed: object) -> None:
        """Updates the checked state of all switches."""
        for one in self._declared:
            if one.on is not None:
                self.by_id[one.id].setChecked(one.on(self._frame))

    def renew_icons(self) -> None:
        for one in self._declared:
            if one.icon:
                self.by_id[one.id].setIcon(one.qt_icon())

    def add_to_pane(self, pane: QWidget) -> None:
        """Adds the actions with keys in panes to a pane."""
        for one in self._declared:
            if one.in_panes and one.pane in ("", pane.objectName()):
                pane.addAction(self.by_id[one.id])
