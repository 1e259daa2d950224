"""Describes streams: id, owner, writers, state and frames."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.causes.stream_links import closes_of, stream_sources
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, fact, message_part, value_facts
from inspector.present.formats import delta
from inspector.present.subject import Subject, text_of
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.stream_chunks import JoinedFrames, chunk_in
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.flags import Flag

_BYTES_IN_ROW = 40
_NO_FRAMES = "Gateway logs hold no frames, and a stream with a target sends them to that target only."
_CLOSE = "stream/close"
_SHOWN_KEYS = ("stream_id", "owner", "authorized_writers", "direction", "description")


def stream_messages(subject: Subject, stream: int) -> list[int]:
    """Returns envelopes and frames of the message's stream, from one open to the next, since ids may restart.

    Includes closes that name the stream by correlation alone.
    """
    columns, capture = subject.capture.columns, subject.capture
    rows = np.flatnonzero((columns["stream"] == stream) & (columns["space"] == columns["space"][subject.message]))
    opened = rows[columns["kind"][rows] == (capture.strings.find("stream/open") or -1)]
    telling = stream_sources(subject.analysis, subject.message)
    own = next((m for m in telling if columns["stream"][m] == stream), subject.message)
    start = opened[opened <= own]
    after = opened[opened > own]
    # An id may be used again, so a stream ends where the next one opens.
    low = int(start[-1]) if len(start) else 0
    high = int(after[0]) if len(after) else len(capture)
    found = set(rows[(rows >= low) & (rows < high)].tolist())
    if len(start):
        # Some dialects close a stream by correlation, without its id.
        found.update(m for m in closes_of(subject.analysis, low) if low <= m < high)
    return sorted(found)


def frames_among(subject: Subject, life: list[int]) -> Rows:
    """Returns the frames among a stream's messages."""
    rows = np.array(life, np.int64)
    return rows[(subject.capture.columns["flags"][rows] & Flag.FRAME) != 0]


def stream_facts(subject: Subject, stream: int, life: list[int]) -> list[Fact]:
    """Shows id, state, owner, writers and frames of a message's stream.

    Args:
        subject: the message.
        stream: string id of the stream, 0 if unknown.
        life: the stream's messages, ascending (`stream_messages`).
    """
    capture = subject.capture
    name = capture.strings[stream] if stream else ""
    nameless = "not stated" if subject.kind == _CLOSE else "assigned when it is opened"
    rows = [fact("Id", name, "mono") if name else fact("Id", nameless, "dim")]
    opened = _of_kind(subject, life, "stream/open")
    closed = _of_kind(subject, life, _CLOSE)
    if closed is not None:
        reason = capture.records.payload(closed).get("reason")
        why = f", {safe_line(mask_text(reason), 80)}" if isinstance(reason, str) and reason else ""
        if closed == subject.message:
            rows.append(fact("State", f"closed by this message{why}"))
        else:
            rows.append(Fact("State", (FactPart(f"closed{why}, "), message_part(closed))))
    elif opened is not None:
        since = FactPart("this message", "dim") if opened == subject.message else message_part(opened)
        rows.append(Fact("State", (FactPart("open since "), since)))
    payload = capture.records.payload(opened) if opened is not None else subject.payload
    owner = payload.get("owner")
    if isinstance(owner, str):
        rows.append(fact("Owner", safe_line(owner, 120)))
    writers = payload.get("authorized_writers")
    if isinstance(writers, list):
        rows.append(fact("Writers", ", ".join(safe_line(str(w), 80) for w in writers) or "nobody"))
    for key in ("direction", "description"):
        value = subject.payload.get(key)
        if isinstance(value, str):
            rows.append(fact(key.capitalize(), safe_line(value, 300), middle=True, tooltip=value))
    if stream:
        frames = frames_among(subject, life)
        size = int(capture.columns["size"][frames].sum()) if len(frames) else 0
        words = f"{formats.count_of(len(frames), 'frame')}, {formats.size(size)}" if len(frames) else "none seen"
        rows.append(fact("Frames", words, tooltip=None if len(frames) else _NO_FRAMES))
    return rows if subject.flags & Flag.FRAME else rows + value_facts(subject.payload, skip=_SHOWN_KEYS)


def _of_kind(subject: Subject, life: list[int], kind: str) -> int | None:
    return next((row for row in life if subject.capture.string("kind", row) == kind), None)


def frame_fact(subject: Subject, row: int) -> Fact:
    """Shows the content of a frame: a chunk's text and kind, text, or bytes as hex."""
    when = "this" if row == subject.message else delta(subject.delta_ns(row)) or " "
    text = text_of(subject.capture, row)
    data = subject.capture.records.frame_data(row)
    chunk = chunk_in(data)
    link = () if row == subject.message else (message_part(row), FactPart("  "))
    if chunk is not None:
        kind, value = chunk
        content = (FactPart(mask_text(value)[:400], "mono"), FactPart(f"  {safe_line(kind, 40)}", "dim"))
    elif "\ufffd" in text:
        content = (FactPart(data[:_BYTES_IN_ROW].hex(" "), "mono"),)
    else:
        content = (FactPart(text[:400], "mono"),)
    return Fact(when, (*link, *content), copy=text, tooltip=text[:1_000])


def is_data(joined: JoinedFrames) -> bool:
    """Returns True if joined frames are data, for a mono font."""
    return not joined.chunks and joined.text.lstrip()[:1] in ("{", "[", "<")
