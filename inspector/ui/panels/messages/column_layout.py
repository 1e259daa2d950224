"""How wide the columns of the message table are, by the room there is and by what the user chose (docs/design.md 14).

`layout_for` decides without Qt; `ColumnLayout` puts that into the head of a table, and reports what the user drags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHeaderView, QTableView

from inspector.analysis.arrays.array_views import as_numpy
from inspector.document.document import CaptureDocument
from inspector.present.message_columns import Column
from inspector.present.message_row import MAX_NAME
from inspector.present.wire_text import plain
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import NO_TIME
from inspector.ui import budgets
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.columns import AS_USUAL, ChosenColumns, Wanted
from inspector.ui.panels.messages.model import MessageTableModel

_NARROW: dict[int, int] = {
    Column.NUMBER: 37, Column.TIME: 56, Column.FROM_TO: 112, Column.KIND: 110, Column.CONTEXT: 60,
}  # fmt: skip
_WIDE: dict[int, int] = {Column.NUMBER: 52, Column.TIME: 68, Column.FROM_TO: 184, Column.KIND: 132, Column.CONTEXT: 150}
_FIGURES: dict[int, int] = {Column.LATENCY: 68, Column.SIZE: 60}
_GUTTER = 32
_ENDS_MOST = 160
"""So wide From -> To becomes for names that need it; in pixels at 100 %."""
_MESSAGE_BESIDE_NAMES = 320
"""What names leave Message, in pixels at 100 %."""
_WIDENED = (Column.FROM_TO, Column.CONTEXT, Column.KIND, Column.NUMBER, Column.TIME)
"""Columns that get what room there is beyond Message's share of the table, the first one first."""
_MESSAGE_SHARE = 0.42
"""Of a table's width."""
_MESSAGE_LEAST = 240
_MESSAGE_ENOUGH = 120
"""Below this, a narrow table gives up columns."""
_MESSAGE_LIKED = 200
"""Down to this Message makes room for columns of fields before those become narrower."""
_FIELD_LEAST = 72
"""To this, columns of fields become narrower before Message has less than that."""
_GIVEN_UP = (Column.CONTEXT, Column.TIME, Column.KIND)
"""Columns a narrow table gives up, the first one first; the details have them all."""
_LEAST_DIGITS = 3
_SECONDS_DIGITS, _HOURS_DIGITS = 4, 5
"""Digits of the seconds below an hour, and below 100,000 seconds; longer times are written otherwise."""
_NARROWEST = 40
"""Least width of a column that is dragged, in pixels at 100 %."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of the columns but Message, which takes the rest; columns that are not named are hidden.

    Attributes:
        widths: logical pixels by column; from `len(Column)` on those of fields.
        message: the least width of Message; where no more is left, the columns are wider than the table.
    """

    widths: dict[int, int]
    message: int

    def shows(self, column: int) -> bool:
        """Whether a column is shown."""
        return column == Column.MESSAGE or column in self.widths


def layout_for(
    width: int, zoom: float = 1.0, *, number: int = 0, time: int = 0, ends: int = 0, wanted: Wanted = AS_USUAL,
    empty: frozenset[int] = frozenset(),
) -> Layout:  # fmt: skip
    """How a table of a width lays out its columns.

    Message has its share of the table: what there is beyond that goes to Latency and Size, then columns become wider.
    Only names of participants, columns of fields, and widths that were chosen, leave it less. For columns of fields
    Message becomes narrower, then they do whose width nobody chose, then Message again; only where that does not do,
    Context goes, and they make the table wider than its viewport rather than drive out others.

    Args:
        width: of the viewport, in logical pixels.
        zoom: scales every width.
        number: least width of the column No., which is never elided.
        time: least width of the column Time.
        ends: width at which no name in From -> To is elided.
        wanted: what the user has chosen.
        empty: columns that say nothing of any message: Message takes their room, unless they were asked for.
    """
    layout = _layout_of_all(width, zoom, number, time, ends, wanted)
    kept = {column: wide for column, wide in layout.widths.items() if column not in empty - wanted.always}
    return Layout(kept, max(layout.message, width - sum(kept.values())))


