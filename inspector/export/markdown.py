"""Writes messages as Markdown: one section each, with the body in a fenced block. Text from the wire is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.document.document import CaptureDocument
from inspector.export.message_summary import MessageSummarizer, MessageSummary
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction
from inspector.protocol.escaped_text import escape_hostile

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$]|:(?=//))")
_FENCE = re.compile(r"`{3,}")


class MarkdownWriter:
    """Writes CommonMark: a heading, a list and a fenced body per message."""

    def __init__(self, document: CaptureDocument, options: ExportOptions, redaction: Redaction) -> None:
        self._document = document
        self._options = options
        self._summarizer = MessageSummarizer(document, redaction)
        self._redaction = redaction

    def begin(self) -> bytes:
        """Returns the title, sentences about the log, and a description of the messages."""
        name = escaped(escape_hostile(self._redaction.mask_text(self._document.name)))
        view = self._redaction.mask_text(self._options.view) if self._options.view else ""
        lines = [f"# {name}", ""]
        if view:
            lines += [escaped(escape_hostile(view)), ""]
        for heading, sentences in self._options.about:
            lines += [f"## {escaped(heading)}", "", *(f"- {escaped(one)}" for one in sentences), ""]
        lines += ["Secrets are masked." if self._options.masked else "**Secrets are not masked.**", ""]
        return "\n".join(lines).encode()

    def message(self, message: int) -> bytes:
        return self.prepare(message)()

    def prepare(self, message: int) -> Callable[[], bytes]:
        """Reads a message, and returns a function that writes it; a thread may call it."""
        summarized = self._summarizer.prepare(message)
        return lambda: ("\n".join(_section(summarized())) + "\n").encode()

    def end(self) -> bytes:
        return b""


def escaped(text: str) -> str:
    """Escapes all Markdown markup."""
    return _MARKUP.sub(r"\\\1", text.replace("\n", " "))


def _section(summary: MessageSummary) -> list[str]:
    heading = summary.heading
    what = " ".join(filter(None, (heading["kind"] or "no kind", summary.call)))
    lines = ["", f"## No. {summary.number} {escaped(what)}{' (marked)' if summary.marked else ''}", ""]
    way = f"{heading['from'] or '?'} to {heading['to'] or 'everyone'}"
    where = f"in {heading['context']}" if heading["context"] else ""
    lines += [escaped("  ".join(filter(None, (heading["time"], way, where)))), ""]
    for finding in summary.findings:
        lines.append(f"- **{finding.severity.word}**: {escaped(finding.text)} ({escaped(finding.code)})")
    lines += [f"- {escaped(label)}: {escaped(value)}" for label, value in summary.facts]
    # Longer than any fence in the body, which could otherwise end the block.
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(summary.body)), default=0))
    lines += ["", fence + ("json" if summary.is_json else "text"), summary.body, fence]
    if summary.left_out:
        lines += ["", f"{summary.left_out:,} more characters are left out here."]
    return lines
