"""Streams: what their frames say joined together, then id, owner, writers, and the last frames as they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.analysis.changes import Rows
from inspector.analysis.stream_links import closes_of, stream_of, tellers
from inspector.capture.flags import Flag
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.payloads.chunks import Joined, chunk_in, join_frames
from inspector.protocol.payloads.outline import nested_in
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview.unreadable import hex_rows
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject, text_of
from inspector.ui.panels.details.words import delta

_LAST_FRAMES = 8
MOST_JOINED = 1_000
"""Frames of a stream whose data is joined."""
_BYTES_SHOWN = 128
_BYTES_IN_ROW = 40
_NO_FRAMES = "Gateway logs hold no frames, and a stream with a target sends them to that target only."
_CLOSE = "stream/close"
_SHOWN = ("stream_id", "owner", "authorized_writers", "direction", "description")


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a stream message or frame."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if subject.flags & Flag.FRAME:
        sections.append(_data(sheet))
    stream = stream_of(subject.analysis, subject.message)
    life = _life(subject, stream) if stream else []
    sections.append(
        sheet.section("Stream", sheet.facts(_facts(subject, stream, life), name="streamFacts", label="Stream"))
    )
    frames = _frames(subject, life) if life else np.empty(0, np.int64)
    if len(frames) and not (len(frames) == 1 and subject.flags & Flag.FRAME):
        sections[-1:] = [*joined_sections(sheet, frames), sections[-1]]
        rows = [_frame(subject, row) for row in frames[-_LAST_FRAMES:].tolist()]
        label = "Last frames" if len(frames) > _LAST_FRAMES else "Frames"
        sections.append(sheet.section(label, sheet.facts(rows, name="frames", label=label, name_width=64)))
    return sections + sheet.chain_section()


def joined_sections(sheet: Sheet, frames: Rows, label: str = "Streamed text") -> list[QWidget]:
    """What frames say together, bounded; nothing where that is nothing."""
    capture = sheet.subject.capture
    some = frames[:MOST_JOINED]
    joined = join_frames(capture.record(row).data or b"" for row in some.tolist())
    body: list[QWidget] = []
    if joined.data:
        label = "Streamed bytes"
        rows = hex_rows(joined.data[:_BYTES_SHOWN], None)
        body.append(sheet.facts(rows, name="joinedBytes", label=label, name_width=40))
    elif joined.text:
        body.append(sheet.text(mask_text(joined.text), name="joinedText", label=label, mono=_is_data(joined)))
    left_out = len(frames) - len(some) + joined.left_out
    rows = [fact("Said", plain(" → ".join(joined.notes), 400), "dim", lines=2)] if joined.notes else []
    if left_out or len(joined.data) > _BYTES_SHOWN:
        words = f"{formats.count_of(left_out, 'more frame')}" if left_out else "the first bytes"
        rows.append(fact("", f"{words}, each in its own message" if left_out else "the first bytes only", "dim"))
    if rows:
        body.append(sheet.facts(rows, name="joinedMore", label=label, name_width=66))
    return [sheet.section(label, *body, name="joined")] if body else []


def _is_data(joined: Joined) -> bool:
    return not joined.chunks and joined.text.lstrip()[:1] in ("{", "[", "<")


def frames_of(subject: Subject, opened: int) -> Rows:
    """The frames of the stream a message opened, in order."""
    other = Subject(subject.document, opened)
    stream = stream_of(other.analysis, other.message)
    return _frames(other, _life(other, stream)) if stream else np.empty(0, np.int64)


def _life(subject: Subject, stream: int) -> list[int]:
    """Envelopes and frames of the message's stream; ids restart with the gateway, so from one open to the next.

    Closes that name the stream by their correlation alone are among them.
    """
    columns, capture = subject.capture.columns, subject.capture
    rows = np.flatnonzero((columns["stream"] == stream) & (columns["space"] == columns["space"][subject.message]))
    opened = rows[columns["kind"][rows] == (capture.strings.find("stream/open") or -1)]
    telling = tellers(subject.analysis, subject.message)
    own = next((m for m in telling if columns["stream"][m] == stream), subject.message)
    start = opened[opened <= own]
    after = opened[opened > own]
    low = int(start[-1]) if len(start) else 0
    high = int(after[0]) if len(after) else len(capture)
    found = set(rows[(rows >= low) & (rows < high)].tolist())
    if len(start):
        found.update(m for m in closes_of(subject.analysis, low) if low <= m < high)
    return sorted(found)


def _frames(subject: Subject, life: list[int]) -> Rows:
    rows = np.array(life, np.int64)
    return rows[(subject.capture.columns["flags"][rows] & Flag.FRAME) != 0]


def _facts(subject: Subject, stream: int, life: list[int]) -> list[Fact]:
    capture = subject.capture
    name = capture.strings[stream] if stream else ""
    nameless = "not said, and no message tells it" if subject.kind == _CLOSE else "given when it is opened"
    rows = [fact("Id", name, "mono") if name else fact("Id", nameless, "dim")]
    opened = _of_kind(subject, life, "stream/open")
    closed = _of_kind(subject, life, _CLOSE)
    if closed is not None:
        reason = capture.payload(closed).get("reason")
        why = f", {plain(mask_text(reason), 80)}" if isinstance(reason, str) and reason else ""
        if closed == subject.message:
            rows.append(fact("State", f"closed by this message{why}"))
        else:
            rows.append(Fact("State", (Part(f"closed{why}, "), message_part(closed))))
    elif opened is not None:
        since = Part("this message", "dim") if opened == subject.message else message_part(opened)
        rows.append(Fact("State", (Part("open since "), since)))
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
    when = "this" if row == subject.message else delta(subject.delta_ns(row)) or " "
    text = text_of(subject.capture, row)
    data = subject.capture.record(row).data or b""
    chunk = chunk_in(data)
    link = () if row == subject.message else (message_part(row), Part("  "))
    if chunk is not None:
        kind, value = chunk
        said = (Part(mask_text(value)[:400], "mono"), Part(f"  {plain(kind, 40)}", "dim"))
    elif "\ufffd" in text:
        said = (Part(data[:_BYTES_IN_ROW].hex(" "), "mono"),)
    else:
        said = (Part(text[:400], "mono"),)
    return Fact(when, (*link, *said), copy=text, tooltip=text[:1_000])


def _data(sheet: Sheet) -> QWidget:
    data = sheet.subject.capture.record(sheet.subject.message).data or b""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        rows = hex_rows(data[:_BYTES_SHOWN], None)
        more = len(data) - _BYTES_SHOWN
        if more > 0:
            rows.append(fact("", f"{formats.size(more)} more, see Raw", "dim"))
        facts = sheet.facts(rows, name="frameData", label="Data", name_width=40)
        return sheet.section("Data, no text", facts, name="data")
    label, inner = "Data", nested_in(text)
    if isinstance(inner, Mapping):
        facts = sheet.fact_card(value_facts(mask_secrets(inner), lines=8), name="frameData", label=label)
        return sheet.section(label, facts, name="data")
    return sheet.section(
        label, sheet.text(mask_text(text) or "empty", name="frameData", label=label, mono=True), name="data"
    )
