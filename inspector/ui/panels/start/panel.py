"""The start page: actions at the left, recent files and connections at the right (docs/design.md 16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.base.targets import session_target
from inspector.formats.products import SOME_PRODUCTS
from inspector.present.unsaved_captures import MAX_SHOWN, more_words, unsaved_sentence
from inspector.present.update_words import available_words
from inspector.settings import ConnectionSettings, NamedConnection, Settings
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.start.buttons import ActionCard, DropHint, Pressable, RecentRow
from inspector.ui.panels.start.recents import Recent, new_session, recent_connection, recent_file
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import Sign, TextLabel
from inspector.ui.widgets.notice import NoticeStack
from inspector.ui.widgets.scrolled_part import ScrolledPart

if TYPE_CHECKING:
    from inspector.engine.requests.agent_sessions import NewSession
    from inspector.present.unsaved_captures import UnsavedCapture

CONNECTIONS_SHOWN = 3
"""Maximum of connections above the files; named ones come first."""

ROWS_SHOWN = 5
"""Maximum of recent rows in total."""

SESSIONS_SHOWN = 4
"""Maximum of sessions. Their lines are kept free from the start, so that nothing moves when they are found."""

CLEAR_HELP = "Clear recent files and connections, except named ones"

COMPARE_HELP = "Compare the two logs that are chosen with Ctrl+click"

VERSION_HELP = "Ask to open the page of this version in the browser"

NO_SESSIONS = "No session of a coding agent was found here."
"""Text in place of sessions."""

NOTHING_RECENT = "Recent files and connections appear here."
"""Text of the empty list."""

CLAIM = "See what your agents did, why, and what it cost."
"""Subtitle below the name."""


class StartPage(QWidget):
    """The page of a window without a document. It only emits requests; the window executes them.

    Attributes:
        notices: bars above the page, one per unsaved capture.

    Signals:
        open_requested, connect_requested, tap_requested, demo_requested, paste_requested, sessions_requested: a card
        was pressed.
        session_requested(str): open a session by its target.
        recent_file_requested(str): open a recent file by its path.
        compare_requested(str, str): compare two recent files by their paths; "" asks for the second.
        recent_connection_requested(ConnectionSettings): open a recent connection.
        edit_connection_requested(NamedConnection), delete_connection_requested(NamedConnection): for a named
        connection.
        keep_connection_requested(ConnectionSettings): name an unnamed connection.
        forget_requested(ConnectionSettings | str): remove one connection, or the file of this path, from the list.
        clear_recent_requested: clear the list.
        recover_requested(Unsaved), discard_requested(Unsaved): for an unsaved capture.
        version_requested: open the page of the newer version.
    """

    open_requested = Signal()
    connect_requested = Signal()
    tap_requested = Signal()
    demo_requested = Signal()
    paste_requested = Signal()
    sessions_requested = Signal()
    session_requested = Signal(str)
    recent_file_requested = Signal(str)
    compare_requested = Signal(str, str)
    recent_connection_requested = Signal(object)
    edit_connection_requested = Signal(object)
    delete_connection_requested = Signal(object)
    keep_connection_requested = Signal(object)
    forget_requested = Signal(object)
    clear_recent_requested = Signal()
    recover_requested = Signal(object)
    discard_requested = Signal(object)
    version_requested = Signal()

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: contain the recent files and connections.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("startPage")
        self.setAccessibleName("Start page")
        self.setProperty("variant", "base")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.notices = NoticeStack(theme_controller, self)
        self._cards: list[ActionCard] = []
        self._actions: dict[ActionCard, str] = {}
        self._rows: list[RecentRow] = []
        self._sessions: list[RecentRow] = []
        self._asked: dict[RecentRow, ConnectionSettings | str] = {}
        self._build()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_recents(settings)
        self._found.setVisible(settings.start.agent_sessions)

    def _build(self) -> None:
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        part = ScrolledPart(name="startPart", label="Start page", parent=self)
        lines.addWidget(part)
        page = part.lines
        page.addWidget(self.notices)
        page.addStretch(5)
        middle = QHBoxLayout()
        middle.setContentsMargins(24, 16, 24, 16)
        middle.addStretch(1)
        self._body = QWidget(self)
        self._body.setObjectName("startBody")
        middle.addWidget(self._body, 100)
        middle.addStretch(1)
        page.addLayout(middle)
        page.addStretch(6)
        self._grid = QGridLayout(self._body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addLayout(self._build_head(), 0, 0, 1, 2)
        self._grid.addLayout(self._build_cards(), 1, 0)
        self._grid.addLayout(self._build_recents(), 1, 1)
        self._grid.setColumnStretch(0, 41)
        self._grid.setColumnStretch(1, 43)

    def _build_head(self) -> QHBoxLayout:
        self._head = QHBoxLayout()
        self._head.addWidget(Sign(self._themes, self))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(TextLabel("Context Inspector", variant="display", name="startTitle", parent=self))
        words.addWidget(TextLabel(CLAIM, variant="secondary", name="startClaim", parent=self))
        self._head.addLayout(words)
        self._head.addStretch(1)
        self._version = LinkButton("", name="startVersion", parent=self)
        self._version.setToolTip(VERSION_HELP)
        self._version.setAccessibleDescription(VERSION_HELP)
        self._version.clicked.connect(_without_argument(self.version_requested.emit))
        self._version.hide()
        self._head.addWidget(self._version, 0, Qt.AlignmentFlag.AlignBottom)
        return self._head

    def _build_cards(self) -> QVBoxLayout:
        self._card_column = QVBoxLayout()
        cards: tuple[tuple[str, str, str, SignalInstance], ...] = (
            ("open", "Open a log", "Sessions, traces, gateway and MCP logs", self.open_requested),
            ("connect", "Connect to a gateway", "Watch a running space, silently", self.connect_requested),
            ("tap", "Tap an MCP server", "Record its messages with a client", self.tap_requested),
            ("sessions", "Agent sessions", SOME_PRODUCTS, self.sessions_requested),
            ("demo", "Start the demo", "Scripted agents on a local gateway", self.demo_requested),
            ("paste", "Paste text as a log", "One JSON object per line", self.paste_requested),
        )
        for icon, title, detail, signal in cards:
            card = ActionCard(self._themes, icon, title, detail, "", name=f"start_{icon}", parent=self)
            card.clicked.connect(_without_argument(signal.emit))
            self._cards.append(card)
            self._actions[card] = "capture.tap" if icon == "tap" else f"file.{icon}"
            self._card_column.addWidget(card)
        self._card_column.addSpacing(10)
        self._card_column.addWidget(DropHint(self._themes, self))
        self._card_column.addStretch(1)
        return self._card_column

    def _build_recents(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(0)
        self._recent_head = QHBoxLayout()
        self._recent_head.addWidget(TextLabel("Recent", variant="strong", name="startRecent", parent=self))
        self._recent_head.addStretch(1)
        self._compare = LinkButton("Compare", name="startCompare", parent=self)
        self._compare.setToolTip(COMPARE_HELP)
        self._compare.setAccessibleDescription(COMPARE_HELP)
        self._compare.clicked.connect(_without_argument(self._compare_chosen))
        self._compare.hide()
        self._recent_head.addWidget(self._compare)
        self._clear = LinkButton("Clear", name="startClear", parent=self)
        self._clear.setAccessibleDescription(CLEAR_HELP)
        self._clear.setToolTip(CLEAR_HELP)
        self._clear.clicked.connect(_without_argument(self.clear_recent_requested.emit))
        self._recent_head.addWidget(self._clear)
        column.addLayout(self._recent_head)
        self._recent_column = QVBoxLayout()
        column.addLayout(self._recent_column)
        self._nothing = TextLabel(NOTHING_RECENT, variant="tertiary", name="startNothing", parent=self)
        column.addWidget(self._nothing)
        column.addWidget(self._build_sessions())
        column.addStretch(1)
        return column

    def _build_sessions(self) -> QWidget:
        self._found = QWidget(self)
        lines = QVBoxLayout(self._found)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        self._session_head = QHBoxLayout()
        self._session_head.addWidget(TextLabel("Newest sessions", variant="strong", name="startSessions", parent=self))
        self._session_head.addStretch(1)
        self._all = LinkButton("Show all", name="startAllSessions", parent=self)
        self._all.setAccessibleDescription("List all sessions of coding agents on this machine")
        self._all.setToolTip(self._all.accessibleDescription())
        self._all.clicked.connect(_without_argument(self.sessions_requested.emit))
        self._all.hide()
        self._session_head.addWidget(self._all)
        lines.addLayout(self._session_head)
        self._session_column = QVBoxLayout()
        self._session_column.setSpacing(0)
        lines.addLayout(self._session_column)
        self._looking = TextLabel("Looking for sessions...", variant="tertiary", name="startLooking", parent=self)
        self._session_column.addWidget(self._looking)
        lines.addStretch(1)
        return self._found

    def show_keys(self, words: KeyWords) -> None:
        """Shows the keyboard shortcuts on the cards."""
        for card, action in self._actions.items():
            card.show_keys(words(action))

    def show_version(self, version: str, *, has_page: bool) -> None:
        """Names a newer version of the program beside the title; "" names no version."""
        self._version.setText(available_words(version) if version else "")
        self._version.setEnabled(has_page)
        self._version.setVisible(bool(version))

    # Unsaved captures

    def show_unsaved(self, unsaved: list[UnsavedCapture], *, everything: bool = False) -> None:
        """Offers unsaved captures, latest first; only the first few unless `everything`."""
        self.notices.dismiss_all()
        now = datetime.now().astimezone()
        shown = len(unsaved) if everything or len(unsaved) <= MAX_SHOWN + 1 else MAX_SHOWN
        for place, one in enumerate(unsaved[:shown]):
            links = [
                ("Recover", partial(self.recover_requested.emit, one)),
                ("Discard", partial(self.discard_requested.emit, one)),
            ]
            self.notices.show_notice(
                f"unsaved{place}", "warning", unsaved_sentence(one, now), links, token="severity.warning"
            )
        if unsaved[shown:]:
            show_all = partial(self.show_unsaved, unsaved, everything=True)
            links = [("Show all", show_all)]
            words = more_words(unsaved[shown:])
            self.notices.show_notice("unsavedMore", "warning", words, links, token="severity.warning")

    # Recent files and connections

    def show_recents(self, settings: Settings) -> None:
        """Lists recent files and connections. Reads the size and time of each file."""
        for row in self._rows:
            self._recent_column.removeWidget(row)
            # deleteLater() runs in a later iteration; until then the row must not be visible.
            row.hide()
            row.deleteLater()
        self._rows = []
        self._asked.clear()
        now = datetime.now().astimezone()
        unnamed = settings.unnamed_connections()
        connections = [*settings.connections, *unnamed][
            : max(CONNECTIONS_SHOWN, ROWS_SHOWN - len(settings.recent_files))
        ]
        for connection in connections[:ROWS_SHOWN]:
            self._add_row(recent_connection(connection), self.recent_connection_requested.emit, connection)
        for path in settings.recent_files[: ROWS_SHOWN - len(connections)]:
            self._add_row(
                recent_file(path, now, settings.recent_facts.get(path)), self.recent_file_requested.emit, path
            )
        self._compare.hide()
        self._clear.setVisible(bool(unnamed or settings.recent_files))
        self._nothing.setVisible(not self._rows)

    # Sessions of coding agents

    def show_sessions(self, found: Sequence[NewSession]) -> None:
        """Lists the newest sessions; without one offers the demo."""
        for row in self._sessions:
            self._session_column.removeWidget(row)
            row.hide()
            row.deleteLater()
        now = datetime.now().astimezone()
        self._sessions = []
        for place, one in enumerate(found[:SESSIONS_SHOWN]):
            row = RecentRow(self._themes, new_session(one, now), name=f"startSession{place}", parent=self)
            row.clicked.connect(_without_argument(partial(self.session_requested.emit, session_target(one.path))))
            self._session_column.addWidget(row)
            self._sessions.append(row)
        self._looking.setText(NO_SESSIONS)
        self._looking.setVisible(not found)
        self._all.setVisible(bool(found))

    def _add_row(self, recent: Recent, ask: Callable[[object], object], what: ConnectionSettings | str) -> None:
        row = RecentRow(self._themes, recent, name=f"startRecent{len(self._rows)}", parent=self)
        row.clicked.connect(lambda *_checked: self._press(row, partial(ask, what)))
        self._rows.append(row)
        self._asked[row] = what
        self._recent_column.addWidget(row)

    def _press(self, row: RecentRow, ask: Callable[[], object]) -> None:
        """Opens a row, or chooses it for a comparison with Ctrl."""
        if not (row.with_ctrl and isinstance(self._asked.get(row), str)):
            ask()
            return
        row.choose(not row.is_chosen)
        for earlier in self._chosen_rows[:-2]:
            earlier.choose(False)
        self._compare.setVisible(len(self._chosen_rows) == 2)

    @property
    def _chosen_rows(self) -> list[RecentRow]:
        return [row for row in self._rows if row.is_chosen]

    def _compare_chosen(self) -> None:
        one, other = (str(self._asked[row]) for row in self._chosen_rows)
        self.compare_requested.emit(one, other)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Opens the context menu of a row. Disabled rows get no such event themselves."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        row = self.focusWidget() if by_key else self.childAt(event.pos())
        if not isinstance(row, RecentRow) or row not in self._asked:
            return
        menu = self._menu_of(self._asked[row], there=row.isEnabled())
        menu.popup(row.mapToGlobal(row.rect().center()) if by_key else event.globalPos())

    def _menu_of(self, what: ConnectionSettings | str, *, there: bool) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("startRecentMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if isinstance(what, str):
            entries = [
                ("&Open", self.recent_file_requested),
                ("&Compare with...", self.compare_requested),
                ("&Remove from this list", self.forget_requested),
            ]
        elif isinstance(what, NamedConnection):
            entries = [
                ("&Connect", self.recent_connection_requested),
                ("&Edit...", self.edit_connection_requested),
                ("&Delete...", self.delete_connection_requested),
            ]
        else:
            entries = [
                ("&Connect...", self.recent_connection_requested),
                ("&Keep under a name...", self.keep_connection_requested),
                ("&Remove from this list", self.forget_requested),
            ]
        for words, signal in entries:
            action = menu.addAction(words)
            rest = ("",) if signal is self.compare_requested else ()
            action.triggered.connect(lambda *_checked, signal=signal, rest=rest: signal.emit(what, *rest))
            action.setEnabled(there or signal is self.forget_requested)
        return menu

    # Keyboard

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste_requested.emit()
            return
        moves = {Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1), Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0)}
        move = moves.get(Qt.Key(event.key()))
        if move is None:
            super().keyPressEvent(event)
        else:
            self._move_focus(*move)

    def _move_focus(self, aside: int, down: int) -> None:
        rows: list[Pressable] = [row for row in (*self._rows, *self._sessions) if row.isEnabled()]
        columns: list[list[Pressable]] = [list(self._cards), rows]
        focused = self.focusWidget()
        if not isinstance(focused, Pressable) or not any(focused in column for column in columns):
            self._cards[0].setFocus(Qt.FocusReason.TabFocusReason)
            return
        place = next((number, column.index(focused)) for number, column in enumerate(columns) if focused in column)
        column, index = place
        if aside:
            column = min(1, max(0, column + aside))
            if not columns[column]:
                return
            here = self._middle_of(focused)
            nearest = min(columns[column], key=lambda other: abs(self._middle_of(other) - here))
            nearest.setFocus(Qt.FocusReason.TabFocusReason)
            return
        index = min(len(columns[column]) - 1, max(0, index + down))
        columns[column][index].setFocus(Qt.FocusReason.TabFocusReason)

    def _middle_of(self, row: Pressable) -> int:
        return row.mapTo(self, row.rect().center()).y()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        focused = self.window().focusWidget()
        if focused is None or not self.isAncestorOf(focused):
            self._cards[0].setFocus(Qt.FocusReason.OtherFocusReason)

    # Appearance

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self._body.setMaximumWidth(round(880 * zoom))
        self._head.setContentsMargins(round(16 * zoom), 0, 0, round(36 * zoom))
        self._head.setSpacing(round(16 * zoom))
        self._grid.setHorizontalSpacing(round(40 * zoom))
        self._card_column.setSpacing(round(2 * zoom))
        self._recent_column.setSpacing(round(2 * zoom))
        self._recent_head.setContentsMargins(round(12 * zoom), 0, round(10 * zoom), round(9 * zoom))
        for label in (self._nothing, self._looking):
            label.setContentsMargins(round(12 * zoom), round(4 * zoom), 0, round(4 * zoom))
        self._session_head.setContentsMargins(round(12 * zoom), round(18 * zoom), round(10 * zoom), round(9 * zoom))
        self._found.setMinimumHeight(round((18 + 9 + 18 + 44 * SESSIONS_SHOWN) * zoom))
        self.update()


def _without_argument(act: Callable[[], object]) -> Callable[..., object]:
    # `clicked` passes the checked state.
    return lambda *_checked: act()
