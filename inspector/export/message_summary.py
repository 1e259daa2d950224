"""What documents say of a message, whatever they are written in: a title, its facts, its findings, what it said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.analysis.findings import Severity
from inspector.document.document import CaptureDocument
from inspector.export.redaction import Redaction
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.payloads import message_text
from inspector.filters.sentences import sentence_of
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.hostile_text import visible
from inspector.protocol.kinds import Family, family
from inspector.protocol.payloads.content import pretty_json
from inspector.protocol.secrets.masking import LONGEST_SECRET
from inspector.store.columns.flags import Flag

MAX_BODY = 1 << 16
"""Characters of one message in a document; JSON Lines have all of them."""
_MAX_TEXT = 400
"""Characters of its one line in words."""

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
    """One message for people. Every text is masked as asked, and shows what would act as it is written.

    Attributes:
        number: counted from 1.
        heading: values by field: time, from, to, kind, context; "" when absent.
        call: method and target of a request or response; "".
        family: of its kind.
        marked: the user marked it.
        text: the first line of what it says.
        facts: label and value of what else is known.
        findings: what is wrong with it.
        body: its JSON, indented, or its bytes as text; cut after MAX_BODY characters.
        is_json: whether `body` is JSON.
        left_out: characters of the body that are not there.
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
    """Tells messages of a document."""

    def __init__(self, document: CaptureDocument, redaction: Redaction) -> None:
        self._document = document
        self._redaction = redaction

    def summarize(self, message: int) -> MessageSummary:
        """One message."""
        capture = self._document.capture
        body, is_json, unread = self._body(message)
        told = sentence_of(self._document.analysis, message)
        lines = ((message_text(capture, message) if told is None else told.text) or "").strip().splitlines()
        kind = capture.string("kind", message) or ""
        return MessageSummary(
            number=message + 1,
            heading={name: self._value(name, message) for name in _HEADING},
            call=" ".join(filter(None, (self._value("method", message), self._value("target", message)))),
            family=family(kind),
            marked="mark" in FIELD_BY_NAME and bool(self._value("mark", message)),
            text=visible(self._redaction.text(lines[0][: _MAX_TEXT + LONGEST_SECRET])[:_MAX_TEXT]) if lines else "",
            facts=tuple(self._facts(message)),
            findings=tuple(self._findings(message)),
            body=body[:MAX_BODY],
            is_json=is_json,
            left_out=max(0, len(body) - MAX_BODY) + unread,
        )

    def _value(self, name: str, message: int) -> str:
        """A field in words; "" when it is absent."""
        field = FIELD_BY_NAME[name]
        analysis = self._document.analysis
        value = self._redaction.field(field, field.value(analysis, message), field.secret_at(analysis, message))
        if value is None or value == []:
            return ""
        if isinstance(value, list):
            return visible(", ".join(map(str, value)))
        return f"{value:.15g} ms" if isinstance(value, float) else visible(str(value)).replace("\n", " ")

    def _facts(self, message: int) -> Iterator[tuple[str, str]]:
        for name in _FACTS:
            if name in FIELD_BY_NAME:
                value = self._value(name, message)
                if value:
                    yield FIELD_BY_NAME[name].label, value

    def _findings(self, message: int) -> Iterator[FindingText]:
        for found in self._document.analysis.findings.of(message):
            yield FindingText(found.severity, found.code, visible(self._redaction.text(found.text)))

    def _body(self, message: int) -> tuple[str, bool, int]:
        """What it said, whether that is JSON, and how many more characters nobody looked at."""
        capture = self._document.capture
        raw = capture.records.envelope_bytes(message).strip()
        if not int(capture.columns["flags"][message]) & _NO_JSON and not capture.records.is_big(message):
            try:
                return visible(pretty_json(self._redaction.value(decode_json(raw)))), True, 0
            except NotAnObjectError:
                pass
        text = raw.decode("utf-8", "backslashreplace")
        head = text[: MAX_BODY + LONGEST_SECRET]
        return visible(self._redaction.text(head)), False, len(text) - len(head)
