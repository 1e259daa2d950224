"""The column beside a conversation: turns, changed files, and agents with their reported context."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.agents import Agent, AgentList
from inspector.engine.requests.files import FileLine, TouchKind
from inspector.engine.requests.turns import Turns
from inspector.present import formats
from inspector.present.rows import AUTO, PRIMARY, SECONDARY, TERTIARY, Column, Gauge, Layout, ListedRows, Row, Text
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.conversation.heads import PlainHead
from inspector.ui.panels.conversation.turns import Legend, TurnsModel, TurnsView
from inspector.ui.panels.files.rows import act_words, line_cell, line_words, test_words
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_SECTION_SHARE, _SHARE_ALONE = 0.28, 0.5
"""Most of the column's height that the files, or the agents, take: beside turns, and without any."""
_LAYOUT = Layout(
    ((Column(gap=8), Column(width=AUTO, right=True)), (Column(gap=8), Column(width=AUTO, right=True, from_width=210))),
    height="participant_row", edge=4,
)  # fmt: skip


def file_rows(files: Sequence[FileLine]) -> list[Row]:
    """Returns a row for each changed file: name and lines; below, its changes and the tests after them."""
    rows: list[Row] = []
    for file in files:
        if file.is_changed:
            tests, ink = test_words(file)
            acts = act_words(file, reads=False)
            below = [Text(acts, "small", TERTIARY)] + ([Text(f" · {tests}", "small", ink)] if tests else [])
            words = ", ".join(filter(None, (file.path, line_words(file.added, file.removed), acts, tests)))
            name = (Text(file.name, "mono-row", elide="middle"),)
            cells = ((name, line_cell(file.added, file.removed)), (tuple(below),))
            rows.append(Row(file.path, cells, file.name, spoken=words, tip=f"{file.path}\n{acts}", copied=words))
    return rows


def agent_rows(agents: Sequence[Agent]) -> list[Row]:
    """Returns a row for each agent: name and reported context; below, its task or model, calls and cost."""
    rows: list[Row] = []
    for agent in agents:
        size = "" if agent.tokens < 0 else formats.short_count(agent.tokens)
        limit = f" of {formats.short_count(agent.limit)}" if size and agent.limit else ""
        # The id of a sub-agent says less than its task.
        title, other = (agent.task, agent.name) if agent.task else (agent.name, "")
        facts = [formats.count_of(agent.calls, "model call")] if agent.calls else []
        facts += [formats.dollars(agent.dollars)] if agent.dollars is not None else []
        facts += [one for one in (other, agent.model) if one]
        gauge = (Gauge(min(1.0, agent.tokens / agent.limit)),) if agent.limit and size else ()
        words = ", ".join(filter(None, (title, f"{size}{limit} tokens in context" if size else "", *facts)))
        held = (Text(f"{size}{limit}", "body", SECONDARY, "never"),) if size else ()
        below = (Text(" · ".join(facts), "small", TERTIARY),)
        # Tasks of sub-agents often differ at their ends.
        cells = (((Text(title, "body-strong", PRIMARY, "middle"),), held), (below, gauge))
        rows.append(Row((agent.node, agent.name, agent.message), cells, title, spoken=words, tip=words,
                        copied=words, message=agent.message))  # fmt: skip
    return rows


def next_change(file: FileLine, message: int) -> int:
    """Returns the change of a file after a message, else its first change; -1 without any."""
    changes = [access.message for access in file.accesses if access.kind is not TouchKind.READ]
    return next((one for one in changes if one > message), changes[0] if changes else -1)


