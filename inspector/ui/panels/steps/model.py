"""Table model of steps: rows as the engine arranged them, folded here; texts are fetched for rows in sight."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal
from typing_extensions import override

from inspector.engine.requests.steps import Bar, DescribeSteps, RowKind, State, StepQuestion, StepRows, StepText
from inspector.present import formats
from inspector.ui.widgets.latest_answer import Client

_AHEAD = 40
"""Texts fetched above and below the rows in sight."""
_MOST_TEXTS = 20_000
_CLOSED = (RowKind.JOINED, RowKind.TOOL, RowKind.AGENT)
"""Kinds of rows that are closed at first."""
_MOST_OPEN = 2_000
"""With more rows, turns are closed at first too."""
_NO_TIME = np.iinfo(np.int64).min

Key = tuple[int, int, int]
"""Kind, first and last message of a row; the same after the document has grown."""
Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class StepColumn(enum.IntEnum):
    """Columns of the table."""

    STEP = 0
    TOOK = 1
    TOKENS = 2
    COST = 3
    STARTED = 4
    BARS = 5


HEADS = {
    StepColumn.STEP: "Step", StepColumn.TOOK: "Took", StepColumn.TOKENS: "Tokens", StepColumn.COST: "Cost",
    StepColumn.STARTED: "Started", StepColumn.BARS: "Waterfall",
}  # fmt: skip
_HEAD_TIPS = {
    StepColumn.TOOK: "Duration. Of a turn or a group: the time in which any of its steps ran",
    StepColumn.TOKENS: "Tokens that models wrote; of a call, those of its result (an estimate)",
    StepColumn.COST: "Cost of the calls of models",
    StepColumn.STARTED: "Time of the first message",
    StepColumn.BARS: "Wheel with Ctrl or W and S zoom, drag or A and D move, Shift+drag filters by a time range",
}
_STATE_WORDS = {
    State.FAILED: "failed", State.REJECTED: "not allowed by a person", State.WAITING: "waiting",
    State.UNANSWERED: "no answer", State.CANCELLED: "cancelled",
}  # fmt: skip
_BAR_WORDS = {Bar.MODEL: "model", Bar.TOOL: "tool", Bar.PERSON: "decisions",
              Bar.ALLOWED: "with your permission"}  # fmt: skip


class StepsModel(QAbstractTableModel):
    """The rows that are not folded away.

    Signals:
        texts_changed(): texts of rows in sight have arrived.

    Attributes:
        rows: all rows.
        visible: (v,) int64, places in `rows` of the rows that are not folded away.
        question: the question that `rows` answer.
    """

    texts_changed = Signal()

    def __init__(self, client: Client, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self.rows, self.question = StepRows(), StepQuestion()
        self.visible: NDArray[np.int64] = np.zeros(0, np.int64)
        self._switched: set[Key] = set()  # rows folded other than at first
        self._texts: dict[Key, StepText] = {}
        self._fresh: set[Key] = set()  # texts of this revision
        self._wanted: set[int] = set()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._fetch)

    # Rows

    def show(self, rows: StepRows, question: StepQuestion) -> None:
        """Shows other rows; folded ones stay folded."""
        self.beginResetModel()
        if rows.revision != self.rows.revision:
            self._fresh.clear()
        if question.grouping != self.question.grouping:
            self._switched.clear()
        if len(self._texts) > _MOST_TEXTS:
            self._texts.clear()
        self.rows, self.question = rows, question
        self._fold()
        self.endResetModel()

    def _fold(self) -> None:
        rows = self.rows
        closed = np.isin(rows.kinds, _CLOSED)
        if len(rows.kinds) > _MOST_OPEN:
            closed |= rows.kinds == RowKind.TURN
        if self._switched:
            for place in np.flatnonzero(self._are_parents()).tolist():
                if self.key_of(place) in self._switched:
                    closed[place] = ~closed[place]
        self._closed = closed & self._are_parents()
        change = np.zeros(len(rows.kinds) + 1, np.int64)
        places = np.flatnonzero(self._closed)
        np.add.at(change, places + 1, 1)
        np.add.at(change, rows.ends[places], -1)
        self.visible = np.flatnonzero(np.cumsum(change[:-1]) == 0)

    def _are_parents(self) -> NDArray[np.bool_]:
        return self.rows.ends > np.arange(len(self.rows.ends)) + 1

    def key_of(self, place: int) -> Key:
        """Returns the key of a row."""
        rows = self.rows
        return int(rows.kinds[place]), int(rows.messages[place]), int(rows.last_messages[place])

    def is_parent(self, place: int) -> bool:
        """Returns True for a row with rows below it."""
        return int(self.rows.ends[place]) > place + 1

    def is_open(self, place: int) -> bool:
        """Returns True for a row whose rows below are shown."""
        return self.is_parent(place) and not bool(self._closed[place])

    def switch(self, place: int) -> None:
        """Opens a closed row, or closes an open one."""
        if self.is_parent(place):
            self._switched ^= {self.key_of(place)}
            self._refold()

    def switch_all(self, place: int) -> None:
        """Opens or closes all rows of the depth of a row."""
        is_open, depth = self.is_open(place), self.rows.depths[place]
        same = np.flatnonzero(self._are_parents() & (self.rows.depths == depth) & (self._closed != is_open))
        self._switched ^= {self.key_of(one) for one in same.tolist()}
        self._refold()

    def reveal(self, place: int) -> None:
        """Opens the rows above a row."""
        above = np.flatnonzero(self._closed[:place] & (self.rows.ends[:place] > place))
        if len(above):
            self._switched ^= {self.key_of(one) for one in above.tolist()}
            self._refold()

    def _refold(self) -> None:
        self.beginResetModel()
        self._fold()
        self.endResetModel()

    def row_of(self, place: int) -> int:
        """Returns the line of a row, or of the closed row that contains it; -1 without one."""
        return int(np.searchsorted(self.visible, place, side="right")) - 1

    def place_of_message(self, message: int) -> int | None:
        """Returns the row of a message: its call, its output, or its turn; None without one."""
        rows = self.rows
        single = rows.kinds == RowKind.STEP
        exact = single & ((rows.messages == message) | (rows.last_messages == message))
        calls = np.flatnonzero(exact & (rows.bars != Bar.MODEL))
        if len(calls):
            return int(calls[0])
        turns = np.flatnonzero((rows.kinds == RowKind.TURN) & (rows.messages == message))
        if len(turns):
            return int(turns[0])
        within = np.flatnonzero(single & (rows.messages <= message) & (rows.last_messages >= message))
        if not len(within):
            return None
        return int(within[np.argmin(rows.last_messages[within] - rows.messages[within])])

    # Texts

    def text_of(self, place: int) -> StepText | None:
        """Returns the text of a row; asks for it if it is not known."""
        key = self.key_of(place)
        if key not in self._fresh:
            self._wanted.add(place)
            self._soon.start()
        return self._texts.get(key)

    def _fetch(self) -> None:
        if not self._wanted:
            return
        first, last = self.row_of(min(self._wanted)), self.row_of(max(self._wanted))
        asked = [
            place
            for place in self.visible[max(0, first - _AHEAD) : last + _AHEAD][:900].tolist()
            if self.key_of(place) not in self._fresh
        ]
        self._wanted.clear()
        if asked:
            revision = self.rows.revision
            self._client.send_request(
                DescribeSteps(self.question, revision, asked),
                lambda texts: self._take(revision, asked, texts),
                lambda _sentence: None,
            )

    def _take(self, revision: int, asked: list[int], texts: list[StepText]) -> None:
        if revision != self.rows.revision or len(texts) != len(asked):
            return
        for place, text in zip(asked, texts, strict=True):
            key = self.key_of(place)
            self._texts[key] = text
            self._fresh.add(key)
        self.texts_changed.emit()

    # Qt

    @override
    def rowCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else len(self.visible)

    @override
    def columnCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else len(StepColumn)

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(StepColumn):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[StepColumn(section)]
        return _HEAD_TIPS.get(StepColumn(section)) if role == Qt.ItemDataRole.ToolTipRole else None

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.visible):
            return None
        place = int(self.visible[index.row()])
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.cell(place, StepColumn(index.column()))
        return self.description(place) if role == Qt.ItemDataRole.ToolTipRole else None

    def cell(self, place: int, column: StepColumn) -> str:
        """Returns the text of a cell."""
        rows = self.rows
        match column:
            case StepColumn.STEP:
                text = self.text_of(place)
                return "" if text is None else text.words
            case StepColumn.TOOK:
                took = int(rows.took_ns[place])
                return formats.duration(took) if took >= 0 else ""
            case StepColumn.TOKENS:
                tokens = int(rows.tokens[place])
                return formats.short_count(tokens) if tokens >= 0 else ""
            case StepColumn.COST:
                dollars = float(rows.dollars[place])
                return "" if np.isnan(dollars) else formats.dollars(dollars)
            case StepColumn.STARTED:
                return self.time_words(int(rows.starts_ns[place]))
            case StepColumn.BARS:
                return self.bar_words(place)

    def time_words(self, time_ns: int) -> str:
        """Formats a time: of day, or since the start of a log without dates."""
        if time_ns == _NO_TIME:
            return ""
        return formats.time_of_day(time_ns) or formats.with_unit(formats.seconds(time_ns - self.rows.head.first_ns))

    def bar_words(self, place: int) -> str:
        """Describes the bar of a row: class, state, calls at once."""
        rows = self.rows
        state = _STATE_WORDS.get(State(int(rows.states[place])), "")
        at_once = int(rows.at_once[place])
        failed = int(rows.failed[place]) if self.is_parent(place) else 0
        return ", ".join(
            filter(None, (
                _BAR_WORDS.get(Bar(int(rows.bars[place])), ""), state,
                f"{at_once:,} at once" if at_once > 1 else "", f"{failed:,} failed" if failed else "",
            ))
        )  # fmt: skip

    def path_words(self, place: int) -> str:
        """Tells the time of a row on a critical path."""
        rows = self.rows
        first, last = np.searchsorted(rows.path_rows, (place, place + 1))
        took = int((rows.path_stops_ns - rows.path_starts_ns)[first:last].sum())
        return f"On the critical path for {formats.duration(took)}" if took else ""

    def description(self, place: int) -> str:
        """Returns text, times and figures of a row, one a line."""
        rows = self.rows
        start, stop = self.time_words(int(rows.starts_ns[place])), self.time_words(int(rows.stops_ns[place]))
        took, tokens, cost = (self.cell(place, one) for one in (StepColumn.TOOK, StepColumn.TOKENS, StepColumn.COST))
        lines = [self.cell(place, StepColumn.STEP)]
        if took:
            lines.append(f"Took {took}, from {start} to {stop}")
        elif start:
            lines.append(f"At {start}")
        lines.append(", ".join(filter(None, (f"{tokens} tokens" if tokens else "", cost, self.bar_words(place)))))
        lines.append(self.path_words(place))
        return "\n".join(filter(None, lines))
