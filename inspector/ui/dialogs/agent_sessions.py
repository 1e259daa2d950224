"""List of coding agents' sessions on this machine, with search."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.agent_sessions import (
    AgentSession,
    Lookup,
    matches_words,
    program_of,
    project_name,
    search_text,
    session_name,
)
from inspector.present.formats import count_of, day_words, size
from inspector.present.rows import Row
from inspector.present.wire_text import safe_line
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.dialogs.two_line_list import LAYOUT, looked_in, two_line_spec
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

TITLE = "Agent sessions"
LOOKING = "Looking for sessions..."
_WIDTH, _HEIGHT = 860, 520


class SessionRows:
    """Sessions that match the search, newest first."""

    layout = LAYOUT

    def __init__(self) -> None:
        self._all: list[AgentSession] = []
        self._words: list[str] = []  # searchable text of each session
        self._shown: list[int] = []
        self._now = datetime.now().astimezone()

    def session(self, row: int) -> AgentSession | None:
        return self._all[self._shown[row]] if 0 <= row < len(self._shown) else None

    def replace(self, sessions: list[AgentSession]) -> None:
        self._all = sessions
        self._now = datetime.now().astimezone()
        self._words = [search_text(session) for session in sessions]
        self.find("")

    def find(self, text: str) -> None:
        """Lists the sessions that contain all words of a text, ignoring case."""
        self._shown = [place for place, found in enumerate(self._words) if matches_words(found, text)]

    def __len__(self) -> int:
        return len(self._shown)

    def key_at(self, row: int) -> Hashable:
        one = self._all[self._shown[row]]
        return one.identifier, one.path

    def row_of(self, key: Hashable) -> int:
        return next((row for row in range(len(self)) if self.key_at(row) == key), -1)

    def spec(self, row: int) -> Row:
        """Returns a row: first prompt and time; project, program, model and size."""
        one = self._all[self._shown[row]]
        name, when = session_name(one), day_words(one.modified, self._now)
        about = " · ".join(filter(None, (project_name(one), *facts(one)[: -1 if one.running else None])))
        return two_line_spec(
            self.key_at(row), name, when, about, "running" if one.running else "",
            spoken=", ".join(filter(None, (name, project_name(one), when, *facts(one)))),
            tip=f"{one.project}\n{one.path}\n{', '.join(facts(one))}",
        )  # fmt: skip


def facts(session: AgentSession) -> list[str]:
    """Returns further facts about a session."""
    agents = count_of(session.sub_agents, "sub-agent") if session.sub_agents else ""
    messages = count_of(session.messages, "message") if session.messages is not None else ""
    # A session in a database has no size of its own.
    bytes_ = size(session.size) if session.size else ""
    words = (program_of(session), safe_line(session.model), agents, messages, bytes_)
    return [*filter(None, words), *(["running"] if session.running else [])]


class AgentSessionsDialog(Dialog):
    """Lists sessions and reports the one to open.

    Signals:
        open_requested(AgentSession): open it; the dialog has closed.
        refresh_requested(): look sessions up again.
    """

    open_requested = Signal(object)
    refresh_requested = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Creates the dialog in the state of a running lookup.

        Args:
            theme_controller: gives the look.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="agentSessionsDialog", title=TITLE, parent=parent)
        self._lookup: Lookup | None = None
        self._page = QVBoxLayout(self)
        self._page.addWidget(TextLabel(TITLE, variant="title", name="agentSessionsTitle", parent=self))
        self._field = QLineEdit(self)
        self._field.setObjectName("agentSessionsFind")
        self._field.setAccessibleName("Find")
        self._field.setPlaceholderText("Find by title, prompt, project, model or agent")
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._find)
        self._page.addWidget(self._field)
        frame = ListFrame("agentSessionsFrame", self)
        frame.lines.addWidget(self._build_list(frame))
        self._page.addWidget(frame, 1)
        self._says = TextLabel(LOOKING, variant="secondary", name="agentSessionsSays", wrap=True, parent=self)
        self._page.addWidget(self._says)
        self._page.addLayout(self._build_buttons())
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._enable()
        self._field.setFocus()

    def _build_list(self, frame: QFrame) -> RowsView:
        self._rows = SessionRows()
        self._model = RowsModel(self._rows, self)
        self._list = RowsView(
            self._model, self._themes, name="agentSessionsList", title=TITLE, parent=frame, in_dialog=True
        )
        self._list.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self._list.entered.connect(lambda _row: self.open_current())
        self._list.menu_asked.connect(self._open_menu)
        return self._list

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(16)
        again = WordButton("Refresh", name="agentSessionsAgain", parent=self)
        again.clicked.connect(lambda *_checked: self._look_again())
        row.addWidget(again)
        row.addStretch(1)
        close = WordButton("Close", name="agentSessionsClose", parent=self)
        close.clicked.connect(self.reject)
        row.addWidget(close)
        self._open = WordButton("Open", name="agentSessionsOpen", parent=self, default=True)
        self._open.clicked.connect(lambda *_checked: self.open_current())
        row.addWidget(self._open)
        return row

    # Content

    def show_lookup(self, lookup: Lookup) -> None:
        """Shows the result. Search text and selection stay."""
        before = self._rows.session(self._list.row)
        self._lookup = lookup
        self._rows.replace(lookup.sessions)
        self._find(self._field.text(), before.identifier if before is not None else "")

    def _find(self, text: str, selected: str = "") -> None:
        with self._model.changing():
            self._rows.find(text)
        rows = range(len(self._rows))
        row = next((n for n in rows if (s := self._rows.session(n)) is not None and s.identifier == selected), 0)
        self._list.select_row(row)
        words = self._words()
        self._says.setText(safe_line(words, 2_000))
        self._says.setVisible(bool(words))
        self._list.set_empty_text(self._why_empty())
        self._enable()

    def _words(self) -> str:
        """Returns the number of shown sessions and the notices of the lookup."""
        lookup = self._lookup
        if lookup is None:
            return LOOKING
        if not lookup.sessions:
            return " ".join(lookup.notices)
        shown, total = self._model.rowCount(), lookup.total
        count = count_of(total, "session") if shown == total else f"{shown:,} of {count_of(total, 'session')}"
        older = total - len(lookup.sessions)
        more = [f"The newest {len(lookup.sessions):,} are listed."] if older > 0 else []
        return " ".join([f"{count}.", *more, *lookup.notices])

    def _why_empty(self) -> str:
        if self._lookup is None:
            return ""
        if self._lookup.sessions:
            return "No session contains all of these words."
        return looked_in("No agent sessions were found on this machine.", self._lookup.folders)

    def _enable(self) -> None:
        self._open.setEnabled(self._rows.session(self._list.row) is not None)

    # User actions

    def open_current(self) -> None:
        chosen = self._rows.session(self._list.row)
        if chosen is not None:
            self.accept()
            self.open_requested.emit(chosen)

    def _look_again(self) -> None:
        self._says.setText(LOOKING)
        self._says.show()
        self.refresh_requested.emit()

    def _open_menu(self, row: int, place: QPoint) -> None:
        chosen = self._rows.session(row)
        if chosen is None:
            return
        menu = QMenu(self)
        menu.setObjectName("agentSessionsMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = QGuiApplication.clipboard().setText
        entries: tuple[tuple[str, Callable[[], object]], ...] = (
            ("&Open", self.open_current),
            ("Copy &path", lambda: copy(str(chosen.path))),
            ("Copy &id", lambda: copy(chosen.identifier)),
        )
        for words, act in entries:
            menu.addAction(words).triggered.connect(lambda *_checked, act=act: act())
        menu.popup(place)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Passes arrow keys to the list while the search field has the focus."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._list.setFocus()
            self._list.keyPressEvent(event)
            return
        super().keyPressEvent(event)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self.take_margins(self._page)
        self._page.setSpacing(round(8 * zoom))
        self.take_size(_WIDTH, _HEIGHT)
