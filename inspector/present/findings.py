"""Words for findings; counts problems (severity warning or error) and failures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.changed_rows import Rows
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.context_labels import context_label
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text
from inspector.store.messages.capture import Capture

PLURALS = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.NOTE: "notes"}
"""Plural by severity."""


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding in words.

    Attributes:
        code, severity: its check.
        message: message of the finding.
        sentence: one line, safe to show.
        context: labels of the last path segments: "review-6 / store"; "main".
        advice: reason and remedy, in two paragraphs.
    """

    code: str
    severity: Severity
    message: int
    sentence: str
    context: str
    path: str
    advice: str

    @property
    def number(self) -> str:
        """Message number for users: "No. 1185"."""
        return formats.message_number(self.message)

    @property
    def as_text(self) -> str:
        """The row as text, separated by tabs."""
        return "\t".join((self.severity.word, self.sentence, self.code, self.path or "main", self.number))


def finding_line(document: CaptureDocument, code: str, message: int) -> FindingLine | None:
    """Returns a finding in words; None if it was withdrawn meanwhile."""
    findings = document.analysis.findings
    # Later messages can withdraw a finding, such as an answer that came late.
    finding = next((found for found in findings.found.findings_about(message) if found.check.code == code), None)
    if finding is None:
        return None
    words, check = findings.in_words(finding), finding.check
    advice = f"{why_check_matters(check)}\n\n{plain_words(mask_text(findings.hint(finding)))}"
    return FindingLine(
        code, check.severity, message, excerpt(mask_text(words.text)), context_label(document, message),
        safe_line(mask_text(words.context or "")), advice,
    )  # fmt: skip


def why_check_matters(check: Check) -> str:
    """Returns the reason why a check matters."""
    return plain_words(check.matters.format_map(_Limits(check)))


class _Limits(dict[str, str]):
    """Values for a check's general text: its limit; other placeholders stay unchanged."""

    def __init__(self, check: Check) -> None:
        super().__init__(limit=f"{check.limit:,}")

    def __missing__(self, word: str) -> str:
        return word


MIN_SEVERITY = Severity.WARNING
"""Lowest severity of a problem, as in the preset Problems."""


@dataclass(frozen=True, slots=True)
class Problems:
    """Counts of findings.

    Attributes:
        counts: findings by severity.
        messages: number of messages with a problem.
    """

    counts: dict[Severity, int]
    messages: int

    @property
    def worst_severity(self) -> Severity | None:
        """The highest severity present, if any."""
        return max((severity for severity, count in self.counts.items() if count), default=None)

    @property
    def words(self) -> str:
        """All counts: "1 error, 3 warnings, 2 notes"; "" without findings."""
        return ", ".join(
            formats.count_of(self.counts[severity], severity.word, PLURALS[severity])
            for severity in sorted(Severity, reverse=True)
            if self.counts[severity]
        )


def failed_words(failed: int) -> str:
    """Counts messages with failures as the end of a sentence, else ""."""
    return f" {failed:,} of them {'reports' if failed == 1 else 'report'} a failure" if failed else ""


def failed_filter(capture: Capture) -> str:
    """Returns a filter for messages with failures, without repeats."""
    # Logs of model requests repeat earlier failures in each request.
    return "error && !repeats" if capture.has_copies else "error"


def no_findings_words(document: CaptureDocument) -> str:
    """Returns the sentence of a list of findings if no check has found anything."""
    total = formats.count_of(len(document.analysis), "message")
    failed = failed_words(document.capture.failed_count)
    so_far = "so far " if document.is_arriving or document.has_backlog else ""
    these = "it" if document.capture.failed_count == 1 else "them"
    shows = f"{failed}: the filter {failed_filter(document.capture)} shows {these}." if failed else ""
    return f"No findings {so_far}in {total}.{shows}"


def problems_of(found: Findings) -> Problems:
    """Returns the counts. O(messages), 0.1 ms for a million, and O(problems)."""
    counts = dict.fromkeys(Severity, 0)
    for check in found.declared:
        counts[check.severity] += found.count_of(check)
    return Problems(counts, int(np.count_nonzero(_have_problem(found))))


def problem_messages(found: Findings) -> Rows:
    """Returns messages with a problem, ascending. O(messages), one byte each."""
    return np.flatnonzero(_have_problem(found))


def _have_problem(found: Findings) -> NDArray[np.bool_]:
    # Marking and counting a million messages takes a tenth of the time of sorting 100,000.
    marked = np.zeros(len(found.columns), np.bool_)
    for check in found.declared:
        if check.severity >= MIN_SEVERITY and found.count_of(check):
            marked[found.rows_of(check)] = True
    return marked
