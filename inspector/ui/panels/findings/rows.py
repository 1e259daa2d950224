"""Rows of the findings panel: groups of the engine's answer, expanded or collapsed, without an object each. No Qt.

A row is a group head or a finding. A finding is a pair of check and message; pairs are unique. A code with a single
finding has no head.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from inspector.engine.requests.finding_rows import FindingOrder, Grouping, Key, ListedCheck, OrderFindings, Severity

HEAD = -1
"""Message in the key of a group's head; its code is the key of the group."""


_OPEN_UP_TO = {Grouping.CODE: 12, Grouping.SEVERITY: 1_000, Grouping.NONE: 0}
"""Maximum of findings in a group that is expanded by default; more would bury the groups below."""


@dataclass
class FindingsListed:
    """The user's choice of findings.

    Attributes:
        everything: list also messages hidden by filter and scope.
        opened: groups expanded (True) or collapsed by hand, by grouping and key.
    """

    grouping: Grouping = Grouping.CODE
    everything: bool = False
    severities_off: set[Severity] = field(default_factory=set)
    codes_off: set[str] = field(default_factory=set)
    opened: dict[tuple[Grouping, str], bool] = field(default_factory=dict)

    def question(self, view: int) -> OrderFindings:
        """Returns the request for the listed findings of a view."""
        off, codes_off = frozenset(self.severities_off), frozenset(self.codes_off)
        return OrderFindings(view, self.grouping, self.everything, off, codes_off)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of findings: indices `start` to `stop` of the arrays.

    Attributes:
        key: the code, or the severity's word.
        severity: the highest of its findings.
        check: the check of its findings; None for several checks.
        has_head: True if a head above can collapse it.
        first_row: the row of the head, or of the first finding without a head.
    """

    key: str
    severity: Severity
    check: ListedCheck | None
    start: int
    stop: int
    has_head: bool
    is_open: bool
    first_row: int

    @property
    def count(self) -> int:
        return self.stop - self.start

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.has_head + (self.count if self.is_open else 0)


_NOTHING = FindingOrder([], [], np.empty(0, np.uint32), np.empty(0, np.uint16), dict.fromkeys(Severity, 0), 0, 0, "")


class FindingRows:
    """Rows of an answer.

    Attributes:
        order: the answer.
        groups: its groups.
    """

    def __init__(self) -> None:
        self.order = _NOTHING
        self.groups: list[Group] = []
        self._first_rows: list[int] = []
        self._length = 0

    # Building

    def shows(self, order: FindingOrder) -> bool:
        """Returns True if an answer has the same rows."""
        now = self.order
        return (
            (now.checks, now.groups, now.counts, now.outside, now.switched_off, now.none_found)
            == (order.checks, order.groups, order.counts, order.outside, order.switched_off, order.none_found)
            and np.array_equal(now.messages, order.messages)
            and np.array_equal(now.check_of, order.check_of)
        )  # fmt: skip

    def rebuild(self, order: FindingOrder, choice: FindingsListed, held: Key | None = None) -> None:
        """Builds the rows. O(groups).

        Args:
            order: the findings.
            choice: the user's choice, with the grouping of the findings.
            held: the selected row. Its group stays expanded when it grows.
        """
        keep, most = self._open_group_of(held), _OPEN_UP_TO[choice.grouping]
        groups: list[Group] = []
        row = 0
        for one in order.groups:
            count = one.stop - one.start
            has_head = choice.grouping is not Grouping.NONE and (count > 1 or choice.grouping is Grouping.SEVERITY)
            is_open = not has_head or choice.opened.get((choice.grouping, one.key), count <= most or one.key == keep)
            check = None if one.check is None else order.checks[one.check]
            groups.append(Group(one.key, one.severity, check, one.start, one.stop, has_head, is_open, row))
            row += groups[-1].height
        self.order, self.groups, self._length = order, groups, row
        self._first_rows = [group.first_row for group in groups]

    def _open_group_of(self, key: Key | None) -> str | None:
        """Returns the group of a row if it is expanded."""
        row = -1 if key is None else self.row_of(key)
        group = self.group_at(row) if row >= 0 else None
        return group.key if group is not None and group.is_open else None

    # Queries

    def __len__(self) -> int:
        return self._length

    @property
    def any_heads(self) -> bool:
        """True if there are groups that can be collapsed."""
        return any(group.has_head for group in self.groups)

    def group_at(self, row: int) -> Group:
        return self.groups[bisect_right(self._first_rows, row) - 1]

    def finding_at(self, row: int) -> tuple[ListedCheck, int] | None:
        """Returns the check and the message of a row, or None for a head."""
        group = self.group_at(row)
        place = group.start + row - group.first_row - group.has_head
        if place < group.start:
            return None
        return self.order.checks[int(self.order.check_of[place])], int(self.order.messages[place])

    def key_at(self, row: int) -> Key:
        found = self.finding_at(row)
        return (self.group_at(row).key, HEAD) if found is None else (found[0].code, found[1])

    def row_of(self, key: Key) -> int:
        """Returns the row of a key, or of the head of its collapsed group, or -1."""
        code, message = key
        for group in self.groups:
            if message == HEAD:
                if group.key == code and group.has_head:
                    return group.first_row
            elif group.check is None or group.check.code == code:
                place = self._place(group, code, message)
                if place is not None:
                    return group.first_row + (group.has_head + place - group.start if group.is_open else 0)
        return -1

    def first_about(self, message: int) -> Key | None:
        """Returns the key of the most severe listed finding about a message."""
        for group in self.groups:
            place = self._first_place(group, message)
            if place is not None:
                return self.order.checks[int(self.order.check_of[place])].code, message
        return None

    def _first_place(self, group: Group, message: int) -> int | None:
        place = group.start + int(np.searchsorted(self.order.messages[group.start : group.stop], message))
        return place if place < group.stop and self.order.messages[place] == message else None

    def _place(self, group: Group, code: str, message: int) -> int | None:
        place = self._first_place(group, message)
        while place is not None and place < group.stop and self.order.messages[place] == message:
            if self.order.checks[int(self.order.check_of[place])].code == code:
                return place
            place += 1
        return None

    def total(self) -> int:
        """Returns the number of listed findings, including collapsed groups."""
        return len(self.order.messages)
