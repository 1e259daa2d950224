"""Named connections and recent entries of a window: join, save, edit and remove.

`inspector.settings.credentials` stores tokens and the settings store the connections. This module connects both to the
start page, the File menu and the dialogs.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.engine.requests.gateways import AddressError, Connection, Secret, new_participant, normal_url
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.settings.credentials import KeyringError, account_name
from inspector.ui import intervals
from inspector.ui.dialogs.message_dialog import CANCEL, MessageDialog

if TYPE_CHECKING:
    from inspector.ui.dialogs.connect import ConnectDialog
    from inspector.ui.dialogs.connections import ConnectionsDialog
    from inspector.ui.dialogs.save_fields import ConnectionSave
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

WAITING = "Waiting for the system keyring. It may ask for its password in a separate window."
NEW_NAME = "New connection"
_TOKEN_LOST = "The program that joined has ended, and its token was not stored. Enter it again."


class Connections(QObject):
    """Handles saved connections and recent entries in one window."""

    def __init__(self, parent: QWidget, services: Services, *, gateway: GatewayWatch, notices: NoticeStack) -> None:
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            services: connections, keyring and background tasks.
            gateway: joins gateways and shows the connect dialog.
            notices: shows waiting and errors.
        """
        super().__init__(parent)
        self._parent, self._services, self._gateway, self._notices = parent, services, gateway, notices
        self._reading: asyncio.Task[None] | None = None
        self._notice_timer: asyncio.TimerHandle | None = None

    # Joining

    def join(self, chosen: ConnectionSettings) -> None:
        """Connects to a gateway again: at once if everything is known, else after a dialog."""
        if not isinstance(chosen, NamedConnection) or chosen.token == "ask" or not chosen.space:
            self.ask_for(chosen)
        elif chosen.token == "keyring":
            self.stop_waiting()
            # the notice appears only if the keyring does not answer soon
            self._notice_timer = asyncio.get_running_loop().call_later(intervals.QUIET_S, self._show_waiting, chosen)
            self._reading = self._services.spawn(self._join_with_token(chosen), f"read the token of {chosen.id}")
        else:
            self._watch(chosen)

    def join_again(self, lost: ConnectionSettings) -> None:
        """Connects to a gateway whose token was lost with an earlier run of the program."""
        known = self._services.settings.named_connection(lost)
        if known is not None and known.token == "keyring":
            self.join(known)
        else:
            self.ask_for(known or lost, _TOKEN_LOST)

    def ask_for(self, chosen: ConnectionSettings, trouble: str = "") -> ConnectDialog:
        """Shows the connect dialog filled with a connection.

        Args:
            chosen: a saved or recent connection.
            trouble: reason why its token is unavailable.
        """
        dialog = self._gateway.ask_for_gateway(recent=chosen)
        if trouble:
            dialog.say_trouble(trouble)
        return dialog

    async def _join_with_token(self, chosen: NamedConnection) -> None:
        try:
            token = await self._services.tokens.read_token(account_name(chosen))
        except KeyringError as error:
            self._end_waiting()
            self.ask_for(chosen, str(error))
        else:
            self._end_waiting()
            self._watch(chosen, token)

    def _show_waiting(self, chosen: NamedConnection) -> None:
        links = [("Type the token", lambda: self._type_instead(chosen)), ("Cancel", self.stop_waiting)]
        self._notices.show_notice("keyring", "note", WAITING, links)

    def _type_instead(self, chosen: NamedConnection) -> None:
        self.stop_waiting()
        self.ask_for(chosen)

    def _end_waiting(self) -> None:
        if self._notice_timer is not None:
            self._notice_timer.cancel()
            self._notice_timer = None
            self._notices.dismiss("keyring")

    def stop_waiting(self) -> None:
        """Stops waiting for the keyring and drops its answer. Also called when the window closes."""
        self._end_waiting()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _watch(self, chosen: NamedConnection, token: Secret | None = None) -> None:
        try:
            connection = Connection(
                url=normal_url(chosen.url),
                space=chosen.space,
                participant=chosen.participant or new_participant(),
                token=token or Secret(),
                answer_tools_list=chosen.answer_tools_list,
            )
        except AddressError:  # settings edited by hand; the dialog shows the error
            self.ask_for(chosen)
            return
        self._gateway.free().watch(connection, remember=True)

    # Saving

    def keep(self, save: ConnectionSave) -> None:
        """Saves a connection: settings at once, the token in the background."""
        self._services.settings.keep_connection(save.connection)
        self.changed()
        before = save.before
        old = account_name(before) if before is not None and before.token == "keyring" else ""
        new = account_name(save.connection) if save.connection.token == "keyring" else ""
        # an unchanged token needs no access to the keyring, which may ask for a password
        if save.token or (old and old != new):
            self._services.spawn(self._save_token(save, old, new), f"keep the token of {save.connection.id}")

    async def _save_token(self, save: ConnectionSave, old: str, new: str) -> None:
        tokens = self._services.tokens
        try:
            if new and save.token:
                await tokens.store_token(new, save.token)
        except KeyringError as error:
            if old == new:  # the old token stays in the keyring and must not be deleted there
                then = "The keyring still has the old token."
            else:
                then = "The token is asked for each time."
                save.connection.token = "ask"
                self._services.settings.keep_connection(save.connection)
                self.changed()
            self._show_result(f"Saved {save.connection.name}. {error} {then}")
        if old and old != new:
            await self._remove_token(old)

    async def _remove_token(self, name: str) -> None:
        try:
            await self._services.tokens.delete_token(name)
        except KeyringError as error:
            self._show_result(str(error))

    def _show_result(self, sentence: str) -> None:
        """Shows the result in any open window. The keyring may outlast this one."""
        notices = self._services.notices_of(self._notices)
        if notices is not None:
            # a separate notice, since the gateway may use the window's own line at the same time
            notices.show_notice("keyringTrouble", "warning", sentence, [], token="severity.warning", closable=True)

    def edit(self, chosen: NamedConnection, parent: QWidget | None = None) -> ConnectDialog:
        """Shows the dialog that edits a saved connection: name, address, token."""
        dialog = self._gateway.connect_dialog(editing=chosen, parent=parent)
        dialog.open()
        return dialog

    def new(self, parent: QWidget | None = None) -> ConnectDialog:
        """Shows the dialog for a new saved connection."""
        from inspector.ui.dialogs.connect import DEFAULT_ADDRESS

        return self.edit(NamedConnection(name=NEW_NAME, url=DEFAULT_ADDRESS), parent)

    def rename(self, chosen: NamedConnection, name: str) -> None:
        """Renames a saved connection. Its token stays in place."""
        self._services.settings.keep_connection(chosen.model_copy(update={"name": name}))
        self.changed()

    def ask_to_delete(self, chosen: NamedConnection, parent: QWidget | None = None) -> MessageDialog:
        """Deletes a saved connection after a question, because its token in the keyring is lost."""
        text = (
            "Its token is removed from the system keyring."
            if chosen.token == "keyring"
            else "No token is saved for it."
        )
        dialog = MessageDialog.show_question(
            parent or self._parent, self._services.theme, f"Delete the connection {chosen.name}?", text,
            [(CANCEL, "Cancel"), ("delete", "Delete")],
        )  # fmt: skip
        dialog.answered.connect(lambda answer: self._delete(chosen) if answer == "delete" else None)
        return dialog

    def _delete(self, chosen: NamedConnection) -> None:
        self._services.settings.remove_connection(chosen.id)
        self.changed()
        if chosen.token == "keyring":
            self._services.spawn(self._remove_token(account_name(chosen)), f"remove the token of {chosen.id}")

    def manage(self) -> ConnectionsDialog:
        """Shows the dialog of all saved connections."""
        from inspector.ui.dialogs.connections import ConnectionsDialog

        dialog = ConnectionsDialog(self._services.theme, self._services.settings, self._parent)
        dialog.join_requested.connect(self.join)
        dialog.new_requested.connect(lambda: self.new(dialog).finished.connect(dialog.refresh))
        dialog.edit_requested.connect(lambda chosen: self.edit(chosen, dialog).finished.connect(dialog.refresh))
        dialog.delete_requested.connect(
            lambda chosen: self.ask_to_delete(chosen, dialog).answered.connect(dialog.refresh)
        )
        dialog.renamed.connect(self.rename)
        dialog.moved.connect(self.changed)
        dialog.open()
        return dialog

    # Recent

    def forget_recent(self, what: ConnectionSettings | str) -> None:
        """Removes one file (its path) or one connection from the recent entries."""
        settings = self._services.settings
        if isinstance(what, str):
            settings.forget_files(what)
        else:
            settings.recent_connections = [recent for recent in settings.recent_connections if recent != what]
        self.changed()

    def clear_recent(self) -> None:
        """Removes all recent files and connections. Named connections stay."""
        self._services.settings.forget_files()
        self._services.settings.recent_connections.clear()
        self.changed()

    def changed(self) -> None:
        """Saves the lists and refreshes every start page."""
        self._services.save_settings()
        self._services.show_recents()
