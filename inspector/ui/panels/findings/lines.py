"""What a row of the findings panel says; worked out for the rows that are painted, secrets masked."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.findings import Severity
from inspector.analysis.findings.check import Check
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.panels.context_labels import context_label

PLURALS = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.NOTE: "notes"}
"""What several findings of a severity are called."""


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding in words.

    Attributes:
        message: what it is about.
        sentence: one line, safe to show.
        context: labels of the path, the last ones first to be read: "review-6 / store"; "main".
        advice: why it matters and what to do, two paragraphs.
    """

    check: Check
    message: int
    sentence: str
    context: str
    path: str
    advice: str

    @property
    def number(self) -> str:
        """The message as users name it: "No. 1185"."""
        return formats.message_number(self.message)

    @property
    def copied(self) -> str:
        """The row as text, separated by tabs."""
        return "\t".join((self.check.severity.word, self.sentence, self.check.code, self.path or "main", self.number))


def finding_line(document: CaptureDocument, check: Check, message: int) -> FindingLine | None:
    """A finding in words; None when it has been taken back meanwhile."""
    findings = document.analysis.findings
    kept = next((found for found in findings.found.of(message) if found.check is check), None)
    if kept is None:
        return None
    said = findings.in_words(kept)
    advice = f"{why(check)}\n\n{mask_text(findings.hint(kept))}"
    return FindingLine(
        check, message, plain(mask_text(said.text)), context_label(document, message),
        plain(mask_text(said.context or "")), advice,
    )  # fmt: skip


def why(check: Check) -> str:
    """Why a check's findings matter."""
    return check.matters.format_map(_Limits(check))


class _Limits(dict[str, str]):
    """The words of a check's general texts: they know its limit and nothing of one finding."""

    def __init__(self, check: Check) -> None:
        super().__init__(limit=f"{check.limit:,}")

    def __missing__(self, word: str) -> str:
        return word
