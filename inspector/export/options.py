"""What can be asked of an export, and how far one is."""

from __future__ import annotations

import enum
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from inspector.export.compression import without_ending
from inspector.protocol.secrets.masking import Tally


class Format(enum.StrEnum):
    """A format; its value is the file's ending."""

    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "md"
    HTML = "html"
    PARQUET = "parquet"
    OTLP = "otlp"

    @property
    def words(self) -> str:
        """Its name for people."""
        return _WORDS[self.value][0]

    @property
    def help(self) -> str:
        """What a file of it is, in a sentence."""
        return _WORDS[self.value][1]


_WORDS = {
    "jsonl": ("JSON Lines", "One message per line, exactly as logged. The file opens again with the same messages."),
    "csv": ("CSV", "A row a message, for spreadsheets and data frames."),
    "md": ("Markdown", "A section a message, for an issue or a note."),
    "html": ("Web page", "One file for any browser, light and dark, without scripts."),
    "parquet": ("Parquet", "A row a message, a column a field, typed: for DuckDB, Spark and the like."),
    "otlp": ("OTLP", "Traces of OpenTelemetry, in lines of JSON: calls are spans, contexts hold them."),
}


def format_of(name: str) -> Format | None:
    """The format a file's name asks for, compressed or not; None when it asks for none."""
    ending = without_ending(name).rpartition(".")[2].lower()
    others = {"htm": Format.HTML, "markdown": Format.MARKDOWN, "ndjson": Format.JSONL, "json": Format.JSONL}
    return next((one for one in Format if one.value == ending), others.get(ending))


DEFAULT_FIELDS = ("no", "time", "from", "to", "kind", "context", "text")
"""Columns of a table when none are named; those of `list`."""
MARKED_FIELDS = (*DEFAULT_FIELDS, "mark", "comment")
"""The same where the user has marked or commented on messages."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How messages are written.

    Attributes:
        format: of the file.
        self_contained: JSON Lines: envelopes alone, and responses say what they answer. Else lines as they were
            logged, with their times and deliveries, so that opening them again gives the same messages.
        masked: secrets are replaced by dots.
        fields: names of the columns of CSV.
        view: what the messages are, in words: heads documents; "" when it is not said.
        raw: Parquet: what messages were logged as, too, so that the file opens again.
        content: OTLP: what was said, too.
    """

    format: Format = Format.JSONL
    self_contained: bool = False
    masked: bool = True
    fields: tuple[str, ...] = DEFAULT_FIELDS
    view: str = ""
    raw: bool = False
    content: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """How far an export is: messages and bytes written, and what was masked."""

    messages: int
    size_bytes: int
    masked: Tally


class Writer(Protocol):
    """Writes messages in one format."""

    def begin(self) -> bytes:
        """What comes before the first message."""
        ...

    def message(self, message: int) -> bytes:
        """One message, its end included."""
        ...

    def end(self) -> bytes:
        """What comes after the last message."""
        ...


Steps = Generator[Exported]
"""An export at work: some messages each step, the last one complete."""
