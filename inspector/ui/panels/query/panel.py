"""The Query panel: SQL editor, saved queries, result table, and a filter for the messages of the result."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QSizePolicy, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.queries import TABLE_NAMES, QueryEnd, QueryRows, QueryTrouble, RunQuery
from inspector.present.formats import count_of, message_number
from inspector.present.wire_text import safe_line
from inspector.settings.model import SavedQuery
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.query.editor import SqlEditor
from inspector.ui.panels.query.model import AnswerModel
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.rows.table import TableView

MOST_FILTERED = 2_000
"""Maximum of messages in the filter; each is listed in it."""
_MAX_COPIED_ROWS = 10_000
_WIDEST = 360
_MEASURED_ROWS = 20
"""Number of first rows that decide column widths."""
_WRITTEN, _ANSWERED = 2, 3
"""Shares of the width for query and result."""
EXAMPLES = (
    ("Which tool is slow?", "SELECT tool, max(latency) AS slowest FROM tool_calls GROUP BY tool"),
    ("Which calls failed?", 'SELECT no, "from", tool, arguments FROM tool_calls WHERE failed'),
    ("Where do tokens go?", "SELECT tool, sum(tokens) FROM tokens GROUP BY tool ORDER BY 2 DESC"),
    ("Who has had no answer?", """SELECT no, "from", "to", info FROM messages WHERE waiting = 'answer'"""),
)
"""Example queries for an empty history."""
_EMPTY_RESULT = "Results appear here. Click a row to go to its message. More examples: history (clock)."
_NO_ROWS = "No rows match."
_FIRST_HINT = f"Ctrl+Enter runs the query. Tables: {', '.join(TABLE_NAMES)}."


class AnswerView(TableView):
    """The table of results.

    Signals:
        entered(int): Enter on a row.
        picked(int): a click on a row.
        copied(): copy the rows.
        message_requested(int): go to a message.
    """

    entered = Signal(int)
    picked = Signal(int)
    copied = Signal()
    message_requested = Signal(int)
    height_name = "content_row"

    def __init__(self, model: AnswerModel, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(model, themes, parent, name="query", title="Results")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(24)
        # By default Qt measures a thousand rows.
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        self.clicked.connect(lambda index: self.picked.emit(index.row()))
        self._model = model

    def fit_columns(self) -> None:
        """Fits columns to their first rows, up to a maximum width."""
        self.resizeColumnsToContents()
        for column in range(self.model().columnCount()):
            wanted = self.columnWidth(column) + 12
            self.setColumnWidth(column, min(wanted, round(_WIDEST * self._themes.theme.zoom)))

    @override
    def enter_row(self, row: int) -> None:
        self.entered.emit(row)

    @override
    def copy(self, row: int) -> None:
        self.copied.emit()

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        message = self._model.message(row)
        if message is not None:
            go = menu.addAction(f"Go to {message_number(message)}")
            go.triggered.connect(lambda: self.message_requested.emit(message))


class _Examples(QWidget):
    """Example queries in the place of the result.

    Signals:
        chosen(str): a query was clicked.
    """

    chosen = Signal(str)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("queryExamples")
        self._themes = themes
        self._column = QVBoxLayout(self)
        self._words = TextLabel(_EMPTY_RESULT, variant="secondary", name="queryExamplesWords", wrap=True, parent=self)
        self._column.addWidget(self._words)
        for number, (question, sql) in enumerate(EXAMPLES):
            link = LinkButton(question, name=f"queryExample{number}", parent=self)
            link.setToolTip(sql)
            # `sql` is bound here, since the loop changes the variable.
            link.clicked.connect(lambda *_on, sql=sql: self.chosen.emit(sql))
            self._column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        parent.installEventFilter(self)
        themes.changed.connect(self._fit)
        self._fit()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        metrics, around = self._themes.theme.metrics, self.parentWidget()
        self._column.setContentsMargins(metrics.pane_padding, metrics.unit, metrics.pane_padding, metrics.unit)
        self._column.setSpacing(metrics.unit)
        if around is not None:
            self.setGeometry(around.rect())


class QueryPanel(HeadedPanel):
    """SQL queries over one document.

    Signals:
        asked(str): a query was run.
        saved_changed(list[SavedQuery]): queries were saved or removed.
        name_requested(): ask for a name to save the query.

    Attributes:
        head, editor, model, view, examples: its parts.
        is_running: a query is running.
    """

    asked = Signal(str)
    saved_changed = Signal(object)
    name_requested = Signal()

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__("Query", parent)
        self._client = client
        self._pending: Pending | None = None
        self.is_running = False
        self._saved: list[SavedQuery] = []
        self._history: list[str] = []
        self.model = AnswerModel(self)
        self.head = PaneHead(theme_controller, "Query", name="queryHead", parent=self)
        add = self.head.add_button
        self._run_button = add("resume", "Run query (Ctrl+Enter)", name="queryRun")
        self._stop_button = add("stop", "Stop", name="queryStop")
        self._filter_button = add("filter", "Filter by these messages", name="queryFilter")
        self._history_button = add("history", "History, saved queries and examples", name="queryHistory")
        self._save_button = add("save", "Save query", name="querySave")
        self._copy_button = add("copy", "Copy results", name="queryCopy")
        add("clear", "Close", name="queryClose").clicked.connect(self.close_requested)
        self.editor = SqlEditor(client, theme_controller, self)
        self._line = HairLine("queryLine", self)
        self.status_label = TextLabel(_FIRST_HINT, variant="hint", name="querySaid", wrap=True, parent=self)
        self.view = AnswerView(self.model, theme_controller, self)
        self.examples = _Examples(theme_controller, self.view.viewport())
        self.examples.chosen.connect(self._take)
        self._menu = QMenu(self)
        self._menu.setObjectName("queryMenu")
        self._lay_out(theme_controller)
        self._connect()
        self._show_state()

    def _lay_out(self, themes: ThemeController) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        self.status_label.setMinimumHeight(1)  # in a low window it loses lines, as all lists do
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        policy.setHeightForWidth(False)
        self.status_label.setSizePolicy(policy)
        written = QWidget(self)
        beside = QVBoxLayout(written)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        beside.addWidget(self.editor, 1)
        beside.addWidget(self._line)
        beside.addWidget(self.status_label)
        self._halves = QSplitter(Qt.Orientation.Horizontal, self)
        self._halves.setObjectName("queryHalves")
        self._halves.setChildrenCollapsible(False)
        self._halves.setHandleWidth(1)
        for widget, share in ((written, _WRITTEN), (self.view, _ANSWERED)):
            self._halves.addWidget(widget)
            self._halves.setStretchFactor(self._halves.count() - 1, share)
        self._halves.setSizes([_WRITTEN * 100, _ANSWERED * 100])
        column.addWidget(self._halves, 1)
        self.setFocusProxy(self.editor)

        def fit() -> None:
            padding = themes.theme.metrics.pane_padding
            self.status_label.setContentsMargins(padding, themes.theme.metrics.unit, padding, themes.theme.metrics.unit)

        themes.changed.connect(fit)
        fit()

    def _connect(self) -> None:
        self._run_button.clicked.connect(self.run_query)
        self._stop_button.clicked.connect(self.cancel)
        self._filter_button.clicked.connect(self._filter_to_these)
        self._history_button.clicked.connect(self._open_menu)
        self._save_button.clicked.connect(self.name_requested)
        self._copy_button.clicked.connect(self._copy)
        self.editor.run_asked.connect(self.run_query)
        self.editor.left.connect(self.left)
        self.view.left.connect(self.left)
        self.view.copied.connect(self._copy)
        self.view.picked.connect(self._go_to)
        self.view.message_requested.connect(self._go_to_message)
        self.view.entered.connect(self._enter)

    # Running

    def run_query(self) -> None:
        """Runs the query of the editor."""
        sql = self.editor.text()
        if not sql.strip():
            return
        self.editor.mark_trouble(None)
        self.examples.hide()
        self._show_status("Running...")
        self.view.set_empty_text("")
        self._cancel()
        self.is_running = True
        pending = self._client.request_parts(RunQuery(sql), self._on_part, self._on_ended, self._on_failed)
        # A short answer has arrived already.
        self._pending = pending if self.is_running else None
        self.asked.emit(sql)
        self._show_state()

    def cancel(self) -> None:
        """Stops the query; rows received so far stay."""
        if self.is_running:
            self._cancel()
            self._show_status(f"Stopped after {count_of(len(self.model.rows), 'row')}.")
        self._show_state()

    def _cancel(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
        self._pending, self.is_running = None, False

    def _on_part(self, part: QueryRows) -> None:
        if part.columns is not None:
            self.model.begin(part.columns)
            return
        first = not self.model.rows
        self.model.add(part)
        if first:
            self.view.fit_columns()

    def _on_ended(self, end: QueryEnd) -> None:
        self.is_running = False
        if end.trouble is not None:
            self._show_trouble(end.trouble)
            return
        most = " or more" if end.is_cut else ""
        rows = f"{count_of(end.count, 'row')}{most}" if end.count else "No rows"
        self._show_status(f"{rows}, {end.seconds:,.2f} s.")
        self.view.set_empty_text(_NO_ROWS)
        self.head.set_count(f"{end.count:,}")
        self._show_state()

    def _on_failed(self, sentence: str) -> None:
        self.is_running = False
        self._show_trouble(QueryTrouble(sentence, None, 0))

    def _show_trouble(self, trouble: QueryTrouble) -> None:
        self.editor.mark_trouble(None if trouble.position is None else (trouble.position, trouble.length))
        place = "" if trouble.position is None else f" (character {trouble.position + 1:,})"
        self._show_status(safe_line(trouble.sentence, 600) + place, trouble=True)
        self._show_state()

    def _show_status(self, words: str, *, trouble: bool = False) -> None:
        self.status_label.setText(words)
        self.status_label.setAccessibleName(words)
        self.status_label.setProperty("variant", "error" if trouble else "hint")
        repolish(self.status_label)

    def _show_state(self) -> None:
        running = self.is_running
        self._run_button.setVisible(not running)
        self._stop_button.setVisible(running)
        found = self.model.message(0) is not None
        self._filter_button.setEnabled(found and not running)
        self._copy_button.setEnabled(bool(self.model.rows))

    # Rows

    def _go_to(self, row: int) -> None:
        message = self.model.message(row)
        if message is not None:
            self._go_to_message(message)

    def _go_to_message(self, message: int) -> None:
        if message < self._client.state.messages:
            self.message_requested.emit(message)

    def _enter(self, row: int) -> None:
        self._go_to(row)
        self.left.emit()

    def _filter_to_these(self) -> None:
        messages = self.model.messages()
        if not messages:
            return
        some = messages[:MOST_FILTERED]
        numbers = ", ".join(str(message + 1) for message in some)
        self.filter_requested.emit(f"no in {{{numbers}}}", "replace")
        if len(messages) > len(some):
            self._show_status(f"The filter covers the first {MOST_FILTERED:,} of {len(messages):,} messages.")

    def _copy(self) -> None:
        rows = range(min(len(self.model.rows), _MAX_COPIED_ROWS))
        lines = ["\t".join(column.name for column in self.model.columns), *(self.model.row_text(row) for row in rows)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    # Saved queries and history

    def show_saved(self, saved: Sequence[SavedQuery], history: Sequence[str]) -> None:
        """Sets the saved queries and the history, latest first."""
        self._saved, self._history = list(saved), list(history)

    def save(self, name: str) -> None:
        """Saves the query under a name and replaces a query of that name."""
        sql, name = self.editor.text().strip(), name.strip()
        if sql and name:
            self._saved = [*(one for one in self._saved if one.name != name), SavedQuery(name=name, sql=sql)]
            self.saved_changed.emit(self._saved)

    def _open_menu(self) -> None:
        menu = self._menu
        menu.clear()
        for one in self._saved:
            menu.addAction(safe_line(one.name, 60).replace("&", "&&")).triggered.connect(
                lambda *_checked, sql=one.sql: self._take(sql)
            )
        if self._saved:
            menu.addSeparator()
        for sql in self._history:
            words = safe_line(" ".join(sql.split()), 80).replace("&", "&&")
            menu.addAction(words).triggered.connect(lambda *_checked, sql=sql: self._take(sql))
        known = next((one for one in self._saved if one.sql == self.editor.text().strip()), None)
        if known is not None:
            menu.addSeparator()
            forget = menu.addAction(f"Delete “{safe_line(known.name, 40)}”".replace("&", "&&"))
            forget.triggered.connect(lambda: self._delete_saved(known))
        if menu.isEmpty():
            for question, sql in EXAMPLES:
                menu.addAction(question).triggered.connect(lambda *_checked, sql=sql: self._take(sql))
        menu.popup(self._history_button.mapToGlobal(QPoint(0, self._history_button.height())))

    def _take(self, sql: str) -> None:
        self.editor.set_text(sql)
        self.run_query()

    def _delete_saved(self, one: SavedQuery) -> None:
        self._saved = [other for other in self._saved if other is not one]
        self.saved_changed.emit(self._saved)

    # Calls of the window

    def stop(self) -> None:
        """Cancels the query."""
        self._cancel()
