"""Unreadable lines: where it broke, and the bytes around it as hex and text. Gaps: what is missing."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.present import formats
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.overview import findings
from inspector.ui.panels.details.overview.envelope import envelope_facts
from inspector.ui.panels.details.sheet import Sheet, words_fact
from inspector.ui.panels.details.subject import Subject

_ROW = 8
_BEFORE, _AFTER = 64, 48
_PLACE = re.compile(r"(?:at byte|after) (\d+)")


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of an unreadable line or a gap."""
    subject = sheet.subject
    reason = subject.capture.reason(subject.message) or ""
    if subject.flags & Flag.GAP:
        words = reason or "The connection was lost; messages may be missing here."
        crashed = bool(subject.flags & Flag.ERROR)
        title = "Server ended" if crashed else "Gap"
        card = sheet.fact_card([words_fact(words[:1].upper() + words[1:])], name="gap", label=title)
        found = findings.overview_sections(sheet) if crashed else []
        return [*found, sheet.section(title, card), _where(sheet)]
    place = broken_at(reason)
    frame = _frame_in_line(subject)
    size = len(frame) if frame is not None else int(subject.capture.columns["length"][subject.message])
    rows = [words_fact(f"This line is {reason}." if reason else "This line cannot be read.")]
    if place is not None:
        rows.append(fact("", f"Byte {formats.number(place)} of {formats.number(size)}", "dim"))
    sections: list[QWidget] = [
        sheet.section("Where it broke", sheet.fact_card(rows, name="broke", label="Where it broke"))
    ]
    stop = (place or 0) + _AFTER
    data = head_bytes(subject, stop) if frame is None else frame[: max(stop, _BEFORE + _AFTER)]
    dump = hex_rows(data, place)
    label = "Bytes around it" if place is not None else "First bytes"
    facts = sheet.facts(dump, name="bytes", label=label, name_width=40)
    return [*sections, sheet.section(label, facts), _where(sheet)]


def _where(sheet: Sheet) -> QWidget:
    facts = sheet.facts(envelope_facts(sheet.subject), name="envelopeFacts", label="Record")
    return sheet.section("Record", facts, name="envelope")


def _frame_in_line(subject: Subject) -> bytes | None:
    """The bytes that came, where the line of the file only carries them (a capture's, a wrapped line's)."""
    if subject.big:
        return None
    raw = subject.capture.record(subject.message).raw
    return None if head_bytes(subject, len(raw))[: len(raw)] == raw else raw


def broken_at(reason: str) -> int | None:
    """The byte a reason names: 28 of "JSON that is cut after 28 B"; None when it names none."""
    found = _PLACE.search(reason)
    return int(found[1]) if found else None


def head_bytes(subject: Subject, stop: int) -> bytes:
    """The record's bytes up to a place, without reading more of the file."""
    columns, message = subject.capture.columns, subject.message
    source = subject.capture.sources[int(columns["source"][message])]
    length = min(int(columns["length"][message]), max(stop, _BEFORE + _AFTER))
    return source.read(int(columns["offset"][message]), length)


def hex_rows(data: bytes, place: int | None) -> list[Fact]:
    """Offset, hex and text, eight bytes a row; secrets are dots in both."""
    text = data.decode("latin-1")
    masked = mask_text(text, keep_length=True)
    start = max(0, (place or 0) - _BEFORE) // _ROW * _ROW
    rows: list[Fact] = []
    for offset in range(start, len(data), _ROW):
        part = range(offset, min(offset + _ROW, len(data)))
        hexes = " ".join("••" if masked[i] != text[i] else f"{data[i]:02x}" for i in part)
        shown = "".join(_visible(masked[i]) for i in part)
        broken = place is not None and (
            offset <= place < offset + _ROW or (place >= len(data) and part[-1] == len(data) - 1)
        )
        ink: Ink = "bad" if broken else "mono"
        line = f"{hexes:<{3 * _ROW}} {shown}"
        rows.append(
            Fact(
                f"{offset:04x}",
                (Part(line, "mono"), Part("  here" if ink == "bad" else "", "bad")),
                mono_name=True,
                tooltip="",
            )
        )
    return rows


def _visible(character: str) -> str:
    return character if character == "•" or 32 <= ord(character) < 127 else "·"
