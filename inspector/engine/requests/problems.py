"""Problems that the checks have found, and failures that messages report."""

from __future__ import annotations

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.present.findings import Problems, failed_filter, problems_of


class Failures(msgspec.Struct, frozen=True):
    """Messages that report a failure.

    Attributes:
        count: their number.
        filter: display filter for them.
    """

    count: int
    filter: str


class ProblemCounts(Request[Problems], frozen=True):
    """Counts findings by severity, and messages with a problem."""


class CountFailures(Request[Failures], frozen=True):
    """Counts messages that report a failure, with or without a finding."""


def _counts(held: OpenDocument, _asked: ProblemCounts) -> Problems:
    return problems_of(held.document.analysis.findings.found)


def _failures(held: OpenDocument, _asked: CountFailures) -> Failures:
    capture = held.document.capture
    return Failures(capture.failed_count, failed_filter(capture))


QUERIES = (Query(ProblemCounts, Problems, _counts), Query(CountFailures, Failures, _failures))