def _layout_of_all(width: int, zoom: float, number: int, time: int, ends: int, wanted: Wanted) -> Layout:
    """The same, whatever columns say."""

    def scaled(usual: Mapping[int, int]) -> dict[int, int]:
        chosen = {c: wanted.widths.get(c, usual[c]) for c in usual if c not in wanted.never}
        made = {Column.GUTTER: _GUTTER, **chosen}
        widths = {int(column): round(pixels * zoom) for column, pixels in made.items()}
        for column, least in ((Column.NUMBER, number), (Column.TIME, time)):
            if column in widths:
                widths[column] = max(widths[column], least)
        return widths

    least, enough, field_least = (round(px * zoom) for px in (_MESSAGE_LEAST, _MESSAGE_ENOUGH, _FIELD_LEAST))

    def laid_out(widths: dict[int, int]) -> Layout:
        if wanted.fields:
            _narrow_fields(widths, wanted, sum(widths.values()) + round(_MESSAGE_LIKED * zoom) - width, field_least)
        named, beside = min(ends, round(_ENDS_MOST * zoom)), round(_MESSAGE_BESIDE_NAMES * zoom)
        _widen(widths, {Column.FROM_TO: named}, wanted, width - sum(widths.values()) - beside)
        return Layout(widths, max(enough, width - sum(widths.values())))

    share = 0 if wanted.fields or wanted.widths else round(width * _MESSAGE_SHARE)
    for usual in (_NARROW | _FIGURES, _NARROW):
        widths = scaled(usual | wanted.fields)
        spare = width - sum(widths.values()) - max(least, share)
        if spare >= 0 and (usual is not _NARROW or not wanted.always.intersection(_FIGURES)):
            _widen(widths, scaled(_WIDE), wanted, spare)
            return laid_out(widths)
    narrow = _NARROW | {column: width for column, width in _FIGURES.items() if column in wanted.always}
    for column in _GIVEN_UP:
        taken = scaled(narrow | wanted.fields if column is Column.CONTEXT else narrow)
        room = enough
        if column is Column.CONTEXT and wanted.fields:
            room = enough - _to_spare(taken, wanted, field_least)
        if column not in wanted.always and sum(taken.values()) + room > width:
            narrow.pop(column, None)
    return laid_out(scaled(narrow | wanted.fields))


def _widen(widths: dict[int, int], wide: Mapping[int, int], wanted: Wanted, spare: int) -> None:
    """Give columns whose width nobody chose what they may have of the room to spare."""
    for column in _WIDENED:
        if column in widths and column in wide and column not in wanted.widths:
            given = max(0, min(spare, wide[column] - widths[column]))
            widths[column] += given
            spare -= given


def _elastic(widths: dict[int, int], wanted: Wanted) -> list[int]:
    """Columns of fields whose width nobody chose."""
    return [column for column in wanted.fields if column in widths and column not in wanted.widths]


def _to_spare(widths: dict[int, int], wanted: Wanted, least: int) -> int:
    """How much narrower they can be."""
    return sum(max(0, widths[column] - least) for column in _elastic(widths, wanted))


