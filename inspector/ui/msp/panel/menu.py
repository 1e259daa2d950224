"""The context menu of a message in a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.present.wire_text import plain
from inspector.protocol.payloads.content import pretty_json
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.ui.look import icons

if TYPE_CHECKING:
    from inspector.msp.objects import Message

MAKE_GLOBAL, TAKE_BACK = "Make global", "Make it the sub-session's own again"
_MOST_LINKS = 5


class MessageMenu(QMenu):
    """What can be done with a message.

    Signals:
        global_chosen(): make it global, or take that back.
        whole_chosen(): show all of it.
        table_chosen(): show it in the table.
        link_chosen(str): an address.
    """

    global_chosen = Signal()
    whole_chosen = Signal()
    table_chosen = Signal()
    link_chosen = Signal(str)

    def __init__(
        self, message: Message, *, own: bool, editable: bool, cut: bool, links: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Make the menu.

        Args:
            message: what it is about.
            own: of the sub-session, not of its parent.
            editable: whether the document can be changed.
            cut: only its beginning is shown.
            links: addresses in it.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("chatMessageMenu")
        self.setAccessibleName("Message")
        if own:
            words = TAKE_BACK if message.visibility == "global" else MAKE_GLOBAL
            toggle = self.addAction(f"{words}\tG")
            toggle.setObjectName("chat.global")
            toggle.setEnabled(editable)
            toggle.setIcon(icons.icon("global"))
            toggle.triggered.connect(lambda: self.global_chosen.emit())
            self.addSeparator()
        if cut:
            whole = self.addAction("Show all of it")
            whole.setObjectName("chat.whole")
            whole.triggered.connect(lambda: self.whole_chosen.emit())
        table = self.addAction("Show in the table")
        table.setObjectName("chat.table")
        table.triggered.connect(lambda: self.table_chosen.emit())
        for address in links[:_MOST_LINKS]:
            link = self.addAction(f"Open {plain(address, 60)}...".replace("&", "&&"))
            link.setObjectName("chat.link")
            link.triggered.connect(lambda _=False, address=address: self.link_chosen.emit(address))
        self.addSeparator()
        text = self.addAction(icons.icon("copy"), "Copy text")
        text.setObjectName("chat.copyText")
        text.triggered.connect(lambda: copy_text(message))
        as_json = self.addAction("Copy as JSON")
        as_json.setObjectName("chat.copyJson")
        as_json.triggered.connect(lambda: copy_json(message))


def copy_text(message: Message) -> None:
    """Copy what a message says, secrets masked."""
    QGuiApplication.clipboard().setText(mask_text(message.content))


def copy_json(message: Message) -> None:
    """Copy a message as it stands in the document, secrets masked."""
    QGuiApplication.clipboard().setText(pretty_json(mask_secrets(message.data)))
