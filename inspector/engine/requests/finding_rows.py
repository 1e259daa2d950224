"""Rows of the findings of a view: groups by check or severity, and the findings in sight in words."""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Check
from inspector.analysis.findings import Severity as Severity
from inspector.analysis.findings.check_table import CHECK_BY_CODE as CHECK_BY_CODE
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.changed_rows import Rows
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps, check_row_count
from inspector.filters.next_shown import are_shown
from inspector.filters.strings import quote
from inspector.filters.visible import VisibleRows
from inspector.present.findings import FindingLine as FindingLine
from inspector.present.findings import finding_line, no_findings_words, why_check_matters

_STEP_ROWS = 50

Key = tuple[str, int]
"""(code of the check, message)."""


class Grouping(enum.Enum):
    """Grouping of findings, the most severe first in each."""

    CODE = "code"
    SEVERITY = "severity"
    NONE = "nothing"


class ListedCheck(msgspec.Struct, frozen=True):
    """A check with findings.

    Attributes:
        code, severity, title: as declared.
        reason: the reason why it matters.
        count: number of findings.
        filter: display filter for its messages.
    """

    code: str
    severity: Severity
    title: str
    reason: str
    count: int
    filter: str


class ListedGroup(msgspec.Struct, frozen=True):
    """A group of findings: indices `start` to `stop` of the arrays.

    Attributes:
        key: the code, or the severity's word.
        severity: the highest of its findings.
        check: index of the check of its findings; None for several checks.
    """

    key: str
    severity: Severity
    check: int | None
    start: int
    stop: int


class FindingOrder(msgspec.Struct, frozen=True):
    """Findings of a view, grouped, without their sentences.

    Attributes:
        checks: checks with findings, the most severe first.
        groups: in display order, without empty ones.
        messages: message of each finding, ascending in each group, (n,) uint32.
        check_of: index of its check, (n,) uint16.
        counts: listable findings by severity: of the view, or all; without hidden codes.
        outside: number of findings about messages hidden by filter and scope.
        switched_off: number of listable findings with a hidden code.
        none_found: a sentence if there are no findings at all; else "".
    """

    checks: list[ListedCheck]
    groups: list[ListedGroup]
    messages: NDArray[np.uint32]
    check_of: NDArray[np.uint16]
    counts: dict[Severity, int]
    outside: int
    switched_off: int
    none_found: str


class OrderFindings(Request[FindingOrder], frozen=True):
    """Findings about the messages of a view, without messages not evaluated yet.

    Attributes:
        view: number of the view.
        grouping: the grouping.
        everything: lists also messages hidden by filter and scope.
        severities_off, codes_off: findings to leave out.
    """

    view: int
    grouping: Grouping = Grouping.CODE
    everything: bool = False
    severities_off: frozenset[Severity] = frozenset()
    codes_off: frozenset[str] = frozenset()


class ShownFinding(msgspec.Struct, frozen=True):
    """A finding in words.

    Attributes:
        key: code and message.
        line: its texts.
        is_hidden: the view hides its message.
    """

    key: Key
    line: FindingLine
    is_hidden: bool


class DescribeFindings(Request[list[ShownFinding]], frozen=True):
    """Some findings in words, at most 1,000; withdrawn ones are left out.

    Attributes:
        view: number of the view.
        keys: the findings.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    keys: tuple[Key, ...]


def _order(held: OpenDocument, asked: OrderFindings) -> Steps[FindingOrder]:
    found = held.document.analysis.findings.found
    order = yield from order_findings(found, held.view(asked.view).rows, asked)
    return order if order.checks else msgspec.structs.replace(order, none_found=no_findings_words(held.document))


def order_findings(found: Findings, shown: VisibleRows, asked: OrderFindings) -> Steps[FindingOrder]:
    """Groups the findings about the rows of a table. O(findings log findings)."""
    checks = found.checks()
    counts = dict.fromkeys(Severity, 0)
    outside = switched_off = 0
    listed: list[tuple[int, Rows]] = []
    for number, check in enumerate(checks):
        messages = found.rows_of(check)
        if (messages[1:] < messages[:-1]).any():
            messages = np.sort(messages)
            yield
        # The filter has not examined later messages yet.
        messages = messages[: np.searchsorted(messages, shown.seen_count)]
        if shown.is_filtered:
            among = are_shown(messages, shown)
            outside += len(messages) - int(np.count_nonzero(among))
            messages = messages if asked.everything else messages[among]
        if check.code in asked.codes_off:
            switched_off += len(messages)
        else:
            counts[check.severity] += len(messages)
            if len(messages) and check.severity not in asked.severities_off:
                listed.append((number, messages))
        yield
    groups, messages, numbers = _grouped(checks, listed, asked.grouping)
    described = [_described(check, found.count_of(check)) for check in checks]
    return FindingOrder(described, groups, messages, numbers, counts, outside, switched_off, "")


def _described(check: Check, count: int) -> ListedCheck:
    return ListedCheck(
        check.code, check.severity, check.title, why_check_matters(check), count, f"finding == {quote(check.code)}"
    )


def _grouped(
    checks: list[Check], listed: list[tuple[int, Rows]], grouping: Grouping
) -> tuple[list[ListedGroup], NDArray[np.uint32], NDArray[np.uint16]]:
    """Returns the groups, the messages and the index of the check of each."""
    members: dict[str, list[tuple[int, Rows]]] = {}
    for number, messages in listed:
        check = checks[number]
        members.setdefault(check.code if grouping is Grouping.CODE else check.severity.word, []).append(
            (number, messages)
        )
    groups: list[ListedGroup] = []
    parts, numbers = [np.empty(0, np.uint32)], [np.empty(0, np.uint16)]
    start = 0
    for key, some in members.items():
        messages = np.concatenate([messages for _, messages in some]).astype(np.uint32)
        of_each = np.repeat(np.array([number for number, _ in some], np.uint16), [len(rows) for _, rows in some])
        if len(some) > 1:
            # Stable, so that of several findings of one message the worst stays first.
            order = np.argsort(messages, kind="stable")
            messages, of_each = messages[order], of_each[order]
        first, stop = some[0][0], start + len(messages)
        groups.append(
            ListedGroup(key, checks[first].severity, first if grouping is Grouping.CODE else None, start, stop)
        )
        parts.append(messages)
        numbers.append(of_each)
        start = stop
    return groups, np.concatenate(parts), np.concatenate(numbers)


def _describe(held: OpenDocument, asked: DescribeFindings) -> Steps[list[ShownFinding]]:
    check_row_count(len(asked.keys))
    shown, described = held.view(asked.view).rows, list[ShownFinding]()
    for place, (code, message) in enumerate(asked.keys, 1):
        line = finding_line(held.document, code, message) if 0 <= message < len(held.document.analysis) else None
        if line is not None:
            described.append(ShownFinding((code, message), line, shown.row_of(message) is None))
        if place % _STEP_ROWS == 0:
            yield
    return described


QUERIES = (
    Query(OrderFindings, FindingOrder, _order),
    Query(DescribeFindings, list[ShownFinding], _describe),
)
