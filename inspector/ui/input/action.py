"""What the user can do, declared: menus, tool bar and shortcuts follow from one table of `Action` (docs/design.md)."""

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
"""The menu of what can be done with sessions; seen with a document of sessions only."""

MENUS = ("&File", "&Edit", "&View", "&Go", "&Capture", SESSIONS, "&Analyze", "&Developer", "&Help")
"""The menus of a window, in their order."""

W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True)
class Action(Generic[W]):
    """One thing the user can do in a window of the kind W.

    Attributes:
        id: such as `view.toggle_follow`.
        title: sentence case, with the menu's access key.
        menu: title of the menu it stands in, one of MENUS.
        do: does it.
        keys: shortcuts, the first one is shown.
        icon: name in icons.ICONS.
        needs: what must be there: "", "document", "filter" (a document or a survey), "live", "connection" (to a
            gateway, live), "message", "marks", "undo" or "redo" (something to undo), or "unsaved": a capture without
            a name yet, or sessions with edits. Of a document of sessions: "sessions", "editable", and what is shown of
            them: "open_subsession", "mergeable", "own_message". "developer": the Developer menu, without which nobody
            sees it.
        on: makes it a switch: whether it is on now.
        separated: a line stands above it in its menu.
        short: what its tool button says beside the icon; nothing by default.
        in_panes: its keys count in the panes only: elsewhere, on a button for one, they mean something else.
        submenu: title of the menu within its menu that it stands in.
        words: other words for it, which the palette finds it by.
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
    submenu: str = ""
    words: str = ""

    @cached_property
    def keyed(self) -> Keyed:
        """It, as what can have keys; asked for by the program and by each of its windows."""
        group = plain_title(self.submenu or self.menu)
        return Keyed(self.id, group, plain_title(self.title), self.keys, self.in_panes, self.words)

    def qt_icon(self) -> QIcon:
        """Its icon in the colours in force; switches show in the accent when on."""
        return icons.icon(self.icon, on_token="accent.text" if self.on is not None else None)


def keyed_actions(declared: Sequence[Action[W]]) -> list[Keyed]:
    """Every action as what can have keys, in the order of the menus."""
    return [one.keyed for menu in MENUS for one in declared if one.menu == menu]


class Actions(QObject, Generic[W]):
    """The declared actions of one window, as Qt knows them; `Keys` gives them their keys. They end with the window.

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
            action.setIconText(declared.short)  # what a tool button shows, after a change of its icon too
        action.triggered.connect(lambda *_checked: self._do(declared, action))
        return action

    def _do(self, declared: Action[W], action: QAction) -> None:
        declared.do(self._frame)
        if declared.on is not None:  # Qt has turned it over, whatever came of it
            action.setChecked(declared.on(self._frame))

    def keyed(self) -> Iterable[tuple[QAction, Keyed]]:
        """Every action with what keys it can have, in the order of the menus."""
        return [(self.by_id[keyed.id], keyed) for keyed in keyed_actions(self._declared)]

    def fill_menus(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Put the actions into the window and into menus, once they have their keys; the menus by title.

        Before, as window and menus hear of each change of an action that they have.
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
        """The actions that need something."""
        return [self.by_id[one.id] for one in self._declared if one.needs == need]

    def enable(self, present: set[str]) -> None:
        """Enable what can be done now; `present` names what there is."""
        for one in self._declared:
            self.by_id[one.id].setEnabled(not one.needs or one.needs in present)
        if SESSIONS in self._menus:
            self._menus[SESSIONS].menuAction().setVisible("sessions" in present)

    def show_switches(self, *_changed: object) -> None:
        """Let the switches say what is on, however it came to be."""
        for one in self._declared:
            if one.on is not None:
                self.by_id[one.id].setChecked(one.on(self._frame))

    def renew_icons(self) -> None:
        """Draw the icons in the colours in force."""
        for one in self._declared:
            if one.icon:
                self.by_id[one.id].setIcon(one.qt_icon())

    def add_to_pane(self, pane: QWidget) -> None:
        """Let a pane take the keys that count in panes only."""
        for one in self._declared:
            if one.in_panes:
                pane.addAction(self.by_id[one.id])
