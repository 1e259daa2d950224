"""Compares two turns of a document: one is selected, another one is compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu, QWidget

from inspector.ui.docview.panes import Panes
from inspector.ui.docview.window_content import Shown
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.notice import NoticeStack

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.ui.panels.conversation.panel import ConversationPanel
    from inspector.ui.panels.steps.panel import StepsPanel

HOW = "Select a turn for comparison first, then another turn."
NO_TURN = "The selected message is in no turn. Select a message after the first prompt."
NO_PREVIOUS = "Turn 1 has no previous turn."
SELECT, COMPARE = "Select for comparison", "Compare with selected turn"
COMPARE_PREVIOUS = "Compare with previous turn"


class TurnComparing(QObject):
    """Keeps the selected turn of one window's document, and opens comparisons with it."""

    def __init__(self, themes: ThemeController, shown: Shown, notices: NoticeStack, parent: QWidget) -> None:
        """Stores its collaborators.

        Args:
            themes: gives the look.
            shown: the document and its panes.
            notices: shows the next step of the user.
            parent: owner of menus and dialogs.
        """
        super().__init__(parent)
        self._themes, self._shown, self._notices, self._parent = themes, shown, notices, parent
        self._selected: int | None = None
        self._turn = -1

    def attach(self, panes: Panes) -> None:
        self._selected, self._turn = None, -1
        panes.when_made("conversation", self._attach_conversation)
        panes.when_made("steps", self._attach_steps)

    def _attach_conversation(self, panel: ConversationPanel) -> None:
        side = panel.side

        def show(number: int, at: QPoint) -> None:
            if side.turns_model.turns is not None:
                self._show_menu(int(side.turns_model.turns.messages[number]), at)

        side.turns_view.menu_asked.connect(show)

    def _attach_steps(self, panel: StepsPanel) -> None:
        panel.menu_asked.connect(self._show_menu)

    def _show_menu(self, message: int, at: QPoint) -> None:
        menu = QMenu(self._parent)
        menu.setObjectName("turnMenu")
        menu.setAccessibleName("Turn")
        previous = menu.addAction(COMPARE_PREVIOUS)
        previous.triggered.connect(lambda *_checked: self.compare_with_previous(message))
        menu.addAction(SELECT).triggered.connect(lambda *_checked: self.select(message))
        title = COMPARE if self._selected is None else f"Compare with turn {self._turn + 1}"
        compare = menu.addAction(title)
        compare.triggered.connect(lambda *_checked: self.compare(message))
        compare.setEnabled(self._selected is not None)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def select(self, message: int | None = None) -> None:
        """Selects the turn of a message, by default of the selected one."""
        panes = self._shown.panes
        chosen = self._message(message)
        if panes is None or chosen is None:
            self._notices.show_sentence(NO_TURN)
            return

        def take(turn: int) -> None:
            if turn < 0:
                self._notices.show_sentence(NO_TURN)
                return
            self._selected, self._turn = chosen, turn
            self._notices.show_sentence(
                f"Turn {turn + 1} is selected for comparison. Select another turn, then choose {COMPARE}.", lasting=True
            )

        self._find_turn(panes, chosen, take)

    def compare(self, message: int | None = None) -> None:
        """Compares the selected turn with that of a message, by default of the selected one."""
        panes, chosen, selected = self._shown.panes, self._message(message), self._selected
        if panes is None or chosen is None or selected is None:
            self._notices.show_sentence(HOW)
            return

        def take(turn: int) -> None:
            if turn in (-1, self._turn):
                self._notices.show_sentence(NO_TURN if turn < 0 else HOW)
                return
            self._open(panes, (selected, chosen) if self._turn < turn else (chosen, selected))

        self._find_turn(panes, chosen, take)

    def compare_with_previous(self, message: int) -> None:
        """Compares the turn of a message with the turn before it."""
        from inspector.engine.requests.turns import ListTurns  # imported with the first document

        panes = self._shown.panes
        if panes is None:
            return

        def take(turn: int) -> None:
            if turn < 1:
                self._notices.show_sentence(NO_TURN if turn < 0 else NO_PREVIOUS)
                return
            panes.client.send_request(
                ListTurns(), lambda turns: self._open(panes, (int(turns.messages[turn - 1]), message)),
                self._notices.show_sentence,
            )  # fmt: skip

        self._find_turn(panes, message, take)

    def _find_turn(self, panes: Panes, message: int, then: Callable[[int], object]) -> None:
        from inspector.engine.requests.turn_comparisons import TurnOfMessage  # imported with the first document

        def take(turn: int) -> None:
            if self._shown.panes is panes:
                then(turn)

        panes.client.send_request(TurnOfMessage(message), take, self._notices.show_sentence)

    def _open(self, panes: Panes, messages: tuple[int, int]) -> None:
        from inspector.ui.panels.conversation.turn_comparison import TurnComparisonDialog

        dialog = TurnComparisonDialog(self._themes, panes.client, messages, self._parent)
        dialog.message_requested.connect(panes.go_to)
        dialog.open()

    def _message(self, message: int | None) -> int | None:
        panes = self._shown.panes
        return message if message is not None or panes is None else panes.messages.current_message()