def _narrow_fields(widths: dict[int, int], wanted: Wanted, missing: int, least: int) -> None:
    """Take missing room from the columns of fields, as far as they have it."""
    missing = min(missing, _to_spare(widths, wanted, least))
    columns = sorted(_elastic(widths, wanted), key=lambda column: widths[column])
    for place, column in enumerate(columns):
        share = -(-missing // (len(columns) - place))
        given = min(max(0, share), max(0, widths[column] - least))
        widths[column] -= given
        missing -= given


class ColumnLayout(QObject):
    """Gives the columns of one table their places and widths.

    Signals:
        changed(object): the user has moved or resized columns: `list[TableColumn]` for the settings.
    """

    changed = Signal(object)

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        table: QTableView,
        paints: PaintCache,
    ) -> None:
        super().__init__(table)
        self._document = document
        self._model = model
        self._table = table
        self._heads = table.horizontalHeader()
        self._paints = paints
        self._laid_out: tuple[object, ...] = ()
        self._share_read = 1.0
        self._digits, self._time_digits = _LEAST_DIGITS, 1
        self._measured, self._longest = 0, list[str]()
        self._arranging = False
        self._dragged: dict[int, int] = {}
        self._report_timer = QTimer(self)
        self._report_timer.setSingleShot(True)
        self._report_timer.setInterval(budgets.current.write_ms)
        self._report_timer.timeout.connect(self._report)
        self._heads.sectionResized.connect(self._on_section_resized)
        self._heads.sectionMoved.connect(self._on_section_moved)
        self._heads.sectionHandleDoubleClicked.connect(self._on_handle_double_clicked)

    # Laying out

    def expect(self, share: float) -> None:
        """Reserve room for the numbers and times to come, so that columns need not move while a log is read.

        Args:
            share: of the log that is read, 0 to 1.
        """
        self._share_read = max(share, 1e-6)

    def lay_out(self) -> None:
        """Give each column its width for the room there is; cheap where nothing changed."""
        self._count_digits()
        zoom = self._paints.theme.zoom
        columns, times, room = self._model.columns, self._model.times, self._table.viewport().width()
        padding = 2 * self._paints.metrics.cell_padding
        number_width = self._paints.width("body", "8" * self._digits) + padding
        time = "88:88:88.888" if times.mode == "clock" else self._longest_time()
        time_width = self._paints.width("body", time) + padding
        if times.mode != "start":
            time_width = max(time_width, self._paints.width("column", times.title) + padding)
        by = self._model.rows.sorted_by
        shown = None if by is None else columns.sorted_at(by.field.name)  # what the rows go by is seen in any case
        empty = self._empty_columns()
        names = sum(self._paints.width("body", name) for name in self._longest_names())
        ends = names + self._paints.width("body", " → ") + padding
        wanted = (room, zoom, number_width, time_width, ends, columns, shown, empty)
        if wanted == self._laid_out:
            return
        self._laid_out = wanted
        chosen = columns.wanted.showing(shown)
        layout = layout_for(room, zoom, number=number_width, time=time_width, ends=ends, wanted=chosen, empty=empty)
        self._arranging = True
        self._arrange(layout, room)
        self._arranging = False

    def _longest_time(self) -> str:
        """The widest time since the first message, as `formats.seconds` writes it."""
        if self._time_digits <= _SECONDS_DIGITS:
            return "8" * self._time_digits + ".888"
        longest = "88:88:88" if self._time_digits <= _HOURS_DIGITS else "888 d 88:88"
        within_an_hour = "8" * _SECONDS_DIGITS + ".888"  # of the messages before
        return max(longest, within_an_hour, key=lambda time: self._paints.width("body", time))

    def _longest_names(self) -> Sequence[str]:
        """The two longest names of participants, as rows show them. O(participants that are new)."""
        known, strings = self._document.analysis.participants.all, self._document.capture.strings
        if len(known) > self._measured:
            keys = known.keys_of(np.arange(self._measured, len(known)))
            names = {plain(strings[key & 0xFFFFFFFF], MAX_NAME) for key in keys.tolist()}
            if any(map(strings.find, GATEWAY_IDS)):
                names.add("everyone")  # as long as "gateway", which is no participant
            self._longest = sorted({*self._longest, *names}, key=len)[-2:]
            self._measured = len(known)
        return self._longest

    def _empty_columns(self) -> frozenset[int]:
        """Columns that have nothing to say of any message there is. O(contexts)."""
        analysis = self._document.analysis
        contexts = analysis.contexts
        says = {
            Column.CONTEXT: bool((as_numpy(contexts.first_row)[: len(contexts.tree)] >= 0).any()),
            Column.TIME: contexts.clock_ns != NO_TIME,
            Column.LATENCY: analysis.capture.strings.find(kinds.RESPONSE) is not None,
        }
        return frozenset(int(column) for column, on in says.items() if not on) if len(analysis) else frozenset()

    def lay_out_anew(self) -> None:
        """As `lay_out`, after a change that it does not see: another grid, or other columns."""
        self._laid_out = ()
        self.lay_out()

    def use_columns(self) -> None:
        """Lay out the columns the model has now."""
        self._dragged.clear()
        self._report_timer.stop()
        self.lay_out_anew()
        self._table.viewport().update()

    def _count_digits(self) -> None:
        """How many digits numbers and times have, or will have if the log goes on as it began; they only grow."""
        count = len(self._document.analysis)
        latest_ns, start_ns = self._document.analysis.contexts.clock_ns, self._model.start_ns
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
            if column == Column.MESSAGE and not too_wide:
                mode = modes.Stretch
            heads.setSectionResizeMode(column, mode)
            heads.setSectionHidden(column, not layout.shows(column))
            if column in layout.widths:
                heads.resizeSection(column, layout.widths[column])
        if too_wide:
            heads.resizeSection(Column.MESSAGE, layout.message)

    # What is shown

    def shown_columns(self) -> list[int]:
        """The columns shown from left to right, the gutter left out; what a copied row holds."""
        standing = map(self._heads.logicalIndex, range(self._heads.count()))
        return [column for column in standing if column != Column.GUTTER and not self._table.isColumnHidden(column)]

    def bring_into_view(self, column: int) -> None:
        """Scroll to a column where columns are wider than the table."""
        table = self._table
        if table.isColumnHidden(column):
            return
        table.updateGeometries()
        left, bar = table.columnViewportPosition(column), table.horizontalScrollBar()
        beyond = left + table.columnWidth(column) - table.viewport().width()
        if left < 0 or beyond > 0:
            bar.setValue(bar.value() + (left if left < 0 else min(beyond, left)))

    # Dragged by the user

    def _on_section_resized(self, section: int, _old: int, new: int) -> None:
        dragging = bool(QApplication.mouseButtons() & Qt.MouseButton.LeftButton)
        if dragging and not self._arranging and section not in (Column.GUTTER, Column.MESSAGE) and new:
            self._dragged[section] = max(_NARROWEST, round(new / self._paints.theme.zoom))
            self._report_timer.start()

    def _on_section_moved(self, _section: int, _from: int, _to: int) -> None:
        if not self._arranging:
            self._report_timer.start()

    def _on_handle_double_clicked(self, section: int) -> None:
        """The usual width again."""
        self._dragged[section] = 0
        self._report()

    def _report(self) -> None:
        """Say where columns stand and how wide they are, when the user has let them go."""
        if QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._report_timer.start()
            return
        widths, self._dragged = self._dragged, {}
        order = [self._heads.logicalIndex(place) for place in range(self._heads.count())]
        columns = ChosenColumns(self._model.columns.changed(widths=widths))
        self.changed.emit(columns.moved(order))
