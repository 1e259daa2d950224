"""Remarks about one row of the message table, for its tooltips. Secrets are masked."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.document.document import CaptureDocument
from inspector.present.badges import badge_words
from inspector.present.lifecycle_facts import consumers_sentence
from inspector.protocol.secrets.masking import mask_text


@dataclass(frozen=True, slots=True)
class RowRemarks:
    """Remarks about one row.

    Attributes:
        message: its message.
        findings: a line per finding.
        sources: names of the sources that have the message, if the document has several.
        recipients: all recipients.
        raw_kind: the kind as written.
        context: label, path and reason of the context's type, a line each.
        consumers: sentence about the consumers of a transient result, else "".
    """

    message: int
    findings: list[str]
    sources: list[str]
    recipients: list[str]
    raw_kind: str
    context: str
    consumers: str


def row_remarks(document: CaptureDocument, message: int) -> RowRemarks:
    """Returns the remarks about a message's row."""
    capture, analysis, contexts = document.capture, document.analysis, document.analysis.contexts
    node = contexts.node_of(message)
    story = (contexts.tree.label[node], contexts.tree.path(node), contexts.type_reason(node)) if node >= 0 else ()
    badges = badge_words(analysis.transients, message)
    found = analysis.findings.findings_about(message)
    return RowRemarks(
        message,
        findings=[f"{finding.severity.word}: {mask_text(finding.text)}" for finding in found],
        sources=[mask_text(capture.sources[one].name) for one in capture.sources_of(message)]
        if len(capture.sources) > 1
        else [],
        recipients=list(capture.recipients(message)),
        raw_kind=capture.string("kind_raw", message) or "",
        context="\n".join(filter(None, story)),
        consumers=consumers_sentence(analysis, message) if "transient" in badges else "",
    )
