"""What was agreed in a session is edited: its sub-context, its snapshots, and whose summaries are referred to."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from inspector.msp.objects import Session, Subsession
from inspector.msp.references import references_of
from inspector.present.wire_text import plain
from inspector.ui.msp.panel.words import label_of

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.msp.view import MspView
    from inspector.ui.services import SettingsOwner

_MOST_OFFERED = 60
NOTHING_TO_REFER = "No sub-session beside it was closed with a summary"


class MspAgreeing(QObject):
    """Asks what is to be agreed, and has it edited."""

    def __init__(
        self, window: QWidget, themes: ThemeController, services: SettingsOwner, view: MspView,
        document: Callable[[], SessionDocument | None], do: Callable[[Callable[[], object]], bool],
    ) -> None:  # fmt: skip
        """Ask nothing yet.

        Args:
            window: dialogs are modal to it.
            themes: give the look.
            services: hold the rules, by which a snapshot's stretch ends.
            view: shows the sub-session all of it is about.
            document: gives the sessions.
            do: makes an edit, as a step that can be undone.
        """
        super().__init__(window)
        self._window = window
        self._themes = themes
        self._services = services
        self._view = view
        self._document = document
        self._do = do

    @property
    def session(self) -> Session | None:
        """The session of the sub-session shown, else the first one."""
        document, sub = self._document(), self._view.sub
        if sub is not None and sub.session is not None:
            return sub.session
        return document.sessions[0] if document is not None and document.sessions else None

    def edit_sub_context(self) -> None:
        """Ask for what was agreed in the session."""
        session = self.session
        if session is None:
            return
        from inspector.ui.msp.agreement_dialogs import SubContextDialog

        key = session.key
        dialog = SubContextDialog(self._themes, session, self._window)
        dialog.chosen.connect(lambda changes: self._edit(key, lambda doc, one: doc.set_sub_context(one, **changes)))
        dialog.open()

    def edit_snapshots(self) -> None:
        """Ask for a snapshot of the session: a new one, or another text of one there is."""
        session = self.session
        if session is None:
            return
        from inspector.ui.msp.agreement_dialogs import SnapshotsDialog

        key, snapshots = session.key, session.snapshots
        half_open = self._services.settings.merged.half_open
        dialog = SnapshotsDialog(self._themes, session, half_open=half_open, parent=self._window)

        def change(number: int, text: str | None, covers: tuple[int, int] | None) -> None:
            if number < 0:
                self._edit(key, lambda doc, one: doc.add_snapshot(one, text or "", covers))
            else:
                self._edit(key, lambda doc, one: doc.change_snapshot(one, snapshots[number], text, covers))

        dialog.chosen.connect(change)
        dialog.delete_requested.connect(
            lambda number: self._edit(key, lambda doc, one: doc.delete_snapshot(one, snapshots[number]))
        )
        dialog.open()

    def _edit(self, key: str, edit: Callable[[SessionDocument, Session], object]) -> None:
        """Edit a session that is still there when the dialog is done."""
        document = self._document()
        session = None if document is None else document.session(key)
        if document is not None and session is not None:
            self._do(lambda: edit(document, session))

    def choose_summaries(self, beside: QWidget | None = None) -> QMenu | None:
        """Offer the summaries of the sub-sessions beside the one shown, as switches; below a widget, else here."""
        document, sub = self._document(), self._view.sub
        if document is None or sub is None or not sub.is_open:
            return None
        menu = QMenu(self._window)
        menu.setObjectName("summariesMenu")
        menu.setAccessibleName("Summaries it refers to")
        references = references_of(sub)
        named = {one.name for one in references}
        for one in references[:_MOST_OFFERED]:  # what it refers to can be taken back, whether there is such or not
            words = plain(one.label, 60) if one.other is not None else f"{plain(one.name, 60)} (not beside it)"
            self._offer(menu, sub, one.name, words, on=True)
        beside_it = sub.parent.children if sub.parent is not None else []
        closed = (one for one in beside_it if one.summary and not one.is_open and one.id not in named)
        for other in islice(closed, _MOST_OFFERED):
            if document.why_not_refer(sub, other) is None:
                self._offer(menu, sub, other.id, label_of(other), on=False)
        if menu.isEmpty():
            menu.addAction(NOTHING_TO_REFER).setEnabled(False)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(QCursor.pos() if beside is None else beside.mapToGlobal(beside.rect().bottomLeft()))
        return menu

    def _offer(self, menu: QMenu, sub: Subsession, name: str, words: str, *, on: bool) -> None:
        action = menu.addAction(words.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(on)
        key = sub.key
        action.triggered.connect(lambda on: self._switch(key, name, on=on))

    def _switch(self, key: str, name: str, *, on: bool) -> None:
        document = self._document()
        sub = None if document is None else document.subsession(key)
        if document is None or sub is None:
            return
        other = next((one for one in sub.parent.children if one.id == name), None) if sub.parent is not None else None
        if on and other is not None:
            self._do(lambda: document.refer(sub, other))
        elif not on:
            self._do(lambda: document.withdraw(sub, name))
