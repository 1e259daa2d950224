"""Requests of the sections of the details to the panel."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.present.pages.content import FORMATTED, TEXT
from inspector.ui.input.keys import KeyWords
from inspector.ui.panels.details.pictures import Pictures


class Links(QObject):
    """Requests of sections to the panel.

    Attributes:
        pictures: decodes the pictures of messages.
        key_of: returns the key of an action id as text, or "".
        formatted: Markdown is shown formatted; the user can change it.
        choices: further choices of the user, by the name of the switch.

    Signals:
        message_requested(int): show this message.
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        column_requested(str): add a field as a column of the table.
        scope_requested(int): bind the table to the context that this message opened or belongs to.
        save_requested(int): write this message's bytes to a file.
        place_requested(Place): show this context or participant.
        context_scope_requested(ContextPlace | None): bind the table to this context; None clears the scope.
        chain_requested(int): show only the causal chain of this message in the table.
        code_requested(str): show all findings of a code.
        mark_requested(Target), comment_requested(Target): mark or unmark a target; edit its comment.
        formatted_chosen(bool): the user chose formatted text, or plain text.
        tab_requested(str): switch to a tab.
        sees_requested(object): show the model context of a participant: (string id of the space, name).
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    scope_requested = Signal(int)
    save_requested = Signal(int)
    place_requested = Signal(object)
    context_scope_requested = Signal(object)
    chain_requested = Signal(int)
    sees_requested = Signal(object)
    code_requested = Signal(str)
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    formatted_chosen = Signal(bool)
    tab_requested = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pictures = Pictures(self)
        self.key_of: KeyWords = lambda _name: ""
        self.formatted = True
        self.choices: dict[str, str] = {}

    def remember_choice(self, choice: str) -> None:
        """Remembers the user's choice between Formatted and Text for later messages."""
        if choice in (FORMATTED, TEXT) and self.formatted != (choice == FORMATTED):
            self.formatted = choice == FORMATTED
            self.formatted_chosen.emit(self.formatted)