class SideSection(QWidget):
    """A head above a short list.

    Attributes:
        head, model, view: its parts.
    """

    def __init__(self, themes: ThemeController, title: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes, self._title = themes, title
        self.head = PlainHead(themes, is_chrome=True, parent=self)
        self.model = RowsModel(ListedRows(_LAYOUT), self)
        self.view = RowsView(self.model, themes, name=name, title=title, parent=self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.view)
        self.hide()

    def show_rows(self, rows: Sequence[Row], count: str) -> None:
        """Shows other rows; without any the section is hidden."""
        selected = self.view.selected
        self.model.replace_source(ListedRows(_LAYOUT, rows))
        self.view.select(selected, into_view=False)
        self.head.show_words(self._title, count)
        self.setVisible(bool(rows))

    def fit(self, most: int) -> None:
        """Makes it as high as its rows, at most `most` pixels."""
        wanted = self.head.height() + self.model.rowCount() * self.view.row_height + self._themes.theme.metrics.unit
        self.setFixedHeight(max(self.head.height() + self.view.row_height, min(wanted, most)))


class SidePane(QWidget):
    """Turns, files and agents, with a hairline at the right.

    Signals:
        message_requested(int): go to the card of this message.
        scope_requested(int): show this agent alone, by its place in the list.
        agent_chosen(int, int): follow the agent with this first message and context.
        files_requested(): show all files.

    Attributes:
        turns_model, turns_view, head, legend, files, agents: its parts.
        at: the current message.
    """

    message_requested = Signal(int)
    scope_requested = Signal(int)
    agent_chosen = Signal(int, int)
    files_requested = Signal()

    def __init__(self, client: Client, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._files: list[FileLine] = []
        self._agents: list[Agent] = []
        self.at = -1
        self.turns_model = TurnsModel(client, self)
        self.turns_view = TurnsView(self.turns_model, themes, self)
        self.head = PlainHead(themes, is_chrome=True, parent=self)
        self.files = SideSection(themes, "Files changed", "conversationFiles", self)
        self.agents = SideSection(themes, "Agents", "conversationAgents", self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 1, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.turns_view, 1)
        self.legend = Legend(themes, self)
        column.addWidget(self.legend)
        column.addWidget(self.files)
        column.addWidget(self.agents)
        column.addStretch()  # below files and agents of a document without turns
        self.files.view.picked.connect(self._on_file_picked)
        self.files.view.entered.connect(lambda _row: self.files_requested.emit())
        self.agents.view.picked.connect(self._on_agent_picked)
        self.agents.view.entered.connect(self._scope)
        self.agents.view.menu_asked.connect(self._show_agent_menu)
        for section in (self.files, self.agents):
            section.view.left.connect(self.turns_view.left)
        themes.changed.connect(self.fit)

    @property
    def is_empty(self) -> bool:
        return not self.turns_model.count and self.files.isHidden() and self.agents.isHidden()

    def show_turns(self, turns: Turns) -> None:
        """Shows turns."""
        self.turns_model.show(turns)
        known = (turns.starts_ns != NO_TIME) & (turns.stops_ns != NO_TIME)
        took = int(turns.stops_ns[known].max() - turns.starts_ns[known][0]) if known.any() else 0
        count = f"{len(turns):,}"
        self.head.show_words("Turns", f"{count} in {formats.duration(took)}" if took > 0 else count)
        for part in (self.head, self.turns_view, self.legend):
            part.setVisible(len(turns) > 0)
        self.fit()

    def show_files(self, files: Sequence[FileLine]) -> None:
        """Shows the changed ones among files."""
        self._files = [file for file in files if file.is_changed]
        self.files.show_rows(file_rows(self._files), f"{len(self._files):,}")
        self.fit()

    def show_agents(self, found: AgentList) -> None:
        """Shows agents."""
        self._agents = found.agents
        more = found.count > len(found.agents)
        count = f"{len(found.agents):,} of {found.count:,}" if more else f"{found.count:,}"
        self.agents.show_rows(agent_rows(found.agents), count)
        self.fit()

    def node_of_agent(self, row: int) -> tuple[int, int]:
        """Returns the first message and the context of an agent."""
        return self._agents[row].message, self._agents[row].node

    def _on_file_picked(self, row: int, _clicked: bool) -> None:
        message = next_change(self._files[row], self.at)
        if message >= 0:
            self.message_requested.emit(message)

    def _on_agent_picked(self, row: int, _clicked: bool) -> None:
        self.message_requested.emit(self._agents[row].message)
        self.agent_chosen.emit(*self.node_of_agent(row))

    def _scope(self, row: int) -> None:
        if self._agents[row].node >= 0:
            self.scope_requested.emit(row)

    def _show_agent_menu(self, row: int, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName("conversationAgentMenu")
        menu.addAction("Go to its first step", lambda: self.message_requested.emit(self._agents[row].message))
        if self._agents[row].node >= 0:
            menu.addAction("Show only this agent", lambda: self._scope(row))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def fit(self) -> None:
        """Gives files and agents the room of their rows, and the rest to the turns."""
        most = round(self.height() * (_SECTION_SHARE if self.turns_model.count else _SHARE_ALONE))
        if self.turns_model.count:
            turns = self.head.height() + self.turns_view.heights.total + self.legend.height()
            sections = sum(not one.isHidden() for one in (self.files, self.agents))
            most = max(most, (self.height() - turns) // max(1, sections))
        for section in (self.files, self.agents):
            section.fit(most)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme.color("line.hair"))
