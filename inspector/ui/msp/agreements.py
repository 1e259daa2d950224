"""Edits a session's agreements: sub-context, snapshots and references to summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.msp_edits import (
    DeleteSnapshot,
    EditOutcome,
    OfferedSummary,
    OfferSummaries,
    ReadAgreements,
    ReferSummary,
    SessionAgreements,
    SetSubContext,
    WriteSnapshot,
)

if TYPE_CHECKING:
    from inspector.engine.request import Request
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.msp.view import MspView
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.latest_answer import Client

NOTHING_TO_REFER = "No sibling sub-session has a summary"


class MspAgreeing(QObject):
    """Asks for changes of the sub-context, snapshots and references, and applies them."""

    def __init__(
        self, window: QWidget, themes: ThemeController, services: SettingsOwner, view: MspView,
        client: Callable[[], Client | None], do: Callable[[Request[EditOutcome]], object],
    ) -> None:  # fmt: skip
        """Creates the feature.

        Args:
            window: parent of modal dialogs.
            themes: give the look.
            services: contain the rules, including the end of a snapshot's range.
            view: shows the sub-session to edit.
            client: returns the client of the sessions, if there are any.
            do: applies an edit as an undo step.
        """
        super().__init__(window)
        self._window = window
        self._themes = themes
        self._services = services
        self._view = view
        self._client = client
        self._do = do

    @property
    def _session(self) -> SessionAgreements | None:
        """The session of the displayed sub-session, else the first one."""
        client, sub = self._client(), self._view.sub
        try:
            return None if client is None else client.answer_now(ReadAgreements("" if sub is None else sub.key))
        except RequestError:
            return None

    def edit_sub_context(self) -> None:
        """Opens the dialog for the sub-context of the session."""
        session = self._session
        if session is None:
            return
        from inspector.ui.msp.agreement_dialogs import SubContextDialog

        dialog = SubContextDialog(self._themes, session, self._window)
        dialog.chosen.connect(lambda changes: self._do(SetSubContext(session.key, **changes)))
        dialog.open()

    def edit_snapshots(self) -> None:
        """Opens the dialog for the snapshots of the session."""
        session = self._session
        if session is None:
            return
        from inspector.ui.msp.agreement_dialogs import SnapshotsDialog

        half_open = self._services.settings.merged.half_open
        dialog = SnapshotsDialog(self._themes, session, half_open=half_open, parent=self._window)
        dialog.chosen.connect(
            lambda number, text, covers: self._do(WriteSnapshot(session.key, number, text, covers))
        )  # fmt: skip
        dialog.delete_requested.connect(lambda number: self._do(DeleteSnapshot(session.key, number)))
        dialog.open()

    def choose_summaries(self, beside: QWidget | None = None) -> QMenu | None:
        """Opens a menu of sibling summaries to refer to, below `beside` or at the pointer."""
        client, sub = self._client(), self._view.sub
        if client is None or sub is None or not sub.is_open:
            return None
        try:
            offered = client.answer_now(OfferSummaries(sub.key))
        except RequestError:
            return None
        menu = QMenu(self._window)
        menu.setObjectName("summariesMenu")
        menu.setAccessibleName("Referenced summaries")
        for one in offered:
            self._offer(menu, sub.key, one)
        if menu.isEmpty():
            menu.addAction(NOTHING_TO_REFER).setEnabled(False)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(QCursor.pos() if beside is None else beside.mapToGlobal(beside.rect().bottomLeft()))
        return menu

    def _offer(self, menu: QMenu, key: str, offered: OfferedSummary) -> None:
        action = menu.addAction(offered.label.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(offered.included)
        action.triggered.connect(lambda on: self._do(ReferSummary(key, offered.name, on)))
