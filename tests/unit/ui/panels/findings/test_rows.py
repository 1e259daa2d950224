"""Which findings stand in which rows, against a slow version; and the next problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import Analysis
from inspector.analysis.findings import Severity
from inspector.analysis.findings.check_table import CHECKS
from inspector.analysis.findings.store import Findings
from inspector.base.slices import run_to_end
from inspector.engine.requests.finding_rows import FindingOrder, Grouping, order_findings
from inspector.filters.next_shown import next_shown
from inspector.filters.visible import VisibleRows
from inspector.present.findings import problem_messages, problems_of
from inspector.store.messages.capture import Capture
from inspector.ui.panels.findings.rows import HEAD, FindingRows, FindingsListed

MESSAGES = 30
SOME = [next(check for check in CHECKS if check.severity is severity) for severity in Severity] + list(CHECKS[-3:])


NOTHING = Analysis(Capture())


class Shown(VisibleRows):
    """A table that shows some of the first messages."""

    def __init__(self, messages: set[int], seen: int, chooses: bool) -> None:
        super().__init__(NOTHING)
        self._shown = np.array(sorted(m for m in messages if m < seen), np.uint32)
        self._count = len(self._shown)
        self._seen = seen
        self._chooses = chooses

    @property
    def is_filtered(self) -> bool:
        return self._chooses


def found_of(pairs: set[tuple[int, int]]) -> Findings:
    found = Findings(CHECKS)
    found.extend(MESSAGES)
    for number in range(len(SOME)):
        rows = [message for place, message in sorted(pairs, key=hash) if place == number]
        found.add(SOME[number], np.array(rows, np.int64))
    return found


def order_of(found: Findings, table: VisibleRows, choice: FindingsListed) -> FindingOrder:
    return run_to_end(order_findings(found, table, choice.question(1)))


findings = st.sets(st.tuples(st.integers(0, len(SOME) - 1), st.integers(0, MESSAGES - 1)))
tables = st.builds(Shown, st.sets(st.integers(0, MESSAGES - 1)), st.integers(0, MESSAGES), st.booleans())
choices = st.builds(
    FindingsListed,
    grouping=st.sampled_from(Grouping),
    everything=st.booleans(),
    severities_off=st.sets(st.sampled_from(Severity)),
    codes_off=st.sets(st.sampled_from([check.code for check in SOME])),
    opened=st.dictionaries(
        st.tuples(st.sampled_from(Grouping), st.sampled_from(["error", "warning", "note", *(c.code for c in SOME)])),
        st.booleans(),
    ),
)


@given(findings, tables, choices)
def test_rows_are_those_of_a_slow_search(pairs: set[tuple[int, int]], table: Shown, choice: FindingsListed) -> None:
    found = found_of(pairs)
    rows = FindingRows()
    order = order_of(found, table, choice)
    rows.rebuild(order, choice)
    visible = set(table.visible.tolist())
    seen = {(SOME[place], message) for place, message in pairs if message < table.seen_count}
    in_view = {(c, m) for c, m in seen if not table.is_filtered or choice.everything or m in visible}
    assert order.outside == (len([1 for _, m in seen if m not in visible]) if table.is_filtered else 0)
    counted = {(c, m) for c, m in in_view if c.code not in choice.codes_off}
    assert order.counts == {s: len([1 for c, _ in counted if c.severity is s]) for s in Severity}
    listed = {(c.code, m) for c, m in counted if c.severity not in choice.severities_off}
    assert rows.total() == len(listed)
    keys = [rows.key_at(row) for row in range(len(rows))]
    assert len(set(keys)) == len(keys)
    assert [rows.row_of(key) for key in keys] == list(range(len(keys)))
    assert {key for key in keys if key[1] != HEAD} <= listed
    for key in listed - set(keys):  # in a closed group
        group = rows.group_at(rows.row_of(key))
        assert not group.is_open
        assert rows.row_of(key) == group.first_row
    severities = [rows.group_at(row).severity for row in range(len(rows))]
    assert severities == sorted(severities, reverse=True)


@given(findings)
def test_problems_are_counted(pairs: set[tuple[int, int]]) -> None:
    problems = problems_of(found_of(pairs))
    wrong = [(SOME[place], message) for place, message in pairs if SOME[place].severity >= Severity.WARNING]
    for severity in Severity:
        assert problems.counts[severity] == sum(SOME[place].severity is severity for place, _ in pairs)
    assert problems.messages == len({message for _, message in wrong})
    assert problems.worst_severity == max((SOME[place].severity for place, _ in pairs), default=None)


@pytest.mark.parametrize(
    ("current", "step", "expected"),
    [(None, 1, 3), (None, -1, 20), (3, 1, 9), (4, 1, 9), (20, 1, 3), (3, -1, 20), (25, -1, 20), (0, -1, 20)],
)
def test_the_next_problem_is_around_the_end(current: int | None, step: int, expected: int) -> None:
    warning = next(place for place, check in enumerate(SOME) if check.severity is Severity.WARNING)
    note = next(place for place, check in enumerate(SOME) if check.severity is Severity.NOTE)
    found = found_of({(warning, 3), (warning, 9), (warning, 12), (warning, 20), (note, 4)})
    table = Shown({0, 3, 4, 9, 20, 25}, MESSAGES, True)
    assert next_shown(problem_messages(found), table, current, step) == expected


def test_a_group_closes_itself_when_it_is_large_but_not_under_who_reads_it() -> None:
    found = Findings(CHECKS)
    found.extend(MESSAGES)
    check, rows, choice = SOME[0], FindingRows(), FindingsListed()
    shown = Shown(set(range(MESSAGES)), MESSAGES, False)
    found.add(check, np.arange(4))
    rows.rebuild(order_of(found, shown, choice), choice)
    assert len(rows) == 5
    found.add(check, np.arange(4, MESSAGES))
    rows.rebuild(order_of(found, shown, choice), choice, held=(check.code, 2))
    assert len(rows) == MESSAGES + 1
    rows.rebuild(order_of(found, shown, choice), choice)
    assert len(rows) == 1
