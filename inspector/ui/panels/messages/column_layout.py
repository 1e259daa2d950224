"""Column widths of the message table, from the available width and the user's choices (docs/design.md 14).

`layout_for` decides without Qt. `ColumnLayout` applies the layout to the table's header and reports the user's drags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHeaderView, QTableView

from inspector.present.message_columns import Column
from inspector.protocol.timestamps import NO_TIME
from inspector.ui import intervals
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.columns import AS_USUAL, ChosenColumns, Wanted
from inspector.ui.panels.messages.model import MessageTableModel

# Pixels at 100 %, from the table in docs/design.md 14.
_NARROW_WIDTHS: dict[int, int] = {
    Column.NUMBER: 37, Column.TIME: 56, Column.FROM_TO: 112, Column.KIND: 110, Column.CONTEXT: 60,
}  # fmt: skip
_WIDE_WIDTHS: dict[int, int] = {
    Column.NUMBER: 52,
    Column.TIME: 68,
    Column.FROM_TO: 184,
    Column.KIND: 132,
    Column.CONTEXT: 150,
}
_FIGURES: dict[int, int] = {Column.LATENCY: 88, Column.SIZE: 60}
_GUTTER = 32
_MAX_NAMES_WIDTH = 160
"""Most width of From -> To for long names, pixels at 100 %."""
_ICON_ALONE = 30
"""Width of Kind without its word, pixels at 100 %."""
_STACKED_NAMES, _LEAST_NAMES = 88, 72
"""Widths of From -> To on two lines: preferred and least, pixels at 100 %."""
_WIDENED_COLUMNS = (Column.FROM_TO, Column.CONTEXT, Column.KIND, Column.NUMBER, Column.TIME)
"""Columns that share the width beyond Message's share, in this order."""
_MESSAGE_SHARE = 0.42
"""Share of the table's width."""
_MESSAGE_GOOD_WIDTH = 420
"""Width of Message for which names and kinds shrink, pixels at 100 %."""
_MESSAGE_MIN_WIDTH = 240
"""Least width of Message beside wide columns if the user chose columns or widths, pixels at 100 %."""
_MESSAGE_NARROW_WIDTH = 120
"""Width of Message below which a narrow table hides columns, pixels at 100 %."""
_MESSAGE_SHRINK_WIDTH = 200
"""Width to which Message shrinks before columns of fields do, pixels at 100 %."""
_FIELD_MIN_WIDTH = 72
"""Width to which columns of fields shrink before Message shrinks further, pixels at 100 %."""
_DROPPED_COLUMNS = (Column.CONTEXT, Column.TIME, Column.KIND)
"""Columns that a narrow table hides, in this order; the details show all of them."""
_EVERYONE = "everyone"
"""Shown in From -> To without a recipient."""
_MIN_DIGITS = 3
_SECONDS_DIGITS, _HOURS_DIGITS = 4, 5
"""Digits of seconds below an hour, and below 100,000 s; longer times have another format."""
_MIN_DRAGGED_WIDTH = 40
"""Least width of a dragged column, pixels at 100 %."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of all columns but Message, which takes the rest; columns without a width are hidden.

    Attributes:
        widths: logical pixels by column; from `len(Column)` on of fields.
        message: least width of Message; if less is left, the columns exceed the table.
    """

    widths: dict[int, int]
    message: int

    def shows(self, column: int) -> bool:
        return column == Column.MESSAGE or column in self.widths


def layout_for(
    width: int, zoom: float = 1.0, *, number: int = 0, time: int = 0, ends: int = 0, wanted: Wanted = AS_USUAL,
    empty: frozenset[int] = frozenset(),
) -> Layout:  # fmt: skip
    """Lays out the columns of a table.

    Message has a fixed share of the table, and a good width before that. For it, Kind shows its icon alone and
    From -> To has two lines. Latency, Size and wider columns use the rest. Only columns of fields and chosen widths may
    reduce Message further. For columns of fields, Message shrinks first, then fields
    without a chosen width, then Message again. After that Context is hidden, and the table becomes wider than its
    viewport.

    Args:
        width: of the viewport, in logical pixels.
        zoom: scales every width.
        number: least width of the column No., which is never elided.
        time: least width of the column Time.
        ends: width of From -> To at which no name is elided.
        wanted: the user's choices.
        empty: columns without content; Message takes their width, unless the user chose them.
    """
    hidden = empty - wanted.always
    layout = _layout_of_all(width, zoom, number, time, ends, wanted, hidden)
    kept = {column: wide for column, wide in layout.widths.items() if column not in hidden}
    return Layout(kept, max(layout.message, width - sum(kept.values())))


