"""The participants panel: head, list and filters by participant."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.participants.delegate import ParticipantDelegate
from inspector.ui.panels.participants.model import Key, ParticipantsModel
from inspector.ui.panels.plain_table import PlainTable
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_REST = 20
"""Pause between two refreshes of many participants, as a multiple of the duration of one."""
EMPTY = "No participants yet."
"""Text of the empty list (docs/design.md 16)."""


class ParticipantsPanel(HeadedPanel):
    """The participants of a document.

    Attributes:
        head: title and count.
        model, view: the rows and their list.

    Signals:
        selected(object): the user picked a participant: (string id of the space, name).
        sees_requested(object): show the model context of a participant; the same pair.
    """

    selected = Signal(object)
    sees_requested = Signal(object)

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(document, "Participants", parent)
        self._connected = True
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = ParticipantsModel(document, self)
        self.head = PaneHead(theme_controller, "Participants", name="participantsHead", parent=self)
        self._more = self.head.add_button("more", "More for participants", name="participantsMore")
        self._more.clicked.connect(self._on_more_clicked)
        self.view = _ParticipantsView(self.model, theme_controller, self)
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        self.view.activated.connect(self._on_activated)
        self.view.picked.connect(self._on_picked)
        self._themes = theme_controller
        self._body = QVBoxLayout()
        self._body.addWidget(self.view)
        self.stack(self.head, self.view, body=self._body)
        theme_controller.changed.connect(self._on_theme_changed)
        self._throttle = RefreshThrottle(self, self._refreshing, lambda: budgets.current.lists_ms, rest=_REST)
        self._on_theme_changed()
        self._show_count()

    def _on_theme_changed(self) -> None:
        self._body.setContentsMargins(0, self._themes.theme.metrics.unit, 0, 0)

    # Calls of the window

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush. Many participants are refreshed with a throttle. The selection stays."""
        if self.model.is_crowded:
            self._throttle.request()
        else:
            self.model.refresh()
            self._show_count()

    def _refreshing(self) -> Iterator[int]:
        for _ in self.model.refreshing():
            yield budgets.current.more_ms
        self._show_count()

    def tick(self, now_ns: int | None) -> None:
        """Updates presence and waiting times of visible rows each second while live (`Analysis.now_ns`)."""
        if now_ns is not None:
            self.model.refresh_clocked(*self.view.visible_rows())

    def show_selected(self, key: Key | None) -> None:
        """Selects the participant shown in the details: (string id of the space, name), or None."""
        row = self.model.row_of(key) if key is not None else -1
        if row < 0:
            self.view.clearSelection()
        # Setting the same row again would scroll to it.
        elif not self.view.selectionModel().isRowSelected(row):
            self.view.setCurrentIndex(self.model.index(row, 0))

    def set_connected(self, connected: bool) -> None:
        """Notes the connection to the gateway. Without one, presence is as of the end of the log."""
        self._connected = connected
        self._show_count()

    def _show_count(self) -> None:
        here, announced = self.model.here()
        total = self.model.rowCount()
        words = f"{here:,} here" if self._connected else f"{here:,} last seen"
        if announced:
            self.head.set_count(words)
        else:
            self.head.count_things(total, "participant")
        self.view.set_empty_text("" if total else EMPTY)

    # Filters

    def _on_picked(self, row: int) -> None:
        self.selected.emit(self._key(row))

    def _key(self, row: int) -> Key:
        participant = self.model.participant(row)
        return participant.space, participant.name

    def _on_activated(self, index: QModelIndex) -> None:
        self.filter_requested.emit(self.filter_for(index.row(), "from"), "replace")

    def filter_for(self, row: int, field: str) -> str:
        """Returns the display filter for messages `from` or `to` a participant."""
        return f"{field} == {quote(self.model.participant(row).name)}"

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
            name = safe_line(self.model.participant(row).name, 40).replace("&", "&&")
            sent, received = self.filter_for(row, "from"), self.filter_for(row, "to")
            for title, text in (("From", sent), ("To", received), ("From or to", f"{sent} || {received}")):
                ways = menu.addMenu(f"{title} {name}")
                ways.setObjectName("participantFilterMenu")
                add_filter_actions(ways, text, self.filter_requested.emit)
            menu.addSeparator()
            menu.addAction("Show in details").setData(("show", self._key(row)))
            menu.addAction("Show in Model sees").setData(("sees", self._key(row)))
            menu.addAction("Copy id").setData(("copy", mask_text(self.model.participant(row).name)))
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


class _ParticipantsView(PlainTable):
    """The list of participants.

    Signals:
        picked(int): the user clicked a row or moved to it by keyboard; not emitted if Qt makes a row current.
    """

    picked = Signal(int)

    def __init__(self, model: ParticipantsModel, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, parent, name="participantsList", title="Participants")
        self.make_single_column()
        self.setModel(model)
        self.clicked.connect(self._on_clicked)
        self._delegate = ParticipantDelegate(model, theme_controller, self)
        self.setItemDelegate(self._delegate)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.participant_row)
        self.verticalScrollBar().setSingleStep(metrics.participant_row)
        self.viewport().update()

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.isValid():
            self.picked.emit(index.row())

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._delegate.shows_cursor = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
        )

    @override
    def moveCursor(
        self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:  # fmt: skip
        """Moves Home and End through the list. QTableView moves them through a row."""
        match cursorAction:
            case QAbstractItemView.CursorAction.MoveHome:
                return self.model().index(0, 0)
            case QAbstractItemView.CursorAction.MoveEnd:
                return self.model().index(self.model().rowCount() - 1, 0)
            case _:
                return super().moveCursor(cursorAction, modifiers)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.shows_cursor = True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clearSelection()
        elif event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self.setCurrentIndex(self.currentIndex())
            self.picked.emit(self.currentIndex().row())
        else:
            before = self.currentIndex()
            super().keyPressEvent(event)
            if self.currentIndex().isValid() and self.currentIndex() != before:
                self.picked.emit(self.currentIndex().row())
