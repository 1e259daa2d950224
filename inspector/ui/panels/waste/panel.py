"""The waste panel: head, list and context menu."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.waste import Waste, WasteFigures
from inspector.present import formats
from inspector.settings import Settings
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel, ShownMessages
from inspector.ui.panels.waste.rows import WasteRows, filter_for, waste_line
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import LatestAnswer
from inspector.ui.widgets.rows.heads import RowHeads
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_MAX_GO_ACTIONS = 5


class WasteMenu(QMenu):
    """Context menu of a row.

    Signals:
        message_chosen(int): go to this message.
        filter_chosen(str, str): an expression and its way of joining the active filter (`filter_menu.FilterMode`).
    """

    message_chosen = Signal(int)
    filter_chosen = Signal(str, str)

    def __init__(self, one: Waste, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wasteMenu")
        self.setAccessibleName("Waste")
        line = waste_line(one)
        for row in one.messages[:_MAX_GO_ACTIONS]:
            self._add(f"go.{row}", f"Go to {formats.message_number(row)}", row)
        self.addSeparator()
        add_filter_actions(self, filter_for([one]), self.filter_chosen.emit)
        self.addSeparator()
        self._add("copy", "Copy row", line.copied).setIcon(icons.icon("copy"))
        self._add("copy.sentence", "Copy sentence", line.sentence)
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, data: int | str) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(data)
        return action

    def _on_triggered(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, int):
            self.message_chosen.emit(data)
        elif isinstance(data, str):
            QGuiApplication.clipboard().setText(data)


NOTHING = "No avoidable tokens found."
COUNTING = "Tokens are being counted."
NOT_COUNTED = "Token counting is off. Turn it on in Settings > Display."
LOOKING = "Looking for avoidable tokens."
EMPTY = "There are no messages yet."
NONE_SURE = "No case is certain. The menu above lists the likely ones."


class WastePanel(ListPanel):
    """Avoidable tokens in the context windows of one document.

    Attributes:
        head, heads, view, rows, model: its parts.
    """

    def __init__(
        self,
        theme_controller: ThemeController,
        rows: ShownMessages,
        latest: LatestAnswer[WasteFigures],
        parent: QWidget | None = None,
    ) -> None:
        """Creates the panel.

        Args:
            theme_controller: gives the look.
            rows: the messages that the table shows.
            latest: the figures, shared with other views.
            parent: owner.
        """
        super().__init__(rows, "Waste", parent)
        self._counting = True
        self._latest = latest
        latest.answered.connect(self._list)
        latest.updating_changed.connect(self.update_texts)
        self.rows = WasteRows(rows)
        self.model = RowsModel(self.rows, self)
        self.head = ListHead(theme_controller, "Waste", name="waste", parent=self)
        self.view = RowsView(self.model, theme_controller, name="wasteList", title="Waste", parent=self)
        self.heads = RowHeads(self.view, theme_controller, self, name="wasteHeads")
        self._fill_menu()
        self._connect()
        self._list()

    def _fill_menu(self) -> None:
        menu = self.head.menu
        self._sure_only = QAction("Certain cases only", self)
        self._sure_only.setObjectName("sureOnly")
        self._sure_only.setCheckable(True)
        self._sure_only.toggled.connect(self._list)
        self._filter = QAction("Filter by these messages", self)
        self._filter.setObjectName("filterWaste")
        self._filter.triggered.connect(self._filter_all)
        for action in (self._sure_only, self._filter):
            menu.addAction(action)

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(1, self.heads)

    # Calls of the window

    def apply_view(self) -> None:
        """Updates the rows after a change of the filter."""
        self.model.renew()

    def apply_settings(self, settings: Settings) -> None:
        """Applies the setting for counting tokens."""
        self._counting = settings.display.count_tokens
        self.update_texts()

    def stop(self) -> None:
        """Stops the search."""
        self._latest.stop()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.update_texts()

    def _list(self) -> None:
        wastes = self._latest.answer.wastes if self._latest.answer is not None else ()
        sure_only = self._sure_only.isChecked()
        with self.model.changing():
            self.rows.replace_rows([one for one in wastes if one.sure or not sure_only])

    @override
    def update_texts(self) -> None:
        found, listed = self._latest.answer, self.rows.wastes
        self.head.count_things(len(listed), "case")
        self.head.show_hint(found.words if found is not None else "", "")
        self.heads.setVisible(bool(listed))
        self._filter.setEnabled(bool(listed))
        self.view.set_empty_text("" if listed else self._empty_words())

    def _empty_words(self) -> str:
        found = self._latest.answer
        if found is not None and not found.messages:
            return EMPTY
        if found is not None and found.totals is not None:
            return NONE_SURE if found.wastes else NOTHING
        return LOOKING if self._latest.is_pending else COUNTING if self._counting else NOT_COUNTED

    # User input

    def _filter_all(self) -> None:
        self.filter_requested.emit(filter_for(self.rows.wastes), "replace")

    @override
    def menu_for(self, row: int) -> WasteMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = WasteMenu(self.rows.wastes[row], self)
        menu.message_chosen.connect(self.message_requested)
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu
