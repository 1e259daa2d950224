"""Participants as columns: 20,000 of them, who come, go and report, take no Python object each."""

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

_MOST = 1_000
"""Rows of each list that are told of a participant."""
_ABSENT = -(2**63)
NEVER = 2**63 - 1
"""Later than any time."""
_HUGE = 2**62
GONE, HERE = 1, 2
"""Of `here`: after leaving, while present; 0 when nothing was announced."""
_PRESENT: tuple[bool | None, ...] = (None, False, True)


@dataclass(frozen=True, slots=True)
class Coming:
    """Somebody came or left.

    Attributes:
        row: the message that says so.
        here: True for a coming.
    """

    row: int
    here: bool


class Participant:
    """One who takes part in a space, as things are when it is asked.

    Attributes:
        name: by which it goes.
        space: string id.
        number: in the table.
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
        """True while present, False after leaving, None when nothing was announced."""
        return _PRESENT[self._table.here[self.number]]

    @property
    def capabilities(self) -> list[str] | None:
        """One pattern a line, as last announced by the gateway; None when never."""
        return self._table.capabilities_of(self.number)

    @property
    def tokens(self) -> int | None:
        """As last reported by `participant/status` since it came; None when not."""
        return self._table.tokens.get(self.number)

    @property
    def max_tokens(self) -> int | None:
        """The same of the most it may use."""
        return self._table.max_tokens.get(self.number)

    @property
    def messages(self) -> int:
        """How many it sent."""
        return self._table.messages[self.number]

    @property
    def first_ns(self) -> int:
        """Time of its first message, or of its coming; NO_TIME."""
        return self._table.first_ns[self.number]

    @property
    def last_ns(self) -> int:
        """Time of its last message; NO_TIME."""
        return self._table.last_ns[self.number]

    @property
    def came_ns(self) -> int:
        """When it came the last time, as was announced; NO_TIME."""
        return self._table.came_ns[self.number]

    @property
    def left_ns(self) -> int:
        """When it left, NO_TIME while here."""
        return self._table.left_ns[self.number]

    @property
    def is_us(self) -> bool:
        """Whether it is this program itself."""
        return bool(self._table.is_us[self.number])

    @property
    def invited(self) -> bool:
        """A gateway announced that it was invited; it need not have come."""
        return bool(self._table.invited[self.number])

    @property
    def status_rows(self) -> list[int]:
        """Messages with its `participant/status` reports, the last 1,000."""
        return self._table.statuses.of(self.number, _MOST)

    @property
    def ended(self) -> list[int]:
        """Messages with which it left or came anew, the last 1,000: what it said of itself before holds no more."""
        return self._table.endings.of(self.number, _MOST)

    def ended_between(self, first: int, second: int) -> bool:
        """Whether it left or came anew after one message, and before another."""
        return self._table.endings.last(self.number, second) > first

    @property
    def comings(self) -> list[Coming]:
        """When it came and left, the last 1,000; saying once more that it is here is no coming."""
        return [Coming(entry >> 1, bool(entry & 1)) for entry in self._table.comings.of(self.number, _MOST)]

    @property
    def since_ns(self) -> int:
        """Since when it is what it is: here, since it came the last time; left, when it left; else first seen."""
        if self.here is None:
            return self.first_ns
        return self.came_ns if self.here else self.left_ns


class ParticipantTable(Mapping[tuple[int, str], Participant]):
    """Participants by (space, name), in the order first seen; each has a number, by which columns are read.

    Attributes:
        here: GONE, HERE or 0.
        tokens, max_tokens, messages, first_ns, last_ns, came_ns, left_ns, is_us, invited: as `Participant` has them.
        statuses, endings, comings: rows by number; of comings twice the row, and one more for who came.

    Args:
        strings: what the string ids stand for.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._strings = strings
        self._names = NamesBySpace(strings)
        self._sets: InternTable[tuple[str, ...]] = InternTable(())
        self._capabilities = array("I")  # numbers of sets, 0 for none announced
        self.here, self.is_us, self.invited = array("b"), array("b"), array("b")
        self.messages = array("i")
        self.first_ns, self.last_ns, self.came_ns, self.left_ns = (array("q") for _ in range(4))
        self.tokens, self.max_tokens = ReportedNumbers(), ReportedNumbers()
        self.statuses, self.endings, self.comings = RowLists(), RowLists(), RowLists()

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
        """The space and the name of a participant."""
        return self._names.pair(number)

    def find(self, space: int, name: str) -> int:
        """The number of a participant; UNKNOWN."""
        return self._names.find_name(space, name)

    def find_all(self, spaces: NDArray[Any], names: NDArray[Any]) -> NDArray[np.int32]:
        """(n,) the numbers of participants by string ids; UNKNOWN. O(n)."""
        return self._names.find_all(spaces, names)

    def meet(self, space: int, name: object) -> int:
        """The number of a participant, new when it was not seen before; UNKNOWN for a gateway, and for no name."""
        if not isinstance(name, str) or not name or name in GATEWAY_IDS:
            return UNKNOWN
        code = self._strings.intern(name)
        number = self._names.find(space, code)
        if number == UNKNOWN:
            number = self._names.add(space, code)
            for values in (self._capabilities, self.here, self.is_us, self.invited, self.messages):
                values.append(0)
            for times in (self.first_ns, self.last_ns, self.came_ns, self.left_ns):
                times.append(NO_TIME)
        return number

    def keys_of(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """(n,) of participants by number the space and the string id of the name as one number."""
        return as_numpy(self._names.keys)[numbers] if len(numbers) else np.empty(0, np.int64)

    def here_in(self, space: int) -> list[int]:
        """The numbers of those of a space who are here, ascending. O(participants)."""
        if not len(self):
            return []
        return np.flatnonzero((as_numpy(self._names.keys) >> 32 == space) & (as_numpy(self.here) == HERE)).tolist()

    @property
    def speakers(self) -> int:
        """Names of those who have sent anything, this program left out; one in several spaces counts once."""
        if not len(self):
            return 0
        spoke = (as_numpy(self.messages) > 0) & (as_numpy(self.is_us) == 0)
        return len(np.unique(as_numpy(self._names.keys)[spoke] & 0xFFFFFFFF))

    def name(self, number: int) -> str:
        """The name of a participant."""
        return self._names.pair(number)[1]

    def announce(self, number: int, capabilities: list[str]) -> None:
        """Note what somebody may do by a gateway's word."""
        self._capabilities[number] = self._sets.intern(tuple(capabilities))

    def capabilities_of(self, number: int) -> list[str] | None:
        """What was announced last; None when never."""
        held = self._capabilities[number]
        return list(self._sets[held]) if held else None

    def seen_at(self, number: int, time_ns: int) -> None:
        """Note a time somebody was there, if it is one."""
        first = self.first_ns[number]
        if time_ns not in (NO_TIME, NEVER) and (first == NO_TIME or time_ns < first):
            self.first_ns[number] = time_ns

    def count(self, numbers: NDArray[np.int32], times: NDArray[np.int64]) -> None:
        """Note messages: (n,) of whom, and their times."""
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
    """A whole number, or none, by number of who reported it: any that JSON can write."""

    def __init__(self) -> None:
        self._values = array("q")
        self._huge: dict[int, int] = {}

    def get(self, number: int) -> int | None:
        """What somebody reported; None."""
        value = self._values[number] if number < len(self._values) else _ABSENT
        return None if value == _ABSENT else self._huge.get(number, value)

    def put(self, number: int, value: int | None) -> None:
        """Note what somebody reported."""
        if number >= len(self._values):
            if value is None:
                return
            self._values.extend(array("q", [_ABSENT]) * (number + 1 - len(self._values) + 64))
        self._huge.pop(number, None)
        if value is not None and abs(value) >= _HUGE:
            self._huge[number] = value
        self._values[number] = _ABSENT if value is None else value if abs(value) < _HUGE else 0
