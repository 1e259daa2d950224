"""What the checks say about lines of a log."""

from __future__ import annotations

from typing import Any

from inspector.document.document import CaptureDocument
from tests.builders import document_of, grown_log

Told = list[tuple[str, int]]


def told(*lines: dict[str, Any] | str) -> Told:
    """Codes and message numbers of the findings about a file that is read in one go."""
    return _of(document_of(*lines))


def told_either_way(*lines: dict[str, Any] | str) -> Told:
    """The same, having looked that they are the same when the log is written line by line."""
    log = grown_log(lines)
    at_once = told(*lines)
    assert _of(log.end()) == at_once
    return at_once


def _of(document: CaptureDocument) -> Told:
    return [(found.code, found.row + 1) for found in document.analysis.findings.all()]
