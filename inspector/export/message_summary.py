"""Summarizes a message for Markdown and pages: title, facts, findings and body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from inspector.analysis.findings import Severity
from inspector.document.document import CaptureDocument
from inspector.export.redaction import Redaction
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.payloads import message_text
from inspector.filters.sentences import sentence_of
from inspector.formats.kind_families import family_of
from inspector.protocol.escaped_text import escape_hostile
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.kinds import Family
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import MAX_SECRET_LENGTH
from inspector.store.columns.flags import Flag

MAX_BODY = 1 << 16
"""Limit in characters of one message in a document; JSON Lines have no limit."""
_MAX_TEXT = 400
"""Limit in characters of the one-line text."""

_HEADING = ("time", "from", "to", "kind", "context")
_FACTS = (
    "id", "correlation", "answers", "answered", "latency", "badge", "summary", "collapsed.by", "consumes",
    "state", "stream", "delivered", "size", "comment",
)  # fmt: skip
_NO_JSON = (Flag.UNREADABLE | Flag.FRAME).value


@dataclass(frozen=True, slots=True)
class FindingText:
    """One finding in words."""

    severity: Severity
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageSummary:
    """One message for readers. Every text is masked on request, and control characters are visible.

    Attributes:
        number: counted from 1.
        heading: time, from, to, kind and context by field name; "" if absent.
        call: method and target of a request or response; "".
        family: family of its kind.
        marked: the user marked it.
        text: first line of its text.
        facts: label and value of further fields.
        findings: its findings.
        body: indented JSON, or its bytes as text; cut after MAX_BODY characters.
        is_json: `body` is JSON.
        left_out: number of characters cut from the body.
    """

    number: int
    heading: dict[str, str]
    call: str
    family: Family
    marked: bool
    text: str
    facts: tuple[tuple[str, str], ...]
    findings: tuple[FindingText, ...]
    body: str
    is_json: bool
    left_out: int = 0


class MessageSummarizer:
    """Summarizes messages of a document."""

    def __init__(self, document: CaptureDocument, redaction: Redaction) -> None:
        self._document = document
        self._redaction = redaction

    def summarize(self, message: int) -> MessageSummary:
        return self.prepare(message)()

    def prepare(self, message: int) -> Callable[[], MessageSummary]:
        """Reads a message, and returns a function that masks and formats its body; a thread may call it."""
        capture = self._document.capture
        raw = capture.records.envelope_bytes(message).strip()
        is_json = not int(capture.columns["flags"][message]) & _NO_JSON and not capture.records.is_big(message)
        told = sentence_of(self._document.analysis, message)
        lines = ((message_text(capture, message) if told is None else told.text) or "").strip().splitlines()
        kind = capture.foreign_rpc.kind_of(message)
        without_body = partial(
            MessageSummary,
            number=message + 1,
            heading={name: self._field_text(name, message) for name in _HEADING},
            call=" ".join(filter(None, (self._field_text("method", message), self._field_text("target", message)))),
            family=family_of(kind),
            marked="mark" in FIELD_BY_NAME and bool(self._field_text("mark", message)),
            # Masked with a margin, since half a secret is not recognized.
            text=escape_hostile(self._redaction.mask_text(lines[0][: _MAX_TEXT + MAX_SECRET_LENGTH])[:_MAX_TEXT])
            if lines
            else "",
            facts=tuple(self._facts(message)),
            findings=tuple(self._findings(message)),
        )

        def completed() -> MessageSummary:
            body, shows_json, unread = self._body(raw, is_json=is_json)
            left_out = max(0, len(body) - MAX_BODY) + unread
            return without_body(body=body[:MAX_BODY], is_json=shows_json, left_out=left_out)

        return completed

    def _field_text(self, name: str, message: int) -> str:
        """Formats a field; "" if absent."""
        field = FIELD_BY_NAME[name]
        analysis = self._document.analysis
        value = self._redaction.field_value(field, field.value(analysis, message), field.secret_at(analysis, message))
        if value is None or value == []:
            return ""
        if isinstance(value, list):
            return escape_hostile(", ".join(map(str, value)))
        return f"{value:.15g} ms" if isinstance(value, float) else escape_hostile(str(value)).replace("\n", " ")

    def _facts(self, message: int) -> Iterator[tuple[str, str]]:
        for name in _FACTS:
            if name in FIELD_BY_NAME:
                value = self._field_text(name, message)
                if value:
                    yield FIELD_BY_NAME[name].label, value

    def _findings(self, message: int) -> Iterator[FindingText]:
        for found in self._document.analysis.findings.findings_about(message):
            yield FindingText(found.severity, found.code, escape_hostile(self._redaction.mask_text(found.text)))

    def _body(self, raw: bytes, *, is_json: bool) -> tuple[str, bool, int]:
        """Returns the body, True if it is JSON, and the number of characters left out."""
        if is_json:
            try:
                return escape_hostile(pretty_json(self._redaction.mask_value(decode_json(raw)))), True, 0
            except NotAnObjectError:
                pass
        text = raw.decode("utf-8", "backslashreplace")
        # The same margin: masking comes before the cut.
        head = text[: MAX_BODY + MAX_SECRET_LENGTH]
        return escape_hostile(self._redaction.mask_text(head)), False, len(text) - len(head)
