"""Stores participants as columns, since 20,000 of them would be too many Python objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.ids_by_space import UNKNOWN, NamesBySpace
from inspector.analysis.arrays.rows_by_key import RowLists
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.intern_table import InternTable

# Clients of v0.0 repeat their presence every 30 s, so a day has thousands of rows.
_MAX_ROWS = 1_000
"""Limit of rows per list of one participant."""
_ABSENT = -(2**63)
NEVER = 2**63 - 1
"""Later than any time, in nanoseconds."""
_FIRST_HUGE = 2**62
GONE, PRESENT = 1, 2
"""Values of `here`: after leaving, while present; 0 without any announcement."""
_PRESENCE: tuple[bool | None, ...] = (None, False, True)


@dataclass(frozen=True, slots=True)
class PresenceChange:
    """A join or a departure of a participant.

    Attributes:
        row: the message that reports it.
        here: True for a join.
    """

    row: int
    here: bool


class Participant:
    """A participant of a space; its properties read the present state of the table.

    Attributes:
        name: its participant id.
        space: string id.
        number: row in the table.
    """

    __slots__ = ("_table", "name", "number", "space")

    def __init__(self, table: ParticipantTable, number: int, space: int, name: str) -> None:
        self._table = table
        self.number = number
        self.space = space
        self.name = name

    def __repr__(self) -> str:
        return f"Participant({self.name!r}, space={self.space}, here={self.here})"

    @property
    def here(self) -> bool | None:
        """True while present, False after leaving, None without any announcement."""
        return _PRESENCE[self._table.here[self.number]]

    @property
    def capabilities(self) -> list[str] | None:
        """Patterns, as last announced by the gateway; None if never."""
        return self._table.capabilities_of(self.number)

    @property
    def tokens(self) -> int | None:
        """Tokens last reported by `participant/status` since its last join; None if never."""
        return self._table.tokens.get(self.number)

    @property
    def max_tokens(self) -> int | None:
        """Token limit last reported by `participant/status` since its last join; None if never."""
        return self._table.max_tokens.get(self.number)

    @property
    def messages(self) -> int:
        """Number of messages that it sent."""
        return self._table.messages[self.number]

    @property
    def first_ns(self) -> int:
        """Time of its first message or join; NO_TIME."""
        return self._table.first_ns[self.number]

    @property
    def last_ns(self) -> int:
        """Time of its last message; NO_TIME."""
        return self._table.last_ns[self.number]

    @property
    def joined_ns(self) -> int:
        """Time of its last announced join; NO_TIME."""
        return self._table.joined_ns[self.number]

    @property
    def left_ns(self) -> int:
        """Time of its departure; NO_TIME while present."""
        return self._table.left_ns[self.number]

    @property
    def is_us(self) -> bool:
        """True for this program itself."""
        return bool(self._table.is_us[self.number])

    @property
    def is_invited(self) -> bool:
        """True if a gateway announced its invitation; it may not have joined."""
        return bool(self._table.is_invited[self.number])

    @property
    def status_rows(self) -> list[int]:
        """Messages with its `participant/status` reports, the last 1,000."""
        return self._table.statuses.last_rows(self.number, _MAX_ROWS)

    @property
    def ended(self) -> list[int]:
        """Messages of its departures and repeated joins, the last 1,000. Reports before them are outdated."""
        return self._table.endings.last_rows(self.number, _MAX_ROWS)

    def has_ended_between(self, first: int, second: int) -> bool:
        """Tells if it left or joined again after message `first` and before message `second`."""
        return self._table.endings.last(self.number, second) > first

    @property
    def presence_changes(self) -> list[PresenceChange]:
        """Joins and departures, the last 1,000; a repeated presence is no join."""
        return [
            PresenceChange(entry >> 1, bool(entry & 1))
            for entry in self._table.presence_changes.last_rows(self.number, _MAX_ROWS)
        ]

    @property
    def since_ns(self) -> int:
        """Start of its present state: last join if present, departure if gone, else first seen."""
        if self.here is None:
            return self.first_ns
        return self.joined_ns if self.here else self.left_ns


class ParticipantTable(Mapping[tuple[int, str], Participant]):
    """Participants by (space, name), in the order first seen; each has a number, its index in the columns.

    Attributes:
        here: GONE, PRESENT or 0.
        tokens, max_tokens, messages, first_ns, last_ns, joined_ns, left_ns, is_us, is_invited: as
            `Participant` has them.
        statuses, endings, presence_changes: rows by number; in `presence_changes` row << 1, with the lowest bit set for
            a join.

    Args:
        strings: the table of the string ids.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._strings = strings
        self._names = NamesBySpace(strings)
        self._sets: InternTable[tuple[str, ...]] = InternTable(())
        self._capabilities = array("I")  # numbers of sets; 0 if never announced
        self.here, self.is_us, self.is_invited = array("b"), array("b"), array("b")
        self.messages = array("i")
        self.first_ns, self.last_ns, self.joined_ns, self.left_ns = (array("q") for _ in range(4))
        self.tokens, self.max_tokens = ReportedNumbers(), ReportedNumbers()
        self.statuses, self.endings, self.presence_changes = RowLists(), RowLists(), RowLists()

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._names)

    def __getitem__(self, whose: tuple[int, str]) -> Participant:
        number = self.find(*whose)
        if number == UNKNOWN:
            raise KeyError(whose)
        return Participant(self, number, *whose)

    def pair(self, number: int) -> tuple[int, str]:
        return self._names.pair(number)

    def find(self, space: int, name: str) -> int:
        """Returns the number of a participant, or UNKNOWN."""
        return self._names.find_name(space, name)

    def find_all(self, spaces: NDArray[Any], names: NDArray[Any]) -> NDArray[np.int32]:
        """Returns (n,) numbers of participants by string ids, or UNKNOWN. O(n)."""
        return self._names.find_all(spaces, names)

    def find_or_add(self, space: int, name: object) -> int:
        """Returns the number of a participant, adding it if it is new; UNKNOWN for a gateway, and for no name."""
        if not isinstance(name, str) or not name or name in GATEWAY_IDS:
            return UNKNOWN
        code = self._strings.intern(name)
        number = self._names.find(space, code)
        if number == UNKNOWN:
            number = self._names.add(space, code)
            for values in (self._capabilities, self.here, self.is_us, self.is_invited, self.messages):
                values.append(0)
            for times in (self.first_ns, self.last_ns, self.joined_ns, self.left_ns):
                times.append(NO_TIME)
        return number

    def keys_of(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Returns (n,) space << 32 | string id of the name, by number of participant."""
        return as_numpy(self._names.keys)[numbers] if len(numbers) else np.empty(0, np.int64)

    def present_in(self, space: int) -> list[int]:
        """Returns the numbers of present participants in a space, ascending. O(participants)."""
        if not len(self):
            return []
        return np.flatnonzero((as_numpy(self._names.keys) >> 32 == space) & (as_numpy(self.here) == PRESENT)).tolist()

    @property
    def speakers(self) -> int:
        """Number of distinct names that sent a message, without this program."""
        if not len(self):
            return 0
        spoke = (as_numpy(self.messages) > 0) & (as_numpy(self.is_us) == 0)
        return len(np.unique(as_numpy(self._names.keys)[spoke] & 0xFFFFFFFF))

    def name(self, number: int) -> str:
        return self._names.pair(number)[1]

    def announce(self, number: int, capabilities: list[str]) -> None:
        """Stores the capabilities that a gateway announced."""
        self._capabilities[number] = self._sets.intern(tuple(capabilities))

    def capabilities_of(self, number: int) -> list[str] | None:
        """Returns the last announced capabilities; None if never announced."""
        held = self._capabilities[number]
        return list(self._sets[held]) if held else None

    def note_time(self, number: int, time_ns: int) -> None:
        """Records a time of presence, unless it is NO_TIME or NEVER."""
        first = self.first_ns[number]
        if time_ns not in (NO_TIME, NEVER) and (first == NO_TIME or time_ns < first):
            self.first_ns[number] = time_ns

    def count(self, numbers: NDArray[np.int32], times: NDArray[np.int64]) -> None:
        """Counts messages.

        Args:
            numbers: (n,) senders.
            times: (n,) in nanoseconds.
        """
        found, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        earliest, latest = np.full(len(found), NEVER), np.full(len(found), NO_TIME, np.int64)
        np.maximum.at(latest, inverse, times)
        np.minimum.at(earliest, inverse, np.where(times == NO_TIME, NEVER, times))
        messages, first, last = as_numpy(self.messages), as_numpy(self.first_ns), as_numpy(self.last_ns)
        messages[found] += counts.astype(np.int32)
        last[found] = np.maximum(last[found], latest)
        known = np.where(first[found] == NO_TIME, NEVER, first[found])
        earliest = np.minimum(known, earliest)
        first[found] = np.where(earliest == NEVER, NO_TIME, earliest)


class ReportedNumbers:
    """An optional whole number per participant, of any size that JSON can write."""

    def __init__(self) -> None:
        self._values = array("q")
        self._huge: dict[int, int] = {}

    def get(self, number: int) -> int | None:
        value = self._values[number] if number < len(self._values) else _ABSENT
        return None if value == _ABSENT else self._huge.get(number, value)

    def set_number(self, number: int, value: int | None) -> None:
        if number >= len(self._values):
            if value is None:
                return
            self._values.extend(array("q", [_ABSENT]) * (number + 1 - len(self._values) + 64))
        self._huge.pop(number, None)
        if value is not None and abs(value) >= _FIRST_HUGE:
            self._huge[number] = value
        # Numbers beyond 62 bits are stored in the dict; the array has 0 for them.
        self._values[number] = _ABSENT if value is None else value if abs(value) < _FIRST_HUGE else 0
