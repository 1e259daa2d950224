"""Hex dump rows: offset, hex and text, with the place of a syntax error."""

from __future__ import annotations

import re

from inspector.present.facts import Fact, FactPart, Ink
from inspector.present.subject import Subject
from inspector.protocol.secrets.masking import mask_text

_BYTES_A_ROW = 8
BYTES_BEFORE, BYTES_AFTER = 64, 48
_OFFSET_PATTERN = re.compile(r"(?:at byte|after) (\d+)")


def error_offset(reason: str) -> int | None:
    """Returns the offset in an error reason: 28 for "JSON that is cut after 28 B", if any."""
    found = _OFFSET_PATTERN.search(reason)
    return int(found[1]) if found else None


def frame_in_line(subject: Subject) -> bytes | None:
    """Returns the received bytes if the file's line wraps them (a capture's or a wrapped line's)."""
    if subject.is_big:
        return None
    raw = subject.capture.records.read_record(subject.message).raw
    return None if head_bytes(subject, len(raw))[: len(raw)] == raw else raw


def head_bytes(subject: Subject, stop: int) -> bytes:
    """Returns the record's bytes up to an offset, without reading further."""
    columns, message = subject.capture.columns, subject.message
    source = subject.capture.sources[int(columns["source"][message])]
    # A record can have 100 MB, and the rows show about 100 bytes.
    length = min(int(columns["length"][message]), max(stop, BYTES_BEFORE + BYTES_AFTER))
    return source.read(int(columns["offset"][message]), length)


def hex_rows(data: bytes, place: int | None) -> list[Fact]:
    """Returns rows of offset, hex and text, eight bytes each; secrets are dots in both."""
    text = data.decode("latin-1")  # one character per byte, so that masked places match in both columns
    # The same length, so that offsets in hex and text agree.
    masked = mask_text(text, keep_length=True)
    start = max(0, (place or 0) - BYTES_BEFORE) // _BYTES_A_ROW * _BYTES_A_ROW
    rows: list[Fact] = []
    for offset in range(start, len(data), _BYTES_A_ROW):
        part = range(offset, min(offset + _BYTES_A_ROW, len(data)))
        hexes = " ".join("••" if masked[i] != text[i] else f"{data[i]:02x}" for i in part)
        shown = "".join(_printable(masked[i]) for i in part)
        broken = place is not None and (
            offset <= place < offset + _BYTES_A_ROW or (place >= len(data) and part[-1] == len(data) - 1)
        )
        ink: Ink = "bad" if broken else "mono"
        line = f"{hexes:<{3 * _BYTES_A_ROW}} {shown}"
        rows.append(
            Fact(
                f"{offset:04x}",
                (FactPart(line, "mono"), FactPart("  here" if ink == "bad" else "", "bad")),
                mono_name=True,
                tooltip="",
            )
        )
    return rows


def _printable(character: str) -> str:
    return character if character == "•" or 32 <= ord(character) < 127 else "·"
