"""Table of file formats that are converted to lines: detection by first bytes, and converters."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from inspector.formats.entry_builders import decoded_object
from inspector.sources import har, otlp_arriving, otlp_conversion, otlp_file, parquet_conversion, vscode_chat
from inspector.sources.conversion_worker import Conversion

HEAD_BYTES = max(har.HEAD_BYTES, otlp_conversion.HEAD_BYTES, vscode_chat.HEAD_BYTES)
"""Number of first bytes needed for detection."""


class Converted(NamedTuple):
    """A file format that is converted."""

    begins: Callable[[bytes], bool]
    """Returns True for the first bytes of such a file."""
    convert: Callable[[Path], Conversion]
    container: str | None
    """Name of the format; None for the format of its lines."""
    as_they_come: Callable[[Iterable[bytes | None]], Iterator[bytes]] | None = None
    """Converts a stream in blocks, with None at pauses, for output at each pause.

    None if only the whole stream can be converted.
    """


CONVERTED = (
    Converted(lambda head: head.startswith(parquet_conversion.MAGIC), parquet_conversion.ParquetConversion,
              parquet_conversion.FORMAT),
    Converted(lambda head: har.is_archive(head[: har.HEAD_BYTES]), har.HarConversion, har.FORMAT),
    Converted(vscode_chat.is_chat, vscode_chat.VsCodeConversion, vscode_chat.FORMAT),
    Converted(lambda head: otlp_conversion.holds_traces(head[: otlp_conversion.HEAD_BYTES]),
              otlp_file.OtlpFile, None, otlp_arriving.as_they_come),
)  # fmt: skip
"""In order of detection."""


def converted(head: bytes) -> Converted | None:
    """Returns the converter for the first bytes of a file; None if its records are lines."""
    return next((kind for kind in CONVERTED if kind.begins(head)), None)


def may_be_converted(head: bytes) -> bool:
    """Returns True if too little of a stream has arrived for detection: no line is an object on its own yet."""
    begins = head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")[:1]
    if len(head) >= HEAD_BYTES or (begins not in (b"", b"{", b"[") and not otlp_conversion.may_be_protobuf(head)):
        return any(mark.startswith(head) for mark in (parquet_conversion.MAGIC, codecs.BOM_UTF8))
    return not any(decoded_object(line) for line in head.split(b"\n")[:-1])
