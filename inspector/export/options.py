"""Formats, options, default fields and progress of an export, and the protocol of its writers."""

from __future__ import annotations

import enum
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from inspector.export.compression import without_ending
from inspector.protocol.secrets.masking import MaskCounts


class Format(enum.StrEnum):
    """File format of an export; the value is its name on the command line."""

    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "md"
    HTML = "html"
    PARQUET = "parquet"
    OTLP = "otlp"
    CONVERSATION = "conversation"

    @property
    def ending(self) -> str:
        """File extension."""
        return Format.HTML.value if self is Format.CONVERSATION else self.value

    @property
    def display_name(self) -> str:
        return _WORDS[self.value][0]

    @property
    def is_traces(self) -> bool:
        """Returns True if its unit is a span."""
        return self is Format.OTLP

    @property
    def help(self) -> str:
        """One-sentence description."""
        return _WORDS[self.value][1]


_WORDS = {
    "jsonl": ("JSON Lines", "One message per line, exactly as logged. The file opens again with the same messages."),
    "csv": ("CSV", "A row a message, for spreadsheets and data frames."),
    "md": ("Markdown", "A section a message, for an issue or a note."),
    "html": ("Web page", "One file for any browser, light and dark, without scripts."),
    "parquet": ("Parquet", "A row a message, a column a field, typed: for DuckDB, Spark and the like."),
    "conversation": (
        "Conversation",
        "Prompts, answers and calls with their results to read: a web page, or Markdown by the name.",
    ),
    "otlp": ("OTLP", "Traces of OpenTelemetry, in lines of JSON: calls are spans, contexts hold them."),
}


def format_of(name: str) -> Format | None:
    """Returns the format for a file name, compressed or not, if its extension names one."""
    ending = without_ending(name).rpartition(".")[2].lower()
    others = {"htm": Format.HTML, "markdown": Format.MARKDOWN, "ndjson": Format.JSONL, "json": Format.JSONL}
    return next((one for one in Format if one.value == ending), others.get(ending))


DEFAULT_FIELDS = ("no", "time", "from", "to", "kind", "context", "text")
"""Default columns of a table, as for `list`."""
MARKED_FIELDS = (*DEFAULT_FIELDS, "mark", "comment")
"""Default columns for documents with marks or comments."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of an export.

    Attributes:
        format: file format.
        self_contained: JSON Lines of envelopes alone, with the call added to responses. Otherwise lines as logged, with
            times and deliveries, so they open as the same messages.
        masked: replaces secrets by dots.
        fields: columns of CSV.
        view: description of the messages, for the head of documents; "" for no description.
        about: sentences about the log for the head of Markdown, masked: each heading with its lines.
        raw: adds the logged bytes to Parquet, so that the file opens again.
        content: adds message texts to OTLP.
    """

    format: Format = Format.JSONL
    self_contained: bool = False
    masked: bool = True
    fields: tuple[str, ...] = DEFAULT_FIELDS
    view: str = ""
    raw: bool = False
    content: bool = False
    about: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """Progress of an export: messages and bytes written, masked secrets, and spans of traces."""

    messages: int
    size_bytes: int
    masked: MaskCounts
    spans: int = 0


class Writer(Protocol):
    """Writes messages in one format."""

    def begin(self) -> bytes:
        """Returns the head of the file."""
        ...

    def message(self, message: int) -> bytes:
        """Returns one message with its line end."""
        ...

    def end(self) -> bytes:
        """Returns the end of the file."""
        ...


Steps = Generator[Exported]
"""A running export: some messages per step, the last step complete."""
