"""Streams: id, owner, writers, how much was sent, and the last frames as they are."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.protocol.secrets import mask_text
from inspector.ui import formats
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject, text_of
from inspector.ui.panels.details.words import delta
from inspector.ui.wire_text import plain

_LAST_FRAMES = 8
_NO_FRAMES = "Gateway logs hold no frames, and a stream with a target sends them to that target only."
_SHOWN = ("stream_id", "owner", "authorized_writers", "direction", "description")


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a stream message or frame."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if subject.flags & Flag.FRAME:
        sections.append(_data(sheet))
    stream = _stream_of(subject)
    life = _life(subject, stream) if stream else []
    sections.append(
        sheet.section("Stream", sheet.facts(_facts(subject, stream, life), name="streamFacts", label="Stream"))
    )
    frames = _frames(subject, life) if life else np.empty(0, np.int64)
    if len(frames):
        rows = [_frame(subject, row) for row in frames[-_LAST_FRAMES:].tolist()]
        label = "Last frames" if len(frames) > _LAST_FRAMES else "Frames"
        sections.append(sheet.section(label, sheet.facts(rows, name="frames", label=label, name_width=64)))
    return sections + sheet.chain_section()


def _stream_of(subject: Subject) -> int:
    """String id of the stream a message belongs to; of a request, that of the stream it opened. 0 when unknown."""
    column = subject.capture.columns["stream"]
    own = int(column[subject.message])
    return own or next((int(column[m]) for m in subject.effects if column[m]), 0)


def _life(subject: Subject, stream: int) -> list[int]:
    """Envelopes and frames of the message's stream; ids restart with the gateway, so from one open to the next."""
    columns, capture = subject.capture.columns, subject.capture
    rows = np.flatnonzero((columns["stream"] == stream) & (columns["space"] == columns["space"][subject.message]))
    opened = rows[columns["kind"][rows] == (capture.strings.find("stream/open") or -1)]
    own = subject.message if columns["stream"][subject.message] else next(iter(subject.effects), subject.message)
    start = opened[opened <= own]
    after = opened[opened > own]
    low = int(start[-1]) if len(start) else 0
    high = int(after[0]) if len(after) else len(capture)
    return rows[(rows >= low) & (rows < high)].tolist()


def _frames(subject: Subject, life: list[int]) -> np.ndarray:
    rows = np.array(life, np.int64)
    return rows[(subject.capture.columns["flags"][rows] & Flag.FRAME) != 0]


def _facts(subject: Subject, stream: int, life: list[int]) -> list[Fact]:
    capture = subject.capture
    name = capture.strings[stream] if stream else ""
    rows = [fact("Id", name, "mono") if name else fact("Id", "given when it is opened", "dim")]
    opened = _of_kind(subject, life, "stream/open")
    closed = _of_kind(subject, life, "stream/close")
    if closed is not None:
        reason = capture.payload(closed).get("reason")
        words = f"closed, {plain(reason, 80)}, " if isinstance(reason, str) and reason else "closed, "
        rows.append(Fact("State", (Part(words), message_part(closed))))
    elif opened is not None:
        rows.append(Fact("State", (Part("open since "), message_part(opened))))
    payload = capture.payload(opened) if opened is not None else subject.payload
    owner = payload.get("owner")
    if isinstance(owner, str):
        rows.append(fact("Owner", plain(owner, 120)))
    writers = payload.get("authorized_writers")
    if isinstance(writers, list):
        rows.append(fact("Writers", ", ".join(plain(str(w), 80) for w in writers) or "nobody"))
    for key in ("direction", "description"):
        value = subject.payload.get(key)
        if isinstance(value, str):
            rows.append(fact(key.capitalize(), plain(value, 300), middle=True, tooltip=value))
    if stream:
        frames = _frames(subject, life)
        size = int(capture.columns["size"][frames].sum()) if len(frames) else 0
        words = f"{formats.count_of(len(frames), 'frame')}, {formats.size(size)}" if len(frames) else "none seen"
        rows.append(fact("Frames", words, tooltip=None if len(frames) else _NO_FRAMES))
    return rows if subject.flags & Flag.FRAME else rows + value_facts(subject.payload, skip=_SHOWN)


def _of_kind(subject: Subject, life: list[int], kind: str) -> int | None:
    return next((row for row in life if subject.capture.string("kind", row) == kind), None)


def _frame(subject: Subject, row: int) -> Fact:
    when = "this" if row == subject.message else delta(subject.delta_ns(row))
    text = text_of(subject.capture, row)
    return Fact(when, (Part(text[:400], "mono"),), copy=text, tooltip=text[:1_000])


def _data(sheet: Sheet) -> QWidget:
    data = sheet.subject.capture.record(sheet.subject.message).data or b""
    try:
        text, label = data.decode("utf-8"), "Data"
    except UnicodeDecodeError:
        text, label = data[:4_096].hex(" "), "Data, as hex"
    return sheet.section(
        label, sheet.text(mask_text(text) or "empty", name="frameData", label=label, mono=True), name="data"
    )
