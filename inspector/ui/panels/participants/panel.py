"""The participants panel: head, list and filters by participant."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.participants import Key, OrderParticipants, ParticipantList
from inspector.present.wire_text import safe_line
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.participants.source import ParticipantsSource
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_REST = 20
"""Pause after an answer, as a multiple of its duration; there may be thousands of participants."""
EMPTY = "No participants yet."
"""Text of the empty list (docs/design.md 16)."""


class ParticipantsPanel(HeadedPanel):
    """The participants of a document.

    Attributes:
        head: title and count.
        source, model, view: the rows and their list.
        latest: the participants.

    Signals:
        selected(object): the user picked a participant: (string id of the space, name).
        sees_requested(object): show the model context of a participant; the same pair.
    """

    selected = Signal(object)
    sees_requested = Signal(object)

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__("Participants", parent)
        self._connected = True
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.source = ParticipantsSource(client, lambda row: self.model.renew(row, row))
        self.model = RowsModel(self.source, self)
        self.head = PaneHead(theme_controller, "Participants", name="participantsHead", parent=self)
        self._more = self.head.add_button("more", "More for participants", name="participantsMore")
        self._more.clicked.connect(self._on_more_clicked)
        self.view = RowsView(
            self.model, theme_controller, name="participantsList", title="Participants", parent=self, top=4
        )
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        self.view.entered.connect(self._on_entered)
        self.view.picked.connect(self._on_picked)
        self.view.copy_asked.connect(self._copy_name)
        self.view.letters = {" ": lambda: self._on_picked(self.view.row, False)}
        self.stack(self.head, self.view)
        self.view.left.disconnect(self.left)
        self.view.left.connect(self._on_left)
        self._count, self._here, self._is_announced = 0, 0, False
        self.latest = LatestAnswer(
            self, client, OrderParticipants, self._show, every_ms=lambda: intervals.LISTS_MS, rest=_REST
        )
        self._show_count()

    # Calls of the window

    def _show(self, found: ParticipantList) -> None:
        self._count, self._here, self._is_announced = found.count, found.here, found.is_announced
        self.source.described.drop()
        self.model.reorder(found.keys, self.source.replace_keys)
        self.model.renew()
        self._show_count()

    def tick(self, now_ns: int | None) -> None:
        """Updates presence and waiting times of visible rows each second while live (`Analysis.now_ns`)."""
        if now_ns is not None and self.isVisible():
            self.source.update_rows(*self.view.visible_rows())

    def show_selected(self, key: Key | None) -> None:
        """Selects the participant shown in the details: (string id of the space, name), or None."""
        row = -1 if key is None else self.source.row_of(key)
        # Selecting the same row again would scroll to it.
        if row < 0 or self.view.selected != key:
            self.view.select(key if row >= 0 else None)

    def set_connected(self, connected: bool) -> None:
        """Notes the connection to the gateway. Without one, presence is as of the end of the log."""
        self._connected = connected
        self._show_count()

    def _show_count(self) -> None:
        words = f"{self._here:,} here" if self._connected else f"{self._here:,} last seen"
        if self._is_announced:
            self.head.set_count(words, short=f"{self._here:,}")
        else:
            self.head.count_things(self._count, "participant")
        self.view.set_empty_text("" if self._count else EMPTY)

    # Filters

    def _on_picked(self, row: int, _clicked: bool) -> None:
        if row >= 0:
            self.view.select_row(row)
            self.selected.emit(self.source.keys[row])

    def _on_left(self) -> None:
        """Clears the selection, or returns the focus to the messages."""
        if self.view.selected is None:
            self.left.emit()
        else:
            self.view.select(None)

    def _on_entered(self, row: int) -> None:
        self.filter_requested.emit(self.source.row(row).sent, "replace")

    def _copy_name(self, row: int) -> None:
        if row >= 0:
            QGuiApplication.clipboard().setText(self.source.row(row).copied)

    def _on_more_clicked(self) -> None:
        row = self.view.currentIndex().row()
        self.menu_for(row).popup(self._more.mapToGlobal(QPoint(0, self._more.height())))

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a participant, or for row -1 a menu that asks for a selection."""
        menu = QMenu(self)
        menu.setObjectName("participantMenu")
        menu.setAccessibleName("Participant")
        if row < 0:
            menu.addAction("Select a participant first").setEnabled(False)
        else:
            one, key = self.source.row(row), self.source.keys[row]
            name, sent, received = safe_line(key[1], 40).replace("&", "&&"), one.sent, one.received
            for title, text in (("From", sent), ("To", received), ("From or to", f"{sent} || {received}")):
                ways = menu.addMenu(f"{title} {name}")
                ways.setObjectName("participantFilterMenu")
                add_filter_actions(ways, text, self.filter_requested.emit)
            menu.addSeparator()
            menu.addAction("Show in details").setData(("show", key))
            menu.addAction("Show in Model sees").setData(("sees", key))
            menu.addAction("Copy id").setData(("copy", one.copied))
        menu.triggered.connect(self._on_menu_triggered)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _on_menu_triggered(self, action: QAction) -> None:
        if action.data() is None:  # a filter action
            return
        what, text = action.data()
        if what == "show":
            self.selected.emit(text)
        elif what == "sees":
            self.sees_requested.emit(text)
        else:
            QGuiApplication.clipboard().setText(text)
