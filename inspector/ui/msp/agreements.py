"""Edits a session's agreements: sub-context, snapshots and references to summaries."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from inspector.msp.objects import Session, Subsession
from inspector.msp.references import references_of
from inspector.present.wire_text import safe_line
from inspector.ui.msp.panel.texts import label_of

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.msp.view import MspView
    from inspector.ui.services import SettingsOwner

_MAX_OFFERED = 60
NOTHING_TO_REFER = "No sibling sub-session has a summary"


class MspAgreeing(QObject):
    """Asks for changes of the sub-context, snapshots and references, and applies them."""

    def __init__(
        self, window: QWidget, themes: ThemeController, services: SettingsOwner, view: MspView,
        document: Callable[[], SessionDocument | None], do: Callable[[Callable[[], object]], bool],
    ) -> None:  # fmt: skip
        """Creates the feature.

        Args:
            window: parent of modal dialogs.
            themes: give the look.
            services: contain the rules, including the end of a snapshot's range.
            view: shows the sub-session to edit.
            document: returns the sessions.
            do: applies an edit as an undo step.
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
        """The session of the displayed sub-session, else the first one."""
        document, sub = self._document(), self._view.sub
        if sub is not None and sub.session is not None:
            return sub.session
        return document.sessions[0] if document is not None and document.sessions else None

    def edit_sub_context(self) -> None:
        """Opens the dialog for the sub-context of the session."""
        session = self.session
        if session is None:
            return
        from inspector.ui.msp.agreement_dialogs import SubContextDialog

        key = session.key
        dialog = SubContextDialog(self._themes, session, self._window)
        dialog.chosen.connect(lambda changes: self._edit(key, lambda doc, one: doc.set_sub_context(one, **changes)))
        dialog.open()

    def edit_snapshots(self) -> None:
        """Opens the dialog for the snapshots of the session."""
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
        """Applies an edit if the session still exists after the dialog."""
        document = self._document()
        session = None if document is None else document.session(key)
        if document is not None and session is not None:
            self._do(lambda: edit(document, session))

    def choose_summaries(self, beside: QWidget | None = None) -> QMenu | None:
        """Opens a menu of sibling summaries to refer to, below `beside` or at the pointer."""
        document, sub = self._document(), self._view.sub
        if document is None or sub is None or not sub.is_open:
            return None
        menu = QMenu(self._window)
        menu.setObjectName("summariesMenu")
        menu.setAccessibleName("Referenced summaries")
        references = references_of(sub)
        named = {one.name for one in references}
        for one in references[:_MAX_OFFERED]:  # references can be withdrawn even if their sub-session is missing
            words = safe_line(one.label, 60) if one.other is not None else f"{safe_line(one.name, 60)} (not a sibling)"
            self._offer(menu, sub, one.name, words, on=True)
        beside_it = sub.parent.children if sub.parent is not None else []
        closed = (one for one in beside_it if one.summary and not one.is_open and one.id not in named)
        for other in islice(closed, _MAX_OFFERED):
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
            self._do(lambda: document.refer_summary(sub, other))
        elif not on:
            self._do(lambda: document.withdraw_summary(sub, name))
