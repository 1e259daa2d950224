"""Files whose records are no lines: how each kind begins, and what makes lines of it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from inspector.protocol.formats.entries import decoded_object
from inspector.sources import har, otlp_arriving, otlp_conversion, otlp_file, parquet_conversion, vscode_chat
from inspector.sources.converting import Conversion

HEAD_BYTES = max(har.HEAD_BYTES, otlp_conversion.HEAD_BYTES, vscode_chat.HEAD_BYTES)
"""So many first bytes tell what a file is."""


class Converted(NamedTuple):
    """A kind of files that are converted."""

    begins: Callable[[bytes], bool]
    """Whether a file is one, by its first bytes."""
    convert: Callable[[Path], Conversion]
    container: str | None
    """What its format is called; None where that is its lines'."""
    as_they_come: Callable[[Iterable[bytes | None]], Iterator[bytes]] | None = None
    """Makes lines of blocks of a stream at each pause, None among them, and at the end; None: at the end alone."""


CONVERTED = (
    Converted(lambda head: head.startswith(parquet_conversion.MAGIC), parquet_conversion.ParquetConversion,
              parquet_conversion.FORMAT),
    Converted(lambda head: har.is_archive(head[: har.HEAD_BYTES]), har.HarConversion, har.FORMAT),
    Converted(vscode_chat.is_chat, vscode_chat.VsCodeConversion, vscode_chat.FORMAT),
    Converted(lambda head: otlp_conversion.holds_traces(head[: otlp_conversion.HEAD_BYTES]),
              otlp_file.OtlpFile, None, otlp_arriving.as_they_come),
)  # fmt: skip
"""In the order asked."""


def converted(head: bytes) -> Converted | None:
    """What makes lines of a file that begins with these bytes; None where its records are lines."""
    return next((kind for kind in CONVERTED if kind.begins(head)), None)


def may_be_converted(head: bytes) -> bool:
    """Whether too little of a stream has come to tell: none of its lines is an object by itself yet."""
    begins = head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")[:1]
    if len(head) >= HEAD_BYTES or (begins not in (b"", b"{", b"[") and not otlp_conversion.may_be_protobuf(head)):
        return any(mark.startswith(head) for mark in (parquet_conversion.MAGIC, codecs.BOM_UTF8))
    return not any(decoded_object(line) for line in head.split(b"\n")[:-1])
