"""The Query panel: SQL editor, saved queries, result table, and a filter for the messages of the result."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QSizePolicy, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from inspector.present.formats import count_of
from inspector.present.wire_text import safe_line
from inspector.settings.model import SavedQuery
from inspector.tables import TABLES, QueryError
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.plain_table import PlainTable
from inspector.ui.panels.query.editor import SqlEditor
from inspector.ui.panels.query.model import AnswerModel
from inspector.ui.panels.query.query_run import QueryRun
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import HairLine, TextLabel

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
_FIRST_HINT = f"Ctrl+Enter runs the query. Tables: {', '.join(table.name for table in TABLES)}."


class AnswerView(PlainTable):
    """The table of results.

    Signals:
        entered(int): a double click or Enter on a row.
        copied(): copy the rows.
    """

    entered = Signal(int)
    picked = Signal(int)
    copied = Signal()

    def __init__(self, model: AnswerModel, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, parent, name="queryAnswer", title="Results")
        self.setModel(model)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        # By default Qt measures a thousand rows.
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def fit_columns(self) -> None:
        """Fits columns to their first rows, up to a maximum width."""
        self.resizeColumnsToContents()
        for column in range(self.model().columnCount()):
            wanted = self.columnWidth(column) + 12
            self.setColumnWidth(column, min(wanted, round(_WIDEST * self._themes.theme.zoom)))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered.emit(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copied.emit()
        else:
            super().keyPressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.isValid():
            self.picked.emit(index.row())

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.setFont(theme.font("body"))
        self.horizontalHeader().setFont(theme.font("column"))
        self.verticalHeader().setDefaultSectionSize(theme.metrics.content_row)


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
        head, editor, model, view, run, examples: its parts.
    """

    asked = Signal(str)
    saved_changed = Signal(object)
    name_requested = Signal()

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(document, "Query", parent)
        self._saved: list[SavedQuery] = []
        self._history: list[str] = []
        self.model = AnswerModel(self)
        self.run = QueryRun(document, self)
        self.head = PaneHead(theme_controller, "Query", name="queryHead", parent=self)
        add = self.head.add_button
        self._run_button = add("resume", "Run query (Ctrl+Enter)", name="queryRun")
        self._stop_button = add("stop", "Stop", name="queryStop")
        self._filter_button = add("filter", "Filter by these messages", name="queryFilter")
        self._history_button = add("history", "History, saved queries and examples", name="queryHistory")
        self._save_button = add("save", "Save query", name="querySave")
        self._copy_button = add("copy", "Copy results", name="queryCopy")
        add("clear", "Close", name="queryClose").clicked.connect(self.close_requested)
        self.editor = SqlEditor(theme_controller, self)
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
        self.view.entered.connect(self._enter)
        self.run.began.connect(self._on_began)
        self.run.came.connect(self._on_rows)
        self.run.ended.connect(self._on_ended)
        self.run.failed.connect(self._on_failed)

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
        self.run.start(sql)
        self.asked.emit(sql)
        self._show_state()

    def cancel(self) -> None:
        """Stops the query; rows received so far stay."""
        if self.run.cancel():
            self._show_status(f"Stopped after {count_of(len(self.model.rows), 'row')}.")
        self._show_state()

    def _on_began(self, names: Sequence[str], types: Sequence[str]) -> None:
        self.model.begin(names, types)

    def _on_rows(self, rows: list[tuple[object, ...]]) -> None:
        first = not self.model.rows
        self.model.add(rows)
        if first:
            self.view.fit_columns()

    def _on_ended(self, count: int, more: bool, seconds: float) -> None:
        most = " or more" if more else ""
        self._show_status(
            f"{count_of(count, 'row')}{most}, {seconds:,.2f} s." if count else f"No rows, {seconds:,.2f} s."
        )
        self.view.set_empty_text(_NO_ROWS)
        self.head.set_count(f"{count:,}")
        self._show_state()

    def _on_failed(self, error: QueryError) -> None:
        self.editor.mark_trouble(None if error.position is None else (error.position, error.length))
        place = "" if error.position is None else f" (character {error.position + 1:,})"
        self._show_status(safe_line(error.sentence, 600) + place, trouble=True)
        self._show_state()

    def _show_status(self, words: str, *, trouble: bool = False) -> None:
        self.status_label.setText(words)
        self.status_label.setAccessibleName(words)
        self.status_label.setProperty("variant", "error" if trouble else "hint")
        repolish(self.status_label)

    def _show_state(self) -> None:
        running = self.run.running
        self._run_button.setVisible(not running)
        self._stop_button.setVisible(running)
        found = self.model.message(0) is not None
        self._filter_button.setEnabled(found and not running)
        self._copy_button.setEnabled(bool(self.model.rows))

    # Rows

    def _go_to(self, row: int) -> None:
        message = self.model.message(row)
        if message is not None and message < len(self._document.capture):
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
        lines = ["\t".join(self.model.names), *(self.model.row_text(row) for row in rows)]
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

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Does nothing: a result belongs to the time of its query."""

    def stop(self) -> None:
        """Stops reading the document."""
        self.run.close()