def _layout_of_all(
    width: int, zoom: float, number: int, time: int, ends: int, wanted: Wanted, hidden: frozenset[int]
) -> Layout:  # fmt: skip
    """Lays out all columns, hidden ones included; these are not widened."""

    def scaled(usual: Mapping[int, int]) -> dict[int, int]:
        chosen = {c: wanted.widths.get(c, usual[c]) for c in usual if c not in wanted.never}
        made = {Column.GUTTER: _GUTTER, **chosen}
        widths = {int(column): round(pixels * zoom) for column, pixels in made.items()}
        for column, least in ((Column.NUMBER, number), (Column.TIME, time)):
            if column in widths:
                widths[column] = max(widths[column], least)
        return widths

    good, least, enough, field_least = (
        round(px * zoom) for px in (_MESSAGE_GOOD_WIDTH, _MESSAGE_MIN_WIDTH, _MESSAGE_NARROW_WIDTH, _FIELD_MIN_WIDTH)
    )

    def laid_out(widths: dict[int, int]) -> Layout:
        if wanted.fields:
            _narrow_fields(
                widths, wanted, sum(widths.values()) + round(_MESSAGE_SHRINK_WIDTH * zoom) - width, field_least
            )
        else:
            _narrow_for_message(widths, wanted, sum(widths.values()) + good - width, zoom)
        named = min(ends, round(_MAX_NAMES_WIDTH * zoom))
        _widen(widths, {Column.FROM_TO: named}, wanted, width - sum(widths.values()) - good)
        return Layout(widths, max(enough, width - sum(widths.values())))

    reserved = least if wanted.fields or wanted.widths else max(good, round(width * _MESSAGE_SHARE))
    for usual in (_NARROW_WIDTHS | _FIGURES, _NARROW_WIDTHS):
        widths = scaled(usual | wanted.fields)
        spare = width - sum(widths.values()) - reserved
        if spare >= 0 and (usual is not _NARROW_WIDTHS or not wanted.always.intersection(_FIGURES)):
            wide = {column: most for column, most in scaled(_WIDE_WIDTHS).items() if column not in hidden}
            if ends and Column.FROM_TO in wide:  # no wider than the names need
                wide[Column.FROM_TO] = min(wide[Column.FROM_TO], ends)
            _widen(widths, wide, wanted, spare)
            return laid_out(widths)
    narrow = _NARROW_WIDTHS | {column: width for column, width in _FIGURES.items() if column in wanted.always}
    for column in _DROPPED_COLUMNS:
        taken = scaled(narrow | wanted.fields if column is Column.CONTEXT else narrow)
        room = enough
        if column is Column.CONTEXT and wanted.fields:
            room = enough - _shrinkable_pixels(taken, wanted, field_least)
        if column not in wanted.always and sum(taken.values()) + room > width:
            narrow.pop(column, None)
    return laid_out(scaled(narrow | wanted.fields))


def _narrow_for_message(widths: dict[int, int], wanted: Wanted, missing: int, zoom: float) -> None:
    """Takes pixels that Message misses from names, and from kinds if names have too few.

    Columns with a chosen width, and columns shown at any width, keep theirs.
    """
    free = widths.keys() - wanted.widths.keys() - wanted.always
    stacked = round(_STACKED_NAMES * zoom)
    if Column.FROM_TO in free and missing <= widths[Column.FROM_TO] - stacked:
        widths[Column.FROM_TO] -= max(0, missing)
        return
    if Column.KIND in free:
        missing -= widths[Column.KIND] - round(_ICON_ALONE * zoom)
        widths[Column.KIND] = round(_ICON_ALONE * zoom)
    if Column.FROM_TO in free:
        widths[Column.FROM_TO] -= min(max(0, missing), widths[Column.FROM_TO] - round(_LEAST_NAMES * zoom))


