"""Bytes as offset, hex and text, and where a line that cannot be read broke."""

from __future__ import annotations

import re

from inspector.present.facts import Fact, FactPart, Ink
from inspector.present.subject import Subject
from inspector.protocol.secrets.masking import mask_text

_BYTES_A_ROW = 8
BEFORE, AFTER = 64, 48
_PLACE = re.compile(r"(?:at byte|after) (\d+)")


def broken_at(reason: str) -> int | None:
    """The byte a reason names: 28 of "JSON that is cut after 28 B"; None when it names none."""
    found = _PLACE.search(reason)
    return int(found[1]) if found else None


def frame_in_line(subject: Subject) -> bytes | None:
    """The bytes that came, where the line of the file only carries them (a capture's, a wrapped line's)."""
    if subject.big:
        return None
    raw = subject.capture.records.read(subject.message).raw
    return None if head_bytes(subject, len(raw))[: len(raw)] == raw else raw


def head_bytes(subject: Subject, stop: int) -> bytes:
    """The record's bytes up to a place, without reading more of the file."""
    columns, message = subject.capture.columns, subject.message
    source = subject.capture.sources[int(columns["source"][message])]
    length = min(int(columns["length"][message]), max(stop, BEFORE + AFTER))
    return source.read(int(columns["offset"][message]), length)


def hex_rows(data: bytes, place: int | None) -> list[Fact]:
    """Offset, hex and text, eight bytes a row; secrets are dots in both."""
    text = data.decode("latin-1")  # a character a byte, so that what is masked has the same place in both
    masked = mask_text(text, keep_length=True)
    start = max(0, (place or 0) - BEFORE) // _BYTES_A_ROW * _BYTES_A_ROW
    rows: list[Fact] = []
    for offset in range(start, len(data), _BYTES_A_ROW):
        part = range(offset, min(offset + _BYTES_A_ROW, len(data)))
        hexes = " ".join("••" if masked[i] != text[i] else f"{data[i]:02x}" for i in part)
        shown = "".join(_visible(masked[i]) for i in part)
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


def _visible(character: str) -> str:
    return character if character == "•" or 32 <= ord(character) < 127 else "·"
