"""Rows of the findings panel: chosen findings, grouped, as arrays without an object each. No Qt.

A row is a group head or a finding. A finding is a pair of check and message; pairs are unique. A code with a single
finding has no head.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.filters.next_shown import are_shown
from inspector.filters.visible import VisibleRows

Key = tuple[str, int]
"""Identifies a row while others come and go: (code, message) of a finding, (key of the group, HEAD) of a head."""

HEAD = -1


class Grouping(enum.Enum):
    """Grouping of findings, the most severe first in each."""

    CODE = "code"
    SEVERITY = "severity"
    NONE = "nothing"


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
    check: Check | None
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


class FindingRows:
    """Rows as of the last `rebuild`.

    Attributes:
        groups: in display order, without empty ones.
        counts: listable findings by severity: of the view, or all; without hidden codes.
        outside: number of findings about messages hidden by filter and scope.
        switched_off: number of listable findings with a hidden code.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.counts: dict[Severity, int] = dict.fromkeys(Severity, 0)
        self.outside = 0
        self.switched_off = 0
        self._first_rows: list[int] = []
        self._length = 0
        self._messages: Rows = NO_ROWS
        self._numbered: Sequence[Check] = ()
        self._checks: NDArray[np.uint16] = np.empty(0, np.uint16)

    # Building

    def rebuild(self, found: Findings, shown: VisibleRows, choice: FindingsListed, held: Key | None = None) -> None:
        """Builds the rows. O(findings log findings); a few milliseconds for 100,000 findings.

        Args:
            found: the findings.
            shown: the visible messages; findings about messages the filter has not examined are left out.
            choice: the user's choice.
            held: the selected row. Its group stays expanded when it grows.
        """
        self.counts = dict.fromkeys(Severity, 0)
        self.outside = self.switched_off = 0
        listed: list[tuple[Check, Rows]] = []
        self._numbered = found.declared
        for check in sorted(found.declared, key=lambda check: -check.severity):
            if not found.count_of(check):
                continue
            # Ascending, as the search for the end of the view needs.
            messages = self._in_view(np.sort(found.rows_of(check)), shown, choice)
            if check.code in choice.codes_off:
                self.switched_off += len(messages)
                continue
            self.counts[check.severity] += len(messages)
            if len(messages) and check.severity not in choice.severities_off:
                listed.append((check, messages))
        self._put(listed, choice, held)

    def _in_view(self, messages: Rows, shown: VisibleRows, choice: FindingsListed) -> Rows:
        # The filter has not examined later messages yet.
        messages = messages[: np.searchsorted(messages, shown.seen_count)]
        if not shown.is_filtered:
            return messages
        among = are_shown(messages, shown)
        self.outside += len(messages) - int(np.count_nonzero(among))
        return messages if choice.everything else messages[among]

    def _put(self, listed: list[tuple[Check, Rows]], choice: FindingsListed, held: Key | None) -> None:
        parts: list[tuple[Rows, NDArray[np.uint16]]] = []
        groups: list[Group] = []
        keep, most = self._open_group_of(held), _OPEN_UP_TO[choice.grouping]
        number_of = {check: number for number, check in enumerate(self._numbered)}
        place = row = 0
        for key, checks in _grouped(listed, choice.grouping):
            messages = np.concatenate([messages for _, messages in checks])
            numbers = np.concatenate([np.full(len(some), number_of[check], np.uint16) for check, some in checks])
            if len(checks) > 1:
                # Stable, so that of several findings of one message the worst stays first.
                order = np.argsort(messages, kind="stable")
                messages, numbers = messages[order], numbers[order]
            count, one = len(messages), checks[0][0]
            has_head = choice.grouping is not Grouping.NONE and (count > 1 or choice.grouping is Grouping.SEVERITY)
            is_open = not has_head or choice.opened.get((choice.grouping, key), count <= most or key == keep)
            check = one if choice.grouping is Grouping.CODE else None
            group = Group(key, one.severity, check, place, place + count, has_head, is_open, row)
            groups.append(group)
            parts.append((messages, numbers))
            place, row = group.stop, row + group.height
        self.groups, self._length = groups, row
        self._first_rows = [group.first_row for group in groups]
        self._messages = np.concatenate([messages for messages, _ in parts]) if parts else NO_ROWS
        self._checks = np.concatenate([numbers for _, numbers in parts]) if parts else np.empty(0, np.uint16)

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

    def finding_at(self, row: int) -> tuple[Check, int] | None:
        """Returns the check and the message of a row, or None for a head."""
        group = self.group_at(row)
        place = group.start + row - group.first_row - group.has_head
        if place < group.start:
            return None
        return self._numbered[int(self._checks[place])], int(self._messages[place])

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

    def _place(self, group: Group, code: str, message: int) -> int | None:
        messages = self._messages[group.start : group.stop]
        place = group.start + int(np.searchsorted(messages, message))
        while place < group.stop and self._messages[place] == message:
            if self._numbered[int(self._checks[place])].code == code:
                return place
            place += 1
        return None

    def total(self) -> int:
        """Returns the number of listed findings, including collapsed groups."""
        return len(self._messages)


def _grouped(listed: list[tuple[Check, Rows]], grouping: Grouping) -> list[tuple[str, list[tuple[Check, Rows]]]]:
    groups: dict[str, list[tuple[Check, Rows]]] = {}
    for check, messages in listed:
        key = check.code if grouping is Grouping.CODE else check.severity.word
        groups.setdefault(key, []).append((check, messages))
    return list(groups.items())