def _widen(widths: dict[int, int], wide: Mapping[int, int], wanted: Wanted, spare: int) -> None:
    """Distributes spare width among columns without a chosen width."""
    for column in _WIDENED_COLUMNS:
        if column in widths and column in wide and column not in wanted.widths:
            given = max(0, min(spare, wide[column] - widths[column]))
            widths[column] += given
            spare -= given


def _unchosen_fields(widths: dict[int, int], wanted: Wanted) -> list[int]:
    """Returns the columns of fields without a chosen width."""
    return [column for column in wanted.fields if column in widths and column not in wanted.widths]


def _shrinkable_pixels(widths: dict[int, int], wanted: Wanted, least: int) -> int:
    """Returns the pixels by which these columns can shrink."""
    return sum(max(0, widths[column] - least) for column in _unchosen_fields(widths, wanted))


def _narrow_fields(widths: dict[int, int], wanted: Wanted, missing: int, least: int) -> None:
    """Takes missing pixels from the columns of fields."""
    missing = min(missing, _shrinkable_pixels(widths, wanted, least))
    # Narrow columns first: the wider ones share what these cannot give.
    columns = sorted(_unchosen_fields(widths, wanted), key=lambda column: widths[column])
    for place, column in enumerate(columns):
        # Rounded up, so that the last column leaves no pixel missing.
        share = -(-missing // (len(columns) - place))
        given = min(max(0, share), max(0, widths[column] - least))
        widths[column] -= given
        missing -= given


class ColumnLayout(QObject):
    """Applies positions and widths to the columns of one table.

    Signals:
        changed(object): the user moved or resized columns: `list[TableColumn]` for the settings.
    """

    changed = Signal(object)

    def __init__(
        self,
        model: MessageTableModel,
        table: QTableView,
        paints: PaintCache,
    ) -> None:
        super().__init__(table)
        self._model = model
        self._table = table
        self._heads = table.horizontalHeader()
        self._paints = paints
        self._layout_key: tuple[object, ...] = ()
        self._share_read = 1.0
        self._digits, self._time_digits = _MIN_DIGITS, 1
        self._arranging = False
        self._dragged: dict[int, int] = {}
        self._report_timer = QTimer(self)
        self._report_timer.setSingleShot(True)
        self._report_timer.setInterval(intervals.WRITE_MS)
        self._report_timer.timeout.connect(self._report)
        model.figures_changed.connect(self.lay_out)
        self._heads.sectionResized.connect(self._on_section_resized)
        self._heads.sectionMoved.connect(self._on_section_moved)
        self._heads.sectionHandleDoubleClicked.connect(self._on_handle_double_clicked)

    # Layout

    def expect(self, share: float) -> None:
        """Reserves width for later numbers and times, so that columns stay still while a log is read.

        Args:
            share: part of the log read so far, 0 to 1.
        """
        self._share_read = max(share, 1e-6)

    def lay_out(self) -> None:
        """Sets the column widths for the current table width; cheap without a change."""
        self._count_digits()
        zoom = self._paints.theme.zoom
        columns, times, room = self._model.columns, self._model.times, self._table.viewport().width()
        padding = 2 * self._paints.metrics.cell_padding
        number_width = self._paints.width("body", "8" * self._digits) + padding
        # 8 is the widest digit in most fonts.
        time = "88:88:88.888" if times.mode == "clock" else self._longest_time()
        time_width = self._paints.width("body", time) + padding
        if times.mode != "start":
            time_width = max(time_width, self._paints.width("column", times.title) + padding)
        by = self._model.rows.sorted_by
        # The sort column is always visible.
        shown = None if by is None else columns.sorted_at(by.field)
        empty = frozenset(self._model.figures.empty)
        names = [self._paints.width("body", name) for name in (*self._model.figures.names, _EVERYONE)]
        ends = sum(sorted(names)[-2:]) + self._paints.width("body", " → ") + padding
        wanted = (room, zoom, number_width, time_width, ends, columns, shown, empty)
        # Called after every flush: without this check each would resize all columns.
        if wanted == self._layout_key:
            return
        self._layout_key = wanted
        chosen = columns.wanted.showing(shown)
        layout = layout_for(room, zoom, number=number_width, time=time_width, ends=ends, wanted=chosen, empty=empty)
        self._arranging = True
        self._arrange(layout, room)
        self._arranging = False

    def _longest_time(self) -> str:
        """Returns the widest time since the first message, in the format of `present.formats.seconds`."""
        if self._time_digits <= _SECONDS_DIGITS:
            return "8" * self._time_digits + ".888"
        longest = "88:88:88" if self._time_digits <= _HOURS_DIGITS else "888 d 88:88"
        # Of earlier messages.
        within_an_hour = "8" * _SECONDS_DIGITS + ".888"
        return max(longest, within_an_hour, key=lambda time: self._paints.width("body", time))

    def lay_out_anew(self) -> None:
        """Lays out after a change of grid or columns, which `lay_out` cannot detect."""
        self._layout_key = ()
        self.lay_out()

    def use_columns(self) -> None:
        """Lays out the model's current columns."""
        self._dragged.clear()
        self._report_timer.stop()
        self.lay_out_anew()
        self._table.viewport().update()

    def _count_digits(self) -> None:
        """Updates the digits of numbers and times, extrapolated to the whole log; they only grow."""
        figures = self._model.figures
        count, latest_ns, start_ns = figures.messages, figures.latest_ns, figures.start_ns
        span_s = 0 if NO_TIME in (latest_ns, start_ns) else abs(latest_ns - start_ns) // 1_000_000_000
        self._digits = max(self._digits, len(str(round(count / self._share_read))))
        self._time_digits = max(self._time_digits, len(str(round(span_s / self._share_read))))

    def _arrange(self, layout: Layout, room: int) -> None:
        heads, modes = self._heads, QHeaderView.ResizeMode
        too_wide = sum(layout.widths.values()) + layout.message > room
        for place, column in enumerate(self._model.columns.order):
            if heads.visualIndex(column) != place:
                heads.moveSection(heads.visualIndex(column), place)
            mode = modes.Fixed if column == Column.GUTTER else modes.Interactive
            # In a table too wide, Qt would stretch Message to nothing.
            if column == Column.MESSAGE and not too_wide:
                mode = modes.Stretch
            heads.setSectionResizeMode(column, mode)
            heads.setSectionHidden(column, not layout.shows(column))
            if column in layout.widths:
                heads.resizeSection(column, layout.widths[column])
        if too_wide:
            heads.resizeSection(Column.MESSAGE, layout.message)

    # Content

    def shown_columns(self) -> list[int]:
        """Returns the visible columns from left to right, without the gutter; copied rows use them."""
        standing = map(self._heads.logicalIndex, range(self._heads.count()))
        return [column for column in standing if column != Column.GUTTER and not self._table.isColumnHidden(column)]

    def bring_into_view(self, column: int) -> None:
        """Scrolls to a column if the columns exceed the table."""
        table = self._table
        if table.isColumnHidden(column):
            return
        # Qt updates the range of the scroll bar only later.
        table.updateGeometries()
        left, bar = table.columnViewportPosition(column), table.horizontalScrollBar()
        beyond = left + table.columnWidth(column) - table.viewport().width()
        if left < 0 or beyond > 0:
            bar.setValue(bar.value() + (left if left < 0 else min(beyond, left)))

    # Drags

    def _on_section_resized(self, section: int, _old: int, new: int) -> None:
        # Qt emits this signal for every change; only those under a pressed button are the user's.
        dragging = bool(QApplication.mouseButtons() & Qt.MouseButton.LeftButton)
        if dragging and not self._arranging and section not in (Column.GUTTER, Column.MESSAGE) and new:
            self._dragged[section] = max(_MIN_DRAGGED_WIDTH, round(new / self._paints.theme.zoom))
            self._report_timer.start()

    def _on_section_moved(self, _section: int, _from: int, _to: int) -> None:
        if not self._arranging:
            self._report_timer.start()

    def _on_handle_double_clicked(self, section: int) -> None:
        """Resets a column to its usual width."""
        self._dragged[section] = 0
        self._report()

    def _report(self) -> None:
        """Emits the new order and widths once the mouse button is released."""
        if QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._report_timer.start()
            return
        widths, self._dragged = self._dragged, {}
        order = [self._heads.logicalIndex(place) for place in range(self._heads.count())]
        columns = ChosenColumns(self._model.columns.changed(widths=widths), self._model.columns.known)
        self.changed.emit(columns.moved(order))
