"""Item model of the participants: present ones first, the observer after the others, departed ones last."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.passes.participants.participant_table import GONE, PRESENT
from inspector.analysis.views.summaries.participant_queries import shown_numbers
from inspector.base.slices import SlicedWork, run_to_end
from inspector.document.document import CaptureDocument
from inspector.present import participant_words as words
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.timestamps import NO_TIME

SPEAKING_S = 2
"""A participant counts as speaking for this many seconds after a message."""

_CROWD_SIZE, _STEP_ROWS = 500, 5_000  # participants from which a refresh takes steps, and those of one step
_LONGEST = 60
"""Maximum length of a space's name. The name of a session is a sentence of its user."""

Index = QModelIndex | QPersistentModelIndex
Key = tuple[int, str]
"""(space as a string id, name)."""

_NOWHERE = QModelIndex()


class PresenceDot(enum.Enum):
    """Meaning of the presence dot."""

    SPEAKING = "speaking"
    HERE = "here"
    GONE = "left"
    UNKNOWN = "not announced"


class ParticipantsModel(QAbstractListModel):
    """One row per participant of a space.

    Attributes:
        space_name: returns the name of a space from its string id; by default the string itself.
    """

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._analysis = document.analysis
        self._presence_count = 0, False
        self._keys: list[Key] = run_to_end(self._wanted())
        self._marks: dict[Key, tuple[PresenceDot, str]] = {}  # presence and texts of the visible rows a second ago
        self.space_name: Callable[[int], str] = lambda space: document.capture.strings[space] or "no space"
        self._of_several_spaces = False
        self._note_spaces()

    def _wanted(self) -> SlicedWork[list[Key]]:
        """Sorts participants: present by first appearance, the observer, departed; unseen ones last in each group."""
        everyone, numbers = self._analysis.participants.all, shown_numbers(self._analysis)
        columns = (everyone.here, everyone.is_us, everyone.first_ns)
        here, us, first_ns = (np.array(column)[numbers] for column in columns)
        groups = 4 * (here == GONE) + 2 * us + (first_ns == NO_TIME)
        self._presence_count = int(np.count_nonzero(here == PRESENT)), bool(here.any())
        yield
        wanted: list[Key] = []
        ordered = numbers[np.lexsort((first_ns, groups))].tolist()
        for place in range(0, len(ordered), _STEP_ROWS):
            wanted += map(everyone.pair, ordered[place : place + _STEP_ROWS])
            yield
        return wanted

    def _note_spaces(self) -> None:
        self._of_several_spaces = len({space for space, _ in self._keys}) > 1

    # Rows

    @property
    def is_crowded(self) -> bool:
        """True if there are so many participants that a refresh is done in steps."""
        return len(self._analysis.participants.all) > _CROWD_SIZE

    def participant(self, row: int) -> Participant:
        return self._analysis.participants.all[self._keys[row]]

    def row_of(self, key: Key) -> int:
        """Returns the row of a participant, or -1. O(participants)."""
        return self._keys.index(key) if key in self._keys else -1

    def name(self, row: int) -> str:
        """Returns the name on one line with visible control characters."""
        return safe_line(self._keys[row][1])

    def tag(self, row: int) -> str:
        """Returns a short tag after the name: `you`, or ""."""
        return "you" if self.participant(row).is_us else ""

    def space(self, row: int) -> str:
        """Returns the name of the space if there are several, else ""."""
        return safe_line(self.space_name(self._keys[row][0]), _LONGEST) if self._of_several_spaces else ""

    def presence(self, row: int) -> PresenceDot:
        """Returns the meaning of the presence dot."""
        participant, now = self.participant(row), self._analysis.now_ns
        if participant.here is False:
            return PresenceDot.GONE
        last_ns = participant.last_ns if participant.messages and self._document.live else NO_TIME
        if now is not None and last_ns != NO_TIME and now - last_ns <= SPEAKING_S * 1_000_000_000:
            return PresenceDot.SPEAKING
        return PresenceDot.UNKNOWN if participant.here is None else PresenceDot.HERE

    def line(self, row: int) -> str:
        return words.state_line(self.participant(row), self._analysis)

    def short_line(self, row: int) -> str:
        """Returns the second line for a narrow view."""
        return words.state_line(self.participant(row), self._analysis, short=True)

    def here(self) -> tuple[int, bool]:
        """Returns the number of present participants, and True if any presence was announced."""
        return self._presence_count

    # Qt

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._keys)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._keys):
            return None
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole or role == Qt.ItemDataRole.AccessibleTextRole:
            return self.name(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            participant = self.participant(row)
            space = self._document.capture.strings[participant.space]
            return tool_tip(words.tooltip_text(participant, space, self._analysis))
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            said = self.presence(row).value, self.line(row), words.usage_words(self.participant(row))
            return ", ".join(filter(None, (self.tag(row), self.space(row), *said)))
        return None

    # Updates

    def refresh(self) -> None:
        run_to_end(self.refreshing())

    def refreshing(self) -> SlicedWork[None]:
        """Updates rows in steps, for many participants."""
        wanted = yield from self._wanted()
        if wanted != self._keys:
            self._reorder(wanted)
            self._note_spaces()
        if self._keys:
            self.refresh_marks()

    def refresh_marks(self) -> None:
        """Notifies views that presence and times may have changed."""
        if self._keys:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._keys) - 1, 0))

    def refresh_clocked(self, first: int, last: int) -> None:
        """Notifies views of the rows in a range with a new presence or time since the last call."""
        marks = {self._keys[row]: (self.presence(row), self.line(row)) for row in range(first, last + 1)}
        for row in range(first, last + 1):
            if self._marks.get(self._keys[row]) != marks[self._keys[row]]:
                self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
        self._marks = marks

    def _reorder(self, wanted: list[Key]) -> None:
        """Removes, moves and inserts rows to reach another order, so that views keep their selection."""
        # Moving rows one by one is quadratic.
        if len(wanted) > _CROWD_SIZE:
            self.beginResetModel()
            self._keys = wanted
            self.endResetModel()
            return
        nowhere = QModelIndex()
        # Removals first, so that the following moves and inserts see final indices.
        for key in set(self._keys).difference(wanted):
            row = self._keys.index(key)
            self.beginRemoveRows(nowhere, row, row)
            del self._keys[row]
            self.endRemoveRows()
        for row, key in enumerate(wanted):
            if row < len(self._keys) and self._keys[row] == key:
                continue
            if key in self._keys:
                old = self._keys.index(key)
                self.beginMoveRows(nowhere, old, old, nowhere, row)
                self._keys.insert(row, self._keys.pop(old))
                self.endMoveRows()
            else:
                self.beginInsertRows(nowhere, row, row)
                self._keys.insert(row, key)
                self.endInsertRows()
