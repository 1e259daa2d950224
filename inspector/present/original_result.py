"""Expanded lines of a collapsed result: its original content."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from inspector.document.document import CaptureDocument
from inspector.present import formats, wire_text
from inspector.protocol.payloads.result_content import Content, content_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text

MAX_LINES = 12
"""Limit of content lines; the details show the rest."""


class OriginalLineKind(enum.Enum):
    """Kind of a line in an expanded original."""

    HEAD = "head"
    COLUMNS = "columns"
    RECORD = "record"
    TEXT = "text"
    NOTE = "note"
    """A description of the content."""
    MORE = "more"


@dataclass(frozen=True, slots=True)
class OriginalLine:
    """One line of an expanded original."""

    kind: OriginalLineKind
    text: str
    """The whole line as plain text, for screen readers and copying."""
    cells: tuple[str, ...] = ()
    """Values of a record, or column names."""


@dataclass(frozen=True, slots=True)
class Original:
    """An expanded original.

    Attributes:
        message: the collapsed result.
        lines: its lines, with the head first.
        numeric: per column of its table, True for right alignment.
        source: the full text with secrets masked, for Copy.
        title: first words of its head.
    """

    message: int
    lines: tuple[OriginalLine, ...]
    numeric: tuple[bool, ...]
    source: str
    title: str = "Original"

    @property
    def table(self) -> tuple[OriginalLine, ...]:
        """Column heads and records; empty for other content."""
        return tuple(line for line in self.lines if line.kind in (OriginalLineKind.COLUMNS, OriginalLineKind.RECORD))


def original_of(document: CaptureDocument, message: int) -> Original:
    """Returns the original of a result. Never raises for odd content; O(its size)."""
    content = content_of(mask_secrets(document.capture.records.payload(message).get("result")))
    table = content.table
    if table is not None:
        body = [
            OriginalLine(OriginalLineKind.COLUMNS, "  ".join(map(wire_text.safe_line, table.columns)), table.columns)
        ]
        body += [
            OriginalLine(OriginalLineKind.RECORD, "  ".join(map(wire_text.safe_line, row)), row)
            for row in table.rows[:MAX_LINES]
        ]
        more, noun = table.total - MAX_LINES, "record"
    else:
        lines = content.lines or (content.json or "").splitlines()
        body = [OriginalLine(OriginalLineKind.TEXT, _keep_indentation(line)) for line in lines[:MAX_LINES]]
        more, noun = len(lines) - MAX_LINES, "line"
    head = OriginalLine(OriginalLineKind.HEAD, _head(document, message, content))
    tail = (
        [OriginalLine(OriginalLineKind.MORE, f"{formats.number(more)} more {noun if more == 1 else noun + 's'}")]
        if more > 0
        else []
    )
    # The JSON was masked by its keys already; a text has none.
    source = mask_text(content.text) or content.json or ""
    return Original(message, (head, *body, *tail), table.numeric if table is not None else (), source)


def _keep_indentation(line: str) -> str:
    """Returns one line of text or code with its indentation; other blanks fold."""
    bare = line.lstrip(" \t")
    indent = len(line[: len(line) - len(bare)].expandtabs(4))
    # Deep indentation would push the text out of the row.
    return " " * min(indent, 40) + wire_text.one_line(bare)


def _head(document: CaptureDocument, message: int, content: Content) -> str:
    facts = ["read-only", formats.size(int(document.capture.columns["size"][message]))]
    if content.record_count is not None:
        facts.append(formats.count_of(content.record_count, "record"))
    by = document.analysis.transients.collapsed_by(message)
    if by is not None:
        facts.append(f"replaced by {formats.message_number(by)}")
    return ", ".join(facts)
