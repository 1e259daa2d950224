"""Problems: findings of severity warning or error. How many there are, and which message has the next one. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.changes import Rows
from inspector.analysis.findings import CHECKS, Severity
from inspector.analysis.findings.store import Findings
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.ui.panels.findings.lines import PLURALS
from inspector.ui.panels.stepping import next_shown

LEAST = Severity.WARNING
"""What counts as a problem; the preset Problems asks for the same."""


@dataclass(frozen=True, slots=True)
class Problems:
    """What was found, in figures.

    Attributes:
        counts: findings by severity.
        messages: messages with a problem.
    """

    counts: dict[Severity, int]
    messages: int

    @property
    def worst(self) -> Severity | None:
        """The worst severity there is."""
        return max((severity for severity, count in self.counts.items() if count), default=None)

    @property
    def words(self) -> str:
        """All counts: "1 error, 3 warnings, 2 notes"; "" for none."""
        return ", ".join(
            formats.count_of(self.counts[severity], severity.word, PLURALS[severity])
            for severity in sorted(Severity, reverse=True)
            if self.counts[severity]
        )


def failed_words(failed: int) -> str:
    """That messages report failures, which are no problems of the protocol, to go on a sentence; "" for none."""
    return f" {failed:,} of them {'reports' if failed == 1 else 'report'} a failure" if failed else ""


def problems_of(found: Findings) -> Problems:
    """The figures. O(messages), a tenth of a millisecond for a million, and O(problems)."""
    counts = dict.fromkeys(Severity, 0)
    for check in CHECKS:
        counts[check.severity] += found.counts_of(check)
    return Problems(counts, int(np.count_nonzero(_have_problem(found))))


def problem_messages(found: Findings) -> Rows:
    """The messages with a problem, ascending. O(messages), a bit each."""
    return np.flatnonzero(_have_problem(found))


def _have_problem(found: Findings) -> NDArray[np.bool_]:
    # Marking and counting a million messages takes a tenth of what sorting a hundred thousand takes.
    marked = np.zeros(len(found.columns), np.bool_)
    for check in CHECKS:
        if check.severity >= LEAST and found.counts_of(check):
            marked[found.rows_of(check)] = True
    return marked


def next_problem(found: Findings, shown: VisibleRows, current: int | None, step: int) -> int | None:
    """The next (1) or previous (-1) message shown with a problem, around the end; None where there is none."""
    return next_shown(problem_messages(found), shown, current, step)
