"""Messages that the minimap marks: gaps, the user's marks and problems."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.engine.requests.views import gaps_of
from inspector.present.findings import problem_messages


class MarkedMessages(msgspec.Struct, frozen=True):
    """Messages by category, ascending, (n,) int64 each.

    Attributes:
        gaps: frames may be missing here.
        marks: marked by the user.
        errors, warnings: with a problem of this severity.
    """

    gaps: NDArray[np.int64]
    marks: NDArray[np.int64]
    errors: NDArray[np.int64]
    warnings: NDArray[np.int64]


class MessagesToMark(Request[MarkedMessages], frozen=True):
    """Rows that the minimap marks; a frame counts for the row of its stream. O(problems), and a little per message.

    Attributes:
        view: number of the view.
    """

    view: int


def _marked(held: OpenDocument, asked: MessagesToMark) -> MarkedMessages:
    analysis = held.document.analysis
    found = analysis.findings.found
    problems = problem_messages(found)
    worst = found.severities[found.columns["set"][problems]] >= Severity.ERROR
    rows, gaps, marks = held.view(asked.view).rows, gaps_of(held).rows, analysis.marks.rows
    lanes = (np.array(gaps, np.int64), np.array(marks, np.int64), problems[worst], problems[~worst])
    return MarkedMessages(*(np.unique(rows.row_messages(lane)) if rows.has_folded else lane for lane in lanes))


QUERIES = (Query(MessagesToMark, MarkedMessages, _marked),)
