"""Tree tab: the envelope's JSON as a tree; values can be copied, shown whole, or become filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHeaderView,
    QMenu,
    QPlainTextEdit,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.value_tree import FilterOfValue, MessageTree, RowsBelow, ShowTree, ValueNode, WholeValue
from inspector.present.json_spans import Steps
from inspector.present.wire_text import safe_line, visible_controls
from inspector.ui.look.hit_highlight import HitHighlight, Locate
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_model import JsonModel, JsonRole
from inspector.ui.panels.details.text_block import ALL_CHARACTERS
from inspector.ui.widgets.filter_menu import add_filter_actions, only_field
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending, raise_failure

_OPEN_DEPTH = 3
_OPEN_ROWS = 200
_MAX_SEARCHED_NODES = 2_000
"""Most nodes searched for hits."""
_TOKENS = {
    "string": "json.string", "number": "json.number", "boolean": "json.word", "null": "json.word",
    "object": "ink.tertiary", "array": "ink.tertiary", "more": "ink.tertiary",
}  # fmt: skip


class JsonDelegate(QStyledItemDelegate):
    """Rows of the tree: monospaced keys and values, lightly coloured by type."""

    def __init__(self, themes: ThemeController, view: QTreeView) -> None:
        super().__init__(view)
        self._themes = themes
        self._view = view
        self.lights = HitHighlight()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        theme = self._themes.theme
        width = 0
        if index.column() == 0:
            width = QFontMetrics(theme.font("mono")).horizontalAdvance(str(index.data())) + 3 * theme.metrics.unit
        return QSize(width, theme.metrics.content_row)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = self._themes.theme
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            token = "accent.wash" if self._view.hasFocus() else "accent.washdim"
            painter.fillRect(rect, theme.color(token))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("surface.hover"))
        kind = index.data(JsonRole.TYPE)
        words = index.column() == 1 and kind in ("object", "array", "more")
        role = "body" if words else "mono"
        painter.setFont(theme.font(role))
        room = rect.adjusted(theme.metrics.unit, 0, -theme.metrics.unit, 0)
        token = "ink.secondary" if index.column() == 0 else _TOKENS[kind]
        quoted = index.column() == 1 and kind == "string"
        self._paint_text(painter, room, str(index.data()), role, token, quoted=quoted)
        painter.restore()

    def _paint_text(self, painter: QPainter, room: QRect, text: str, role: str, token: str, *, quoted: bool) -> None:
        """Paints a key or value; dim quotes distinguish a text from a number without colour."""
        theme, metrics = self._themes.theme, painter.fontMetrics()
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        quote = metrics.horizontalAdvance('"') if quoted else 0
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width() - 2 * quote)
        painter.setPen(theme.color(token))
        painter.drawText(room.adjusted(quote, 0, 0, 0), middle, shown)
        self.lights.light_line(painter, theme, role, text, shown, room.adjusted(quote, 0, 0, 0))
        if quoted:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(room, middle, '"')
            painter.drawText(room.adjusted(quote + metrics.horizontalAdvance(shown), 0, quote, 0), middle, '"')


class JsonTree(QTreeView):
    """Tree view of a JSON value.

    Signals:
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        column_requested(str): add a value as a column of the table.
        value_chosen(tuple): the current value changed; carries its keys and indexes.
        rows_shown(): the rows of a message have arrived.
    """

    rows_shown = Signal()
    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    value_chosen = Signal(object)

    def __init__(self, themes: ThemeController, client: Client, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes, self._client = themes, client
        self._message = -1
        self._chosen_steps: Steps | None = None  # to select once its rows have arrived
        self.setObjectName("jsonTree")
        self.setAccessibleName("Message as a tree")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        # All rows are equally high, so Qt need not measure each of them.
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionBehavior(QTreeView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self._expanded_model: QAbstractItemModel | None = None
        self._delegate = JsonDelegate(themes, self)
        self.setItemDelegate(self._delegate)
        self.activated.connect(self._on_activated)
        self._on_theme_changed()
        themes.changed.connect(self._on_theme_changed)

    def show_rows(self, message: int, rows: list[ValueNode]) -> None:
        """Shows the values of a message with the first levels expanded."""
        old = self.model()
        self._message, self._chosen_steps = message, None
        model = JsonModel(rows, self._ask_rows, parent=self)
        model.rowsInserted.connect(self._on_rows_inserted)
        self.setModel(model)
        if isinstance(old, JsonModel):
            # The view may still deliver events for the old model.
            old.deleteLater()
        # A list, so that all levels count down the same number.
        self._open(QModelIndex(), 1, [_OPEN_ROWS])
        header = self.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.resizeColumnToContents(0)
        widest = max(120, round(self.viewport().width() * 0.5))
        header.resizeSection(0, min(header.sectionSize(0), widest))
        self.rows_shown.emit()

    def _ask_rows(self, steps: Steps, take: Callable[[list[ValueNode]], object]) -> None:
        message, model = self._message, self.model()

        def take_rows(rows: list[ValueNode]) -> None:
            # Another message may have been shown meanwhile.
            if model is self.model():
                take(rows)

        self._client.send_request(RowsBelow(message, steps), take_rows)

    def _open(self, parent: QModelIndex, depth: int, left: list[int]) -> None:
        """Expands the first levels while they are short."""
        model = self.model()
        rows = model.rowCount(parent)
        # A list of one number, shared by the whole recursion.
        left[0] -= rows
        if depth > _OPEN_DEPTH or left[0] < 0:
            return
        for row in range(rows):
            index = model.index(row, 0, parent)
            if index.data(JsonRole.TYPE) != "string" and model.hasChildren(index):
                self._open(index, depth + 1, left)
                if left[0] >= 0:
                    self.expand(index)

    def menu_for(self, index: QModelIndex) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("jsonTreeMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # Another message may be shown while the menu is open.
        path, question = str(index.data(JsonRole.PATH)), self._whole_value(index)
        menu.addAction("Copy value").triggered.connect(lambda: self._copy(question))
        menu.addAction("Copy path").triggered.connect(lambda: QGuiApplication.clipboard().setText(path))
        menu.addSeparator()
        wanted = self.filter_of(index)
        add_filter_actions(
            menu, wanted, self.filter_requested.emit, self.column_requested.emit, column=only_field(wanted or path)
        )
        menu.addSeparator()
        menu.addAction("Show whole value").triggered.connect(lambda: self._show_whole(path, question))
        return menu

    def filter_of(self, index: QModelIndex | QPersistentModelIndex) -> str:
        """Returns the display filter of a value; "" without one."""
        try:
            return self._client.answer_now(FilterOfValue(self._message, self._steps_of(index)))
        except RequestError:
            return ""  # a row that counts hidden values

    def _steps_of(self, index: QModelIndex | QPersistentModelIndex) -> Steps:
        model = self.model()
        return model.steps_of(index) if isinstance(model, JsonModel) else ()

    def _whole_value(self, index: QModelIndex | QPersistentModelIndex) -> WholeValue:
        return WholeValue(self._message, self._steps_of(index))

    def _copy(self, question: WholeValue) -> None:
        self._client.send_request(question, QGuiApplication.clipboard().setText, raise_failure)

    def show_find(self, locate: Locate | None) -> None:
        """Highlights hits in keys and values and expands their ancestors."""
        self._delegate.lights.locate = locate
        self.viewport().update()
        if locate is not None and self.model() is not None and self.model() is not self._expanded_model:
            self._expanded_model = self.model()
            self._expand_to_hits(locate, QModelIndex(), [_MAX_SEARCHED_NODES])

    def _expand_to_hits(self, locate: Locate, parent: QModelIndex, left: list[int]) -> bool:
        """Expands ancestors of hits, within the budget `left[0]` of nodes; returns True if the subtree has a hit."""
        model, found = self.model(), False
        for row in range(model.rowCount(parent)):
            left[0] -= 1
            if left[0] < 0:
                break
            index = model.index(row, 0, parent)
            inside = model.hasChildren(index) and self._expand_to_hits(locate, index, left)
            if inside:
                self.expand(index)
            found = found or inside or bool(locate(str(index.data())) or locate(str(index.siblingAtColumn(1).data())))
        return found

    def show_whole(self, index: QModelIndex) -> None:
        """Opens a dialog with the whole value."""
        self._show_whole(str(index.data(JsonRole.PATH)), self._whole_value(index))

    def _show_whole(self, path: str, question: WholeValue) -> None:
        self._client.send_request(
            question, lambda text: ValueDialog(self._themes, path, text, self).open(), raise_failure
        )  # fmt: skip

    def choose(self, steps: Sequence[str | int]) -> None:
        """Makes a value current and scrolls to it; its nearest ancestor until its rows have arrived."""
        model = self.model()
        index = model.index_at(steps) if isinstance(model, JsonModel) else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)
        is_ancestor = len(self._steps_of(index)) < len(steps)
        self._chosen_steps = tuple(steps) if is_ancestor else None

    def _on_rows_inserted(self) -> None:
        if self._chosen_steps is not None:
            self.choose(self._chosen_steps)

    @override
    def currentChanged(self, current: QModelIndex | QPersistentModelIndex, previous: object) -> None:
        super().currentChanged(current, previous)  # type: ignore[arg-type] - Qt's own
        model = self.model()
        if current.isValid() and isinstance(model, JsonModel):
            self.value_chosen.emit(model.steps_of(current))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            self._copy(self._whole_value(self.currentIndex()))
            return
        super().keyPressEvent(event)

    def _on_activated(self, index: QModelIndex) -> None:
        if not self.model().hasChildren(index.siblingAtColumn(0)):
            self.show_whole(index)

    def _on_menu_requested(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            self.menu_for(index.siblingAtColumn(1)).popup(self.viewport().mapToGlobal(place))

    def _on_theme_changed(self) -> None:
        self.setIndentation(self._themes.theme.metrics.indent)
        self.scheduleDelayedItemsLayout()
        self.viewport().update()


class ValueDialog(QDialog):
    """Dialog with one whole value, read-only."""

    def __init__(self, themes: ThemeController, path: str, value: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("valueDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Value")
        self.setAccessibleName("Value")
        layout = QVBoxLayout(self)
        layout.addWidget(TextLabel(safe_line(path, 300), variant="mono", name="valuePath", wrap=True, parent=self))
        text = QPlainTextEdit(self)
        text.setObjectName("valueText")
        text.setAccessibleName("Value")
        text.setReadOnly(True)
        text.setFont(themes.theme.font("mono"))
        shown = visible_controls(value[:ALL_CHARACTERS])
        if len(value) > ALL_CHARACTERS:
            shown += f"\n\nOnly the first {ALL_CHARACTERS:,} of {len(value):,} characters are shown."
        text.setPlainText(shown)
        layout.addWidget(text)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(value))
        buttons.rejected.connect(self.reject)
        layout.addWidget(buttons)
        self.resize(round(560 * themes.theme.zoom), round(380 * themes.theme.zoom))


class TreePage(QWidget):
    """The tree, or a sentence that explains its absence.

    Attributes:
        is_current: the message asked for last is shown.
    """

    def __init__(self, themes: ThemeController, client: Client, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._pending: Pending | None = None
        self.is_current = True
        self._chosen_steps: Steps | None = None  # to select once the tree has arrived
        self.setObjectName("treePage")
        self.setProperty("variant", "base")
        self.note = TextLabel(variant="hint", name="treeNote", wrap=True, parent=self)
        self.note.setContentsMargins(themes.theme.metrics.pane_padding - themes.theme.metrics.unit, 0, 0, 0)
        self.note.hide()
        self.tree = JsonTree(themes, client, self)
        self.sentence = TextLabel(variant="secondary", name="noTree", wrap=True, parent=self)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        padding, unit = themes.theme.metrics.pane_padding, themes.theme.metrics.unit
        self.sentence.setContentsMargins(padding - unit, padding, padding, padding)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(unit + 2, unit, 0, 0)
        outer.addWidget(self.note)
        self._stack = QStackedLayout()
        outer.addLayout(self._stack)
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self.sentence)

    def show_message(self, message: int) -> None:
        """Shows the tree of a message."""
        if self._pending is not None:
            self._pending.cancel()
        self.is_current, self._chosen_steps = False, None
        self._pending = self._client.send_request(ShowTree(message), lambda tree: self._show(message, tree))

    def _show(self, message: int, tree: MessageTree) -> None:
        self.note.setText(tree.note)
        self.note.setVisible(bool(tree.note))
        self.is_current = True
        if tree.sentence:
            self.sentence.setText(tree.sentence)
            self._stack.setCurrentWidget(self.sentence)
            return
        self.tree.show_rows(message, tree.rows)
        self._stack.setCurrentWidget(self.tree)
        if self._chosen_steps is not None:
            self.choose(self._chosen_steps)

    def choose(self, steps: Steps) -> None:
        """Selects a value, once the tree has arrived."""
        self._chosen_steps = None if self.is_current else steps
        if self.is_current:
            self.tree.choose(steps)
