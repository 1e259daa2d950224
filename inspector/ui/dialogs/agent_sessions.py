"""List of coding agents' sessions on this machine, with search."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.formats import registry
from inspector.present.formats import count_of, day_words, size
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.agent_sessions.session import AgentSession, Lookup
from inspector.ui.dialogs.base_dialog import Dialog, DialogList, ListFrame
from inspector.ui.dialogs.ordered_list import Index
from inspector.ui.dialogs.two_line_list import TwoLines, looked_in, two_line_list
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel

TITLE = "Agent sessions"
LOOKING = "Looking for sessions..."
_LONGEST = 300
_WIDTH, _HEIGHT = 860, 520


class SessionListModel(QAbstractListModel):
    """Sessions that match the search, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[AgentSession] = []
        self._words: list[str] = []  # searchable text of each session
        self._shown: list[int] = []
        self._now = datetime.now().astimezone()

    def session(self, row: int) -> AgentSession | None:
        return self._all[self._shown[row]] if 0 <= row < len(self._shown) else None

    def replace(self, sessions: list[AgentSession]) -> None:
        self._all = sessions
        self._now = datetime.now().astimezone()
        self._words = [
            " ".join((s.project, s.title, s.prompt[:_LONGEST], s.model, s.identifier, program_name(s))).casefold()
            for s in sessions
        ]
        self.find("")

    def find(self, text: str) -> None:
        """Shows the sessions that contain all words of a text, ignoring case."""
        words = text.casefold().split()
        self.beginResetModel()
        self._shown = [place for place, found in enumerate(self._words) if all(word in found for word in words)]
        self.endResetModel()

    def lines(self, row: int) -> TwoLines | None:
        """Returns the lines of a row: first prompt and time; project, program, model and size."""
        one = self.session(row)
        if one is None:
            return None
        about = " · ".join(filter(None, (project_name(one), *facts(one)[: -1 if one.running else None])))
        return TwoLines(self.session_name(one), self.when(one), about, "running" if one.running else "")

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._shown)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        one = self.session(index.row()) if index.isValid() else None
        if one is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.session_name(one)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (self.session_name(one), project_name(one), self.when(one), *facts(one))))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(f"{one.project}\n{one.path}\n{', '.join(facts(one))}")
        return None

    def session_name(self, session: AgentSession) -> str:
        """Returns the name of a session: its title, else its first prompt."""
        return safe_line(mask_text(session.name[:_LONGEST])) or "No prompt"

    def when(self, session: AgentSession) -> str:
        return day_words(session.modified, self._now)


def project_name(session: AgentSession) -> str:
    """Returns the last folder of the session's working directory."""
    return safe_line(session.project.rstrip("/\\").replace("\\", "/").rpartition("/")[2])


def program_name(session: AgentSession) -> str:
    """Returns the name of the session's program."""
    found = registry.format_named(session.program)
    return found.product if found is not None else session.program


def facts(session: AgentSession) -> list[str]:
    """Returns further facts about a session."""
    agents = count_of(session.sub_agents, "sub-agent") if session.sub_agents else ""
    words = (program_name(session), safe_line(session.model), agents, size(session.size))
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
        self._field.setPlaceholderText("Find by project, prompt, model or id")
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

    def _build_list(self, frame: QFrame) -> DialogList:
        self._model = SessionListModel(self)
        self._list = two_line_list(self._themes, "agentSessionsList", TITLE, self._model, frame)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self._list.doubleClicked.connect(lambda _index: self.open_current())
        self._list.customContextMenuRequested.connect(self._open_menu)
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
        before = self._model.session(self._list.currentIndex().row())
        self._lookup = lookup
        self._model.replace(lookup.sessions)
        self._find(self._field.text(), before.identifier if before is not None else "")

    def _find(self, text: str, selected: str = "") -> None:
        self._model.find(text)
        rows = range(self._model.rowCount())
        row = next((n for n in rows if (s := self._model.session(n)) is not None and s.identifier == selected), 0)
        self._list.setCurrentIndex(self._model.index(row))
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
        self._open.setEnabled(self._model.session(self._list.currentIndex().row()) is not None)

    # User actions

    def open_current(self) -> None:
        chosen = self._model.session(self._list.currentIndex().row())
        if chosen is not None:
            self.accept()
            self.open_requested.emit(chosen)

    def _look_again(self) -> None:
        self._says.setText(LOOKING)
        self._says.show()
        self.refresh_requested.emit()

    def _open_menu(self, place: QPoint) -> None:
        chosen = self._model.session(self._list.indexAt(place).row())
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
        menu.popup(self._list.viewport().mapToGlobal(place))

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
