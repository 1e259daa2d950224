"""The connect dialog: how to reach a gateway, and who we are there (look.md 8, connect-dialog pictures).

What it gives is checked as far as that goes without a network. The token is handed on in memory and forgotten with
the window; this dialog writes nothing anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.aio import spawn
from inspector.settings import ConnectionSettings, Settings
from inspector.sources.connection import AddressError, Connection, Secret, fresh_participant, normal_url
from inspector.ui.dialogs.fitted import FittedDialog
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.form import CheckField, FieldColumn, Form, RecentEdit, SecretEdit
from inspector.ui.widgets.labels import HairLine, IconLabel, TextLabel

TOKEN_HELP = "Kept in memory only, until this window closes. Never in settings, logs or the window title."
PARTICIPANT_HELP = "A new id each time: a shared id would cut off the other client."
TOOLS_LIST_HELP = "Agents ask every participant and wait up to 15 s. Each answer is shown as a sent message."
DEFAULT_ADDRESS = "ws://127.0.0.1:8080"
"""What the address field says when nothing was used before."""


@dataclass(frozen=True)
class TestResult:
    """What became of a test."""

    __test__ = False  # no test case, whatever pytest thinks of its name

    ok: bool
    """Whether the gateway let us in."""
    headline: str
    """One sentence."""
    detail: str = ""
    """More about it."""


Test = Callable[[Connection], Awaitable[TestResult]]
"""Joins and leaves at once; must not raise for network trouble."""


class ConnectDialog(FittedDialog):
    """Asks how to reach a gateway.

    Signals:
        accepted_connection(Connection): Connect was pressed and everything is in order.
    """

    accepted_connection = Signal(object)

    def __init__(
        self,
        theme_controller: ThemeController,
        settings: Settings,
        parent: QWidget | None = None,
        *,
        test: Test | None = None,
    ) -> None:
        """Make the dialog, filled with what was used last.

        Args:
            theme_controller: gives the look.
            settings: holds recent connections; not changed.
            parent: owner.
            test: tries a connection; without it there is no Test button.
        """
        super().__init__(theme_controller, name="connectDialog", title="Connect to a gateway", width=560, parent=parent)
        self._recents = list(settings.recent_connections)
        self._test = test
        self._tasks: set[asyncio.Task[Any]] = set()
        self._build()
        if self._recents:
            self.set_connection(self._recents[0])
        self._address.selectAll()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build(self) -> None:
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel("Connect to a gateway", variant="title", name="connectTitle", parent=self))
        self._page.addSpacing(12)
        form = self._build_fields()
        form.add_across(HairLine("connectLine", self))
        self._answer = CheckField(
            "Answer tools/list with an empty list", TOOLS_LIST_HELP, name="connectAnswer", parent=self
        )
        self._answer.box.setChecked(True)
        form.add_wide(self._answer)
        self._page.addLayout(form)
        self._page.addSpacing(14)
        self._build_result()
        self._build_buttons()

    def _build_fields(self) -> Form:
        self._address = RecentEdit(self._themes, name="connectAddress", parent=self)
        self._address.setAccessibleName("Address")
        self._address.setPlaceholderText(DEFAULT_ADDRESS)
        self._address.set_entries([_recent_words(recent) for recent in self._recents])
        self._address.picked.connect(self._on_recent_picked)
        self._space = _field("connectSpace", "Space", self)
        self._token = SecretEdit(self._themes, name="connectToken", parent=self)
        self._token.setAccessibleName("Token")
        self._participant = _field("connectParticipant", "Join as", self)
        self._participant.setText(fresh_participant())
        refresh = IconButton(self._themes, "refresh", "Take another id", name="connectRefresh", parent=self)
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
        for field in (self._address, self._space, self._token, self._participant):
            field.textEdited.connect(self._forget_result)
        return form

    def _build_result(self) -> None:
        self._result = QFrame(self)
        self._result.setObjectName("connectResult")
        self._result.setProperty("variant", "card")
        row = QHBoxLayout(self._result)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        self._result_icon = IconLabel(self._themes, "success", name="connectResultIcon", parent=self._result)
        words = QVBoxLayout()
        words.setSpacing(2)
        self._result_headline = TextLabel(variant="strong", name="connectResultHeadline", wrap=True, parent=self)
        self._result_detail = TextLabel(variant="hint", name="connectResultDetail", wrap=True, parent=self)
        words.addWidget(self._result_headline)
        words.addWidget(self._result_detail)
        row.addWidget(self._result_icon)
        row.addLayout(words, 1)
        self._result.hide()
        self._page.addWidget(self._result)

    def _build_buttons(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 14, 0, 0)
        row.setSpacing(16)
        self._test_button = _button("Test", "connectTest", self)
        self._test_button.clicked.connect(self._on_test_clicked)
        self._test_button.setVisible(self._test is not None)
        row.addWidget(self._test_button)
        row.addStretch(1)
        cancel = _button("Cancel", "connectCancel", self)
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        self._connect = _button("Connect", "connectConnect", self)
        self._connect.setDefault(True)
        self._connect.clicked.connect(self._on_connect_clicked)
        row.addWidget(self._connect)
        self._page.addLayout(row)

    # What the window says

    def set_address(self, url: str) -> None:
        """Put in an address; the cursor goes to the next empty field."""
        self._address.setText(url)
        self._focus_first_empty()

    def set_connection(self, recent: ConnectionSettings) -> None:
        """Put in a connection used before; its id is a fresh one, and its token is not known any more."""
        self._address.setText(recent.url)
        self._space.setText(recent.space)
        self._answer.box.setChecked(recent.answer_tools_list)
        for row in (self._address_row, self._space_row):
            row.say_trouble("")
        self._forget_result()
        self._focus_first_empty()

    def _focus_first_empty(self) -> None:
        empty = next((field for field in (self._address, self._space, self._token) if not field.text()), self._token)
        empty.setFocus()

    # What it gives

    def connection(self) -> Connection | None:
        """What was entered, or None after saying in place what is wrong."""
        address = self._address.text().strip() or (DEFAULT_ADDRESS if not self._recents else "")
        wrong: list[tuple[FieldColumn, str, QLineEdit]] = []
        try:
            url = normal_url(address)
        except AddressError as error:
            url = ""
            wrong.append((self._address_row, str(error), self._address))
        if not self._space.text().strip():
            wrong.append((self._space_row, "Type the space to watch, such as demo.", self._space))
        if not self._participant.text().strip():
            wrong.append((self._participant_row, "Type an id, or take a new one with the button.", self._participant))
        for row in (self._address_row, self._space_row, self._participant_row):
            row.say_trouble(next((sentence for other, sentence, _ in wrong if other is row), ""))
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
        if connection is not None:
            self.accept()
            self.accepted_connection.emit(connection)

    def _on_recent_picked(self, place: int) -> None:
        self.set_connection(self._recents[place])

    def _on_refresh_clicked(self) -> None:
        self._participant.setText(fresh_participant())
        self._participant_row.say_trouble("")

    # Test

    def _on_test_clicked(self) -> None:
        connection = self.connection()
        if connection is None or self._test is None or self._tasks:  # disabled meanwhile, it would lose the focus
            return
        self._show_result("connect", "ink.secondary", "Asking the gateway…", "")
        spawn(self._run_test(self._test, connection), name="test a connection", owner=self._tasks)

    async def _run_test(self, test: Test, connection: Connection) -> None:
        result = await test(connection)
        icon, token = ("success", "badge.consumed") if result.ok else ("error", "severity.error")
        self._show_result(icon, token, result.headline, result.detail)
        # The id was seen there for a moment: the connection itself takes another.
        self._participant.setText(fresh_participant())

    def _forget_result(self, _text: str = "") -> None:
        """What was tested is no longer what is asked for."""
        if not self._tasks:
            self._result.hide()

    async def tests_done(self) -> None:
        """Wait until no test is under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _show_result(self, icon: str, token: str, headline: str, detail: str) -> None:
        self._result_icon.set_icon(icon, token)
        self._result_headline.setText(headline)
        self._result_detail.setText(detail)
        self._result_detail.setVisible(bool(detail))
        self._result.setAccessibleName(f"{headline} {detail}".strip())
        self._result.show()

    @override
    def done(self, result: int) -> None:
        for task in self._tasks:
            task.cancel()
        super().done(result)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        side = round(24 * zoom)
        self._page.setContentsMargins(side, round(20 * zoom), side, round(16 * zoom))
        self._page.setSpacing(0)
        self.fit()


def _field(name: str, label: str, parent: QWidget) -> QLineEdit:
    field = QLineEdit(parent)
    field.setObjectName(name)
    field.setAccessibleName(label)
    return field


def _button(text: str, name: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setAutoDefault(False)
    return button


def _recent_words(recent: ConnectionSettings) -> str:
    return f"{recent.url}  space {recent.space}" if recent.space else recent.url
