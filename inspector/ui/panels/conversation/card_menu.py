"""The menu of a card, and the text that it copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from inspector.engine.requests.conversation import MOST_COPIED, CopyCards
from inspector.present.conversation.cards import CardKind
from inspector.present.conversation.outline import Outline
from inspector.ui.panels.conversation.view import UNOPENABLE, ConversationView
from inspector.ui.widgets.latest_answer import Client

if TYPE_CHECKING:
    from inspector.ui.panels.conversation.panel import ConversationPanel

_FOLDS = (CardKind.FOLD, CardKind.RECORDS, CardKind.INHERITED)


def popup_card_menu(panel: ConversationPanel, outline: Outline, row: int, at: QPoint) -> None:
    """Shows the menu of a card at a position on the screen."""
    menu = QMenu(panel)
    menu.setObjectName("conversationMenu")
    menu.setAccessibleName("Card")
    kind, message = panel.model.key(row)
    opened, result = int(outline.opens[row]), int(outline.lasts[row])

    def add(name: str, title: str, do: Callable[[], object]) -> None:
        action = menu.addAction(title)
        action.setObjectName(name)
        action.triggered.connect(lambda *_checked: do())

    if kind not in UNOPENABLE:
        add("conversation.open", "Open or close", lambda: panel.open_row(row))
    add("conversation.details", "Open in details", lambda: panel.details_requested.emit(message))
    if kind == CardKind.AGENT and opened >= 0:
        add("conversation.scope", "Show only this agent", lambda: panel.scope_requested.emit(message, opened))
    panel.menu_opening.emit(menu, message)
    menu.addSeparator()
    copied = "Copy selected text" if panel.view.has_selected_text else "Copy as Markdown"
    add("conversation.copy", copied, lambda: panel.copy(row))
    if kind not in _FOLDS:
        add("conversation.json", "Copy as JSON", lambda: panel.json_requested.emit(message))
    if kind in (CardKind.CALL, CardKind.AGENT) and result >= 0:
        add("conversation.result_json", "Copy result as JSON", lambda: panel.json_requested.emit(result))
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)


def copy_cards(client: Client, view: ConversationView, outline: Outline, row: int) -> None:
    """Copies the selected text with the cards in it as Markdown, else a card."""
    if not view.has_selected_text and row < 0:
        return
    before, rows, after = view.selected_parts() or ("", range(row, row + 1), "")

    def put(cards: str) -> None:
        parts = (before, cards.strip("\n"), after)
        QGuiApplication.clipboard().setText("\n\n".join(part for part in parts if part.strip()))

    if rows:
        client.send_request(CopyCards(outline.refs(rows.start, rows.stop)[:MOST_COPIED]), put)
    else:
        put("")
