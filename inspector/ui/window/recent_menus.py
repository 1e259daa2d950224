"""Submenus of the File menu: recent files and gateways."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.panels.start.recents import GONE, Recent, recent_connection, recent_file
from inspector.ui.services import SettingsOwner


class RecentMenus(QObject):
    """The menus Open recent and Gateways, filled each time they open.

    Signals:
        file_chosen(Path): open a file.
        gateway_chosen(ConnectionSettings): watch a gateway.
        clear_requested(): clear the recent entries.

    Attributes:
        files, gateways: the submenus.
    """

    file_chosen = Signal(object)
    gateway_chosen = Signal(object)
    clear_requested = Signal()

    def __init__(self, services: SettingsOwner, menu: QMenu) -> None:
        """Adds the submenus.

        Args:
            services: has the recent files and gateways.
            menu: the File menu, which already has the actions `file.open` and `file.connections`.
        """
        super().__init__(menu)
        self._services = services
        self.files = self._submenu("Open &recent", "file.recent", menu, after="file.open")
        self.gateways = self._submenu("Gatewa&ys", "file.gateways", menu, after="file.connect")
        # filled on demand, since files are checked for existence
        self.files.aboutToShow.connect(self._fill_files)
        self.gateways.aboutToShow.connect(self._fill_gateways)
        menu.aboutToShow.connect(self._enable)

    def _submenu(self, title: str, name: str, menu: QMenu, *, after: str) -> QMenu:
        submenu = QMenu(title, menu)
        submenu.setObjectName(name)
        submenu.setAccessibleName(title.replace("&", ""))
        submenu.setToolTipsVisible(True)
        actions = menu.actions()
        place = next(number for number, action in enumerate(actions) if action.objectName() == after)
        menu.insertMenu(actions[place + 1], submenu)
        return submenu

    def _enable(self) -> None:
        settings = self._services.settings
        self.files.menuAction().setEnabled(bool(settings.recent_files))
        self.gateways.menuAction().setEnabled(bool(settings.connections or settings.recent_connections))

    def _fill_files(self) -> None:
        self.files.clear()
        now = datetime.now().astimezone()
        for path in self._services.settings.recent_files:
            recent = recent_file(path, now, self._services.settings.recent_facts.get(path))
            self._add(
                self.files,
                recent,
                f"{recent.title}, {GONE}" if not recent.there else recent.title,
                _bind_argument(self.file_chosen.emit, path),
            )
        self._add_clear(self.files)

    def _fill_gateways(self) -> None:
        self.gateways.clear()
        settings = self._services.settings
        for chosen in settings.connections:
            recent = recent_connection(chosen)
            self._add(self.gateways, recent, recent.title, _bind_argument(self.gateway_chosen.emit, chosen))
        unnamed = settings.unnamed_connections()
        if settings.connections and unnamed:
            self.gateways.addSeparator()
        for chosen in unnamed:
            recent = recent_connection(chosen)
            words = f"{recent.title}, {recent.detail}..."  # dots, because it opens a dialog
            self._add(self.gateways, recent, words, _bind_argument(self.gateway_chosen.emit, chosen))
        if unnamed:
            self._add_clear(self.gateways)

    def _add(self, menu: QMenu, recent: Recent, words: str, act: Callable[[], object]) -> None:
        action = menu.addAction(safe_line(words).replace("&", "&&"))
        action.setToolTip(tool_tip(recent.tooltip))
        action.setEnabled(recent.there)
        action.triggered.connect(lambda *_checked: act())

    def _add_clear(self, menu: QMenu) -> None:
        menu.addSeparator()
        clear = menu.addAction("&Clear recent files and connections")
        clear.triggered.connect(lambda *_checked: self.clear_requested.emit())


def _bind_argument(act: Callable[..., object], what: object) -> Callable[[], object]:
    return lambda: act(what)
