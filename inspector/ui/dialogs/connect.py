"""Connect dialog: address, space, token and identity for a gateway, a test, saving under a name.

The values are validated without a network. The dialog stores nothing. A typed token is passed on in memory, and the
caller saves it in the system keyring if requested. A saved token is read only for Connect or Test, because the keyring
may ask for a password.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.base.async_tasks import start_task
from inspector.engine.requests.gateways import (
    AddressError,
    Connection,
    Secret,
    named_space,
    new_participant,
    normal_url,
)
from inspector.present.wire_text import safe_line
from inspector.settings import ConnectionSettings, NamedConnection, Settings
from inspector.settings.credentials import NO_KEYRING, KeyringError, TokenStore, account_name
from inspector.ui.dialogs.base_dialog import FittedDialog
from inspector.ui.dialogs.save_fields import KeepFields
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.form import CheckField, FieldColumn, Form, RecentEdit, SecretEdit
from inspector.ui.widgets.labels import HairLine, IconLabel, TextLabel
from inspector.ui.widgets.scrolled_part import ScrolledPart


class ResultCard(QFrame):
    """An icon with a headline and a detail line; hidden while it is empty."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget) -> None:
        """Creates a hidden card. Its parts are named after it: `...Icon`, `...Headline`, `...Detail`."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        self._icon = IconLabel(theme_controller, "success", name=f"{name}Icon", parent=self)
        words = QVBoxLayout()
        words.setSpacing(2)
        self._headline = TextLabel(variant="strong", name=f"{name}Headline", wrap=True, parent=self)
        self._detail = TextLabel(variant="hint", name=f"{name}Detail", wrap=True, parent=self)
        policy = self._detail.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # buttons below must not move under the pointer
        self._detail.setSizePolicy(policy)
        words.addWidget(self._headline)
        words.addWidget(self._detail)
        row.addWidget(self._icon)
        row.addLayout(words, 1)
        self.hide()

    def show_result(self, icon: str, token: str, headline: str, detail: str = "") -> None:
        """Shows a headline and an optional detail."""
        self._icon.set_icon(icon, token)
        self._headline.setText(headline)
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        self.setAccessibleName(f"{headline} {detail}".strip())
        self.show()


TOKEN_HELP = "Stored in memory until this window closes. Never in settings, logs or the window title."
TOKEN_STORED_HELP = "Saved in the system keyring. Never in settings, logs or the window title."
TOKEN_STORED = "Saved in the system keyring"
"""Placeholder of the token field for a saved token."""
WAITING = "Waiting for the system keyring..."
WAITING_DETAIL = "It may ask for its password in a separate window. You can type the token instead."
PARTICIPANT_HELP = "A new id for each connection. A shared id would disconnect the other client."
TOOLS_LIST_HELP = "Agents ask every participant for tools and wait up to 15 s. Each answer is shown as a sent message."
UNTESTED = "Not tested yet"
UNTESTED_DETAIL = "The test joins the space, counts its participants and leaves."
"""Text of the card before a test. It reserves the space of a result, so that the buttons stay in place."""
DEFAULT_ADDRESS = "ws://127.0.0.1:8080"
"""Address field placeholder without a recent connection."""


@dataclass(frozen=True)
class TestResult:
    """The result of a connection test."""

    __test__ = False  # pytest must not collect it as a test class

    ok: bool
    """True if the gateway accepted the connection."""
    headline: str
    """One sentence."""
    detail: str = ""
    """Details."""
    doubtful: bool = False
    """Accepted, but maybe in the wrong space."""


Test = Callable[[Connection], Awaitable[TestResult]]
"""Joins and leaves at once. Must not raise for network errors."""


class ConnectDialog(FittedDialog):
    """Asks for a gateway, or edits a saved connection.

    Signals:
        saved(ConnectionSave): save the connection under a name; emitted before `accepted_connection`.
        accepted_connection(Connection): Connect was pressed with valid input.
    """

    saved = Signal(object)
    accepted_connection = Signal(object)

    def __init__(
        self,
        theme_controller: ThemeController,
        settings: Settings,
        parent: QWidget | None = None,
        *,
        test: Test | None = None,
        tokens: TokenStore | None = None,
        editing: NamedConnection | None = None,
    ) -> None:
        """Creates the dialog, filled with the most recent connection.

        Args:
            theme_controller: gives the look.
            settings: saved and recent connections; not changed.
            parent: the owner.
            test: tests a connection; None hides the Test button.
            tokens: the system keyring; None saves no token.
            editing: the connection to edit, with Save instead of Connect.
        """
        known = editing is not None and any(one.id == editing.id for one in settings.connections)
        title = "Connect to a gateway"
        if editing is not None:
            title = f"Edit {safe_line(editing.name)}" if known else "New connection"
        super().__init__(theme_controller, name="connectDialog", title=title, width=560, parent=parent)
        self._choices: list[ConnectionSettings] = [*settings.connections, *settings.unnamed_connections()]
        self._names = list(settings.connections)
        self._test = test
        self._tokens = tokens
        self._editing = editing
        self._offered = new_participant()
        self._keyring_asked = self._waiting = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keyring_tasks: set[asyncio.Task[Any]] = set()
        self._build(title)
        if editing is not None:
            self.set_connection(editing)
        elif settings.recent_connections:
            latest = settings.recent_connections[0]
            self.set_connection(settings.named_connection(latest) or latest)
        # Selected, so that typing replaces the address of the last connection.
        self._address.selectAll()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build(self, title: str) -> None:
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel(title, variant="title", name="connectTitle", parent=self))
        self._page.addSpacing(12)
        form = self._build_fields()
        form.add_across(HairLine("connectLine", self))
        self._answer = CheckField(
            "Answer tools/list with an empty list", TOOLS_LIST_HELP, name="connectAnswer", parent=self
        )
        self._answer.set_checked(True)
        form.add_wide(self._answer)
        self._save_fields.add_to(form)
        self.gives_way = fields = ScrolledPart(name="connectFields", label="Connection", parent=self)
        fields.lines.addLayout(form)
        self._page.addWidget(fields)
        self._page.addSpacing(14)
        self._result = ResultCard(self._themes, name="connectResult", parent=self)
        self._page.addWidget(self._result)  # outside the scrolled part, so that it stays visible on a small screen
        self._show_untested()
        self._build_buttons()

    def _build_fields(self) -> Form:
        self._address = RecentEdit(self._themes, name="connectAddress", parent=self)
        self._address.setAccessibleName("Address")
        self._address.setPlaceholderText(DEFAULT_ADDRESS)
        self._address.set_entries([_connection_words(choice) for choice in self._choices])
        self._address.picked.connect(self._on_recent_picked)
        self._address.editingFinished.connect(self._fill_named_space)
        self._space = _line_edit("connectSpace", "Space", self)
        self._token = SecretEdit(self._themes, name="connectToken", parent=self)
        self._token.setAccessibleName("Token")
        self._participant = _line_edit("connectParticipant", "Join as", self)
        self._participant.setText(self._offered)
        refresh = IconButton(self._themes, "refresh", "New id", name="connectRefresh", parent=self)
        refresh.clicked.connect(self._on_refresh_clicked)
        named = QWidget(self)
        row = QHBoxLayout(named)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._participant, 1)
        row.addWidget(refresh)
        form = Form(self._themes, self)
        self._address_row = FieldColumn(self._address, name="connectAddressHelp", parent=self)
        self._space_row = FieldColumn(self._space, name="connectSpaceHelp", parent=self)
        self._token_row = FieldColumn(self._token, name="connectTokenHelp", help_text=TOKEN_HELP, parent=self)
        self._participant_row = FieldColumn(
            named, name="connectParticipantHelp", help_text=PARTICIPANT_HELP, parent=self
        )
        form.add_field("Address", self._address_row, self._address)
        form.add_field("Space", self._space_row, self._space)
        form.add_field("Token", self._token_row, self._token)
        form.add_field("Join as", self._participant_row, self._participant)
        self._address.textEdited.connect(lambda _text: self._address_row.say_trouble(""))
        self._space.textEdited.connect(lambda _text: self._space_row.say_trouble(""))
        self._participant.textEdited.connect(lambda _text: self._participant_row.say_trouble(""))
        self._save_fields = KeepFields(self._themes, self._names, self)
        self._save_fields.edited.connect(self._on_keeping_edited)
        for field in (self._address, self._space, self._token, self._participant):
            field.textEdited.connect(self._clear_result)
        for field in (self._address, self._token):
            field.textEdited.connect(self._show_token_place)
        return form

    def _build_buttons(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 14, 0, 0)
        row.setSpacing(16)
        self._test_button = WordButton("Test", name="connectTest", parent=self)
        self._test_button.clicked.connect(self._on_test_clicked)
        self._test_button.setVisible(self._test is not None)
        row.addWidget(self._test_button)
        row.addStretch(1)
        cancel = WordButton("Cancel", name="connectCancel", parent=self)
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        if self._editing is None:
            self._connect = WordButton("Connect", name="connectConnect", parent=self)
            self._connect.clicked.connect(self._on_connect_clicked)
        else:
            self._connect = WordButton("Save", name="connectSave", parent=self)
            self._connect.clicked.connect(self._on_save_clicked)
        self._connect.setDefault(True)
        row.addWidget(self._connect)
        self._page.addLayout(row)

    # Input

    def set_address(self, url: str) -> None:
        """Fills in an address and focuses the next empty field."""
        self._address.setText(url)
        self._fill_named_space()
        self._focus_first_empty()

    def _fill_named_space(self) -> None:
        """Fills in the space that the address names, unless the user typed another."""
        named = named_space(self._address.text())
        if named and (not self._space.text() or not self._space.isModified()):
            self._space.setText(named)
            self._space_row.say_trouble("")

    def set_connection(self, chosen: ConnectionSettings) -> None:
        """Fills in a saved or recent connection.

        A connection without a name gets a new id and no token.
        """
        self._address.setText(chosen.url)
        self._space.setText(chosen.space)
        self._token.clear()
        self._answer.set_checked(chosen.answer_tools_list)
        self._save_fields.show_connection(chosen)
        own_id = chosen.participant if isinstance(chosen, NamedConnection) else ""
        self._participant.setText(own_id or self._offered)
        for row in (self._address_row, self._space_row, self._participant_row):
            row.say_trouble("")
        self._clear_result()
        self._on_keeping_edited()
        self._focus_first_empty()

    def say_trouble(self, sentence: str) -> None:
        """Shows why the saved token is unavailable, and focuses the token field."""
        self._result.show_result("warning", "severity.warning", sentence)
        self._token.setFocus()

    def _focus_first_empty(self) -> None:
        empty = next((field for field in (self._address, self._space, self._token) if not field.text()), self._token)
        empty.setFocus()

    # Result

    def connection(self) -> Connection | None:
        """Returns the entered connection, or None after showing errors at the fields."""
        address = self._address.text().strip() or (DEFAULT_ADDRESS if not self._choices else "")
        wrong: list[tuple[FieldColumn, str, QLineEdit]] = []
        try:
            url = normal_url(address)
        except AddressError as error:
            url = ""
            wrong.append((self._address_row, str(error), self._address))
        if not self._space.text().strip():
            wrong.append((self._space_row, "Enter a space, such as demo.", self._space))
        if not self._participant.text().strip():
            wrong.append((self._participant_row, "Enter an id, or press the button for a new one.", self._participant))
        for row in (self._address_row, self._space_row, self._participant_row):
            row.say_trouble(next((sentence for other, sentence, _ in wrong if other is row), ""))
        if self._save_fields.complain(needed=self._editing is not None):
            wrong.append((self._participant_row, "", self._save_fields.name))
        if wrong:
            wrong[0][2].setFocus()
            return None
        return Connection(
            url=url,
            space=self._space.text().strip(),
            participant=self._participant.text().strip(),
            token=Secret(self._token.text()),
            answer_tools_list=self._answer.box.isChecked(),
        )

    def _on_connect_clicked(self) -> None:
        connection = self.connection()
        if connection is None or self._tasks:
            return
        if self._needs_keyring():
            start_task(self._connect_with_stored_token(connection), name="read a token", owner=self._tasks)
        else:
            self._finish(connection)

    async def _connect_with_stored_token(self, connection: Connection) -> None:
        whole = await self._with_stored_token(connection)
        if whole is not None:
            # The token came from the keyring, so there is nothing new to save.
            self._finish(whole, typed=Secret())

    def _finish(self, connection: Connection, *, typed: Secret | None = None) -> None:
        token = connection.token if typed is None else typed
        save = self._save_fields.connection_save(connection, token, offered=self._offered)
        self.accept()
        if save is not None:
            self.saved.emit(save)
        self.accepted_connection.emit(connection)

    def _on_save_clicked(self) -> None:
        connection = self.connection()
        if connection is None:
            return
        save = self._save_fields.connection_save(connection, connection.token, offered=self._offered)
        if save is not None:
            self.accept()
            self.saved.emit(save)

    def _on_recent_picked(self, place: int) -> None:
        self.set_connection(self._choices[place])

    def _on_refresh_clicked(self) -> None:
        self._offer_another_id()
        self._participant_row.say_trouble("")

    def _offer_another_id(self) -> None:
        self._offered = new_participant()
        self._participant.setText(self._offered)

    # Token

    def _on_keeping_edited(self) -> None:
        # only a named connection can save its token; the keyring is checked once
        if self._save_fields.named and not self._keyring_asked:
            self._keyring_asked = True
            if self._tokens is None:
                self._save_fields.set_trouble(NO_KEYRING)
            else:
                start_task(self._look_for_keyring(self._tokens), name="look for the keyring", owner=self._keyring_tasks)
        self._show_token_place()

    async def _look_for_keyring(self, tokens: TokenStore) -> None:
        self._save_fields.set_trouble(await tokens.unavailable_reason())
        self._show_token_place()

    def _needs_keyring(self) -> bool:
        return not self._token.text() and self._save_fields.has_stored_token(self._address.text())

    def _show_token_place(self, _text: str = "") -> None:
        self._save_fields.show_address(self._address.text())
        there = self._needs_keyring() and not self._save_fields.keyring_error
        self._token.setPlaceholderText(TOKEN_STORED if there else "")
        other = self._save_fields.other_stored_token(self._address.text())
        if other:
            self._token_row.say_help(f"The saved token is for {safe_line(other)} and is not sent to other gateways.")
        else:
            stored = self._save_fields.keeps_token or there
            self._token_row.say_help(TOKEN_STORED_HELP if stored else TOKEN_HELP)

    async def _with_stored_token(self, connection: Connection) -> Connection | None:
        """Returns the connection with the saved token, or None after showing the error."""
        before = self._save_fields.before
        if self._tokens is None or before is None:
            self.say_trouble(NO_KEYRING)
            return None
        self._result.show_result("connect", "ink.secondary", WAITING, WAITING_DETAIL)
        self._waiting = True
        try:
            return replace(connection, token=await self._tokens.read_token(account_name(before)))
        except KeyringError as error:
            self.say_trouble(str(error))
            return None
        finally:
            self._waiting = False

    # Test

    def _on_test_clicked(self) -> None:
        connection = self.connection()
        if connection is None or self._test is None or self._tasks:  # a disabled button would lose the focus
            return
        start_task(self._run_test(self._test, connection), name="test a connection", owner=self._tasks)

    async def _run_test(self, test: Test, connection: Connection) -> None:
        whole = await self._with_stored_token(connection) if self._needs_keyring() else connection
        if whole is None:
            return
        self._result.show_result("connect", "ink.secondary", "Testing the connection...")
        result = await test(whole)
        icon, token = ("success", "badge.consumed") if result.ok else ("error", "severity.error")
        if result.doubtful:
            icon, token = "warning", "severity.warning"
        self._result.show_result(icon, token, result.headline, result.detail)
        if connection.participant == self._offered:
            # The gateway has seen this id, so the connection itself uses another.
            self._offer_another_id()

    def _clear_result(self, _text: str = "") -> None:
        """Clears an outdated test result or wait."""
        if self._waiting:
            for task in self._tasks:
                task.cancel()
            self._tasks = set()
        if not self._tasks:
            self._show_untested()

    def _show_untested(self) -> None:
        if self._test is None:
            self._result.hide()
        else:
            self._result.show_result("connect", "ink.tertiary", UNTESTED, UNTESTED_DETAIL)

    async def tests_done(self) -> None:
        """Waits until no test is running."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @override
    def done(self, result: int) -> None:
        for task in self._tasks | self._keyring_tasks:
            task.cancel()
        self._token.clear()  # a typed token does not outlive the dialog
        super().done(result)

    def _on_theme_changed(self) -> None:
        self.take_margins(self._page)
        self._page.setSpacing(0)
        self.fit()


def _line_edit(name: str, label: str, parent: QWidget) -> QLineEdit:
    field = QLineEdit(parent)
    field.setObjectName(name)
    field.setAccessibleName(label)
    return field


def _connection_words(choice: ConnectionSettings) -> str:
    """Returns one line of the list; a saved connection begins with its name."""
    parts = [choice.name] if isinstance(choice, NamedConnection) else []
    parts += [choice.url, f"space {choice.space}" if choice.space else ""]
    return "  ".join(safe_line(part) for part in parts if part)
