"""Fields of the connect dialog that save a connection: name, and token in the keyring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.engine.requests.gateways import Connection, Secret
from inspector.settings import ConnectionSettings, NamedConnection, TokenPlace
from inspector.settings.credentials import gateway_of
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, FieldColumn, Form

NAME_HELP = "Listed in the File menu and on the start page."
NOT_ALL_HELP = "Saved without the parts of the address that may be secret: user name and query."
KEEP_TITLE = "Save the token in the system keyring"
KEEP_UNNAMED = "Requires a name. Without one, only address and space are saved."
KEEP_HELP = "If off, you are asked for the token each time."
LOOKING = "Checking the system keyring..."
NO_NAME = "Enter a name."


@dataclass(frozen=True)
class ConnectionSave:
    """A connection to save."""

    connection: NamedConnection
    """The new version."""
    before: NamedConnection | None
    """The old version; None for a new connection."""
    token: Secret
    """Token for the keyring if `connection.token` requests it; empty keeps the stored one."""


class KeepFields(QWidget):
    """A name field and a check box. The widget stays hidden; its rows are in the dialog's form.

    Attributes:
        name: the field for the name.
        keep: the check box; checked only if the token will be in the keyring.

    Signals:
        edited: the user changed the name or the box.
    """

    edited = Signal()

    def __init__(
        self, theme_controller: ThemeController, connections: Sequence[NamedConnection], parent: QWidget
    ) -> None:
        """Creates the rows.

        Args:
            theme_controller: gives the look.
            connections: the saved connections, whose names are taken.
            parent: the owner.
        """
        super().__init__(parent)
        self.hide()
        self._all = list(connections)
        self.before: NamedConnection | None = None
        self._wanted = True
        self._trouble: str | None = None
        self.name = QLineEdit(parent)
        self.name.setObjectName("connectName")
        self.name.setAccessibleName("Save as")
        self.name.setPlaceholderText("Optional name")
        self._name_row = FieldColumn(self.name, name="connectNameHelp", help_text=NAME_HELP, parent=parent)
        self.keep = CheckField(KEEP_TITLE, KEEP_UNNAMED, name="connectKeep", parent=parent)
        self.name.textEdited.connect(self._on_name_edited)
        self.keep.toggled.connect(self._on_toggled)
        self.refresh()

    def add_to(self, form: Form) -> None:
        """Adds the rows to the end of a form."""
        form.add_field("Save as", self._name_row, self.name)
        form.add_wide(self.keep)

    def show_connection(self, connection: ConnectionSettings) -> None:
        """Shows a saved or recent connection."""
        self.before = connection if isinstance(connection, NamedConnection) else None
        self.name.setText(self.before.name if self.before else "")
        self._wanted = self.before is None or self.before.token != "ask"
        self._name_row.say_trouble("")
        self.refresh()

    def show_address(self, address: str) -> None:
        """Shows a hint if the address will be saved only in part."""
        partly = "?" in address or "@" in address
        self._name_row.say_help(NOT_ALL_HELP if partly and self.named else NAME_HELP)

    def set_trouble(self, trouble: str) -> None:
        """Stores the reason why the keyring is unavailable; "" for an available one."""
        self._trouble = trouble
        self.refresh()

    @property
    def named(self) -> bool:
        return bool(self.name.text().strip())

    @property
    def keyring_error(self) -> str:
        """Reason why the keyring is unavailable; "" if it is available or not checked yet."""
        return self._trouble or ""

    @property
    def keeps_token(self) -> bool:
        """True if a typed token goes to the keyring."""
        return self.keep.box.isEnabled() and self.keep.box.isChecked()

    def refresh(self) -> None:
        """Updates the check box from the name and the state of the keyring."""
        # `None` means that the keyring has not been checked yet
        possible = self.named and self._trouble == ""
        self.keep.box.setEnabled(possible)
        self.keep.set_checked(possible and self._wanted)
        if not self.named:
            self.keep.say_help(KEEP_UNNAMED)
        elif self._trouble is None:
            self.keep.say_help(LOOKING)
        else:
            self.keep.say_help(self._trouble or KEEP_HELP)

    def has_stored_token(self, address: str) -> bool:
        """Returns True if the keyring is expected to have the token for this address."""
        before = self.before
        return before is not None and before.token == "keyring" and gateway_of(address) == gateway_of(before.url)

    def other_stored_token(self, address: str) -> str:
        """Returns the gateway of the saved token if the address names another one, else ""."""
        before = self.before
        if before is None or before.token != "keyring" or self.has_stored_token(address):
            return ""
        return gateway_of(before.url)

    def complain(self, *, needed: bool) -> bool:
        """Shows an error at the name. Returns True if there is one."""
        name = self.name.text().strip()
        own = self.before.id if self.before is not None else ""
        taken = any(other.name.casefold() == name.casefold() and other.id != own for other in self._all)
        sentence = f"Another connection has the name {name}. Choose another name." if taken else ""
        if needed and not name:
            sentence = NO_NAME
        self._name_row.say_trouble(sentence)
        return bool(sentence)

    def connection_save(self, connection: Connection, typed: Secret, *, offered: str) -> ConnectionSave | None:
        """Returns the connection to save, or None without a name.

        Args:
            connection: the entered connection.
            typed: the typed token; empty to use the saved one.
            offered: the random id that was offered; only another one is saved.
        """
        if not self.named:
            return None
        named = NamedConnection(
            url=connection.shown_url,
            space=connection.space,
            participant="" if connection.participant == offered else connection.participant,
            answer_tools_list=connection.answer_tools_list,
            name=self.name.text().strip(),
        )
        if self.before is not None:
            named.id = self.before.id
        named.token = self._token_state(connection, typed)
        return ConnectionSave(named, self.before, typed if named.token == "keyring" else Secret())

    def _token_state(self, connection: Connection, typed: Secret) -> TokenPlace:
        if typed:
            return "keyring" if self.keeps_token else "ask"
        if self.has_stored_token(connection.url):
            unticked = self.keep.box.isEnabled() and not self.keep.box.isChecked()
            return "ask" if unticked else "keyring"  # an unavailable keyring may be available again later
        return "ask" if self.before is not None and self.before.token == "ask" else "none"

    def _on_name_edited(self, _text: str) -> None:
        self._name_row.say_trouble("")
        self.refresh()
        self.edited.emit()

    def _on_toggled(self, wanted: bool) -> None:
        self._wanted = wanted
        self.refresh()
        self.edited.emit()
