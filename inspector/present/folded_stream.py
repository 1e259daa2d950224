"""Words for a stream's single row: joined text, number of frames and duration; also its expanded lines."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from inspector.analysis.findings.streams import CHECKS
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.states.state_pass import MessageState
from inspector.document.document import CaptureDocument
from inspector.document.stream_texts import StreamText
from inspector.present import formats, wire_text
from inspector.present.original_result import MAX_LINES, Original, OriginalLine, OriginalLineKind
from inspector.protocol.payloads.stream_chunks import FrameJoiner
from inspector.protocol.secrets.masking import mask_text, masked_beginning
from inspector.protocol.timestamps import NO_TIME

ROW_FRAMES, MOST_ROW_FRAMES = 24, 120
"""Frames read for a row: enough to fill it, up to 120 if frames are nearly empty."""
LINE_FRAMES = 256
"""Frames read for the expanded lines."""
WIDTH = 110
"""Width of an expanded line in characters."""
_ROW_TEXT, _ENOUGH_CHARS = 600, 110
"""Limit of a row's text in characters, and the length from which no more frames are read."""


@dataclass(frozen=True, slots=True)
class FoldedStream:
    """Content of a stream's row.

    Attributes:
        text: joined text of its frames from the start, else "".
        is_speech: `text` comes from the frames, not from a description.
        aside: "63 frames, 3.2 s", after "open" while it is open.
        short: "63 frames", for a narrow row.
        count: number of frames.
        size: total size of the frames in bytes.
        severity: worst finding about its frames; 0 without findings.
    """

    text: str
    is_speech: bool
    aside: str
    short: str
    count: int
    size: int
    severity: int


def folded_stream(document: CaptureDocument, message: int) -> FoldedStream | None:
    """Returns the row content of a frame's stream; None for other messages. Reads a limited number of frames."""
    streams = document.analysis.streams
    run = streams.run_of(message)
    if run == NO_RUN:
        return None
    joiner = _read_for_row(document.stream_texts.stream_text(run))
    size, count = int(streams.runs["bytes"][run]), int(streams.runs["frames"][run])
    if joiner.is_binary:
        text, is_speech = f"binary, {formats.size(size)}", False
    elif text := masked_beginning(joiner.text, _ROW_TEXT).strip():
        text, is_speech = (f"{text}…" if joiner.frames < count else text), True
    else:
        text, is_speech = " → ".join(joiner.joined.notes), False
    aside, short = _aside_words(document, run), _count(document, run)
    return FoldedStream(text, is_speech, aside, short, count, size, _severity(document, run))


def _read_for_row(text: StreamText) -> FrameJoiner:
    """Reads the start of a stream, as far as a row shows it."""
    # Frames of one token each need many reads to fill a row; others need one.
    for most in range(ROW_FRAMES, MOST_ROW_FRAMES + 1, ROW_FRAMES):
        joiner = text.read(most)
        if joiner.frames < most or len(joiner.text) >= _ENOUGH_CHARS:
            break
    return text.joiner


def _aside_words(document: CaptureDocument, run: int) -> str:
    parts = [_count(document, run)]
    took = _duration_ns(document, run)
    if took is not None:
        parts.append(formats.duration(took))
    if is_open(document, run):
        parts.insert(0, "open")
    return ", ".join(parts)


def _count(document: CaptureDocument, run: int) -> str:
    return formats.count_of(int(document.analysis.streams.runs["frames"][run]), "frame")


def _duration_ns(document: CaptureDocument, run: int) -> int | None:
    """Returns nanoseconds from the first frame to the last, if both times are known and differ."""
    runs, times = document.analysis.streams.runs, document.capture.columns["time_ns"]
    first, last = int(times[int(runs["first"][run])]), int(times[int(runs["last"][run])])
    return last - first if NO_TIME not in (first, last) and last > first else None


def is_open(document: CaptureDocument, run: int) -> bool:
    """Returns True if a stream was opened and not closed."""
    opened = document.analysis.streams.opened_by(run)
    return opened is not None and document.analysis.states.state_of(opened) is MessageState.OPEN


def _severity(document: CaptureDocument, run: int) -> int:
    """Returns the worst finding about its frames; such findings are few."""
    found, runs = document.analysis.findings.found, document.analysis.streams.columns["run"]
    rows = [found.rows_of(check) for check in CHECKS if found.count_of(check)]
    about = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    # From the findings to the stream: findings are few, frames may be millions.
    about = about[runs[about] == run]
    return int(found.severities[found.columns["set"][about]].max()) if len(about) else 0


def stream_lines(document: CaptureDocument, message: int) -> Original:
    """Returns the expanded lines of a stream's row. Reads at most LINE_FRAMES frames."""
    streams = document.analysis.streams
    run = streams.run_of(message)
    text = document.stream_texts.stream_text(run)
    joiner = text.read(LINE_FRAMES)
    joined = joiner.joined
    # Wrapping a text of megabytes would take seconds, and only some lines are shown.
    said = masked_beginning(joined.text, MAX_LINES * WIDTH * 4)
    lines = [line for part in said.splitlines() for line in textwrap.wrap(part, WIDTH) or [""]]
    while lines and not lines[-1]:
        lines.pop()
    body = [OriginalLine(OriginalLineKind.TEXT, wire_text.one_line(line)) for line in lines[:MAX_LINES]]
    if joined.notes:
        body.insert(0, OriginalLine(OriginalLineKind.NOTE, wire_text.safe_line(" → ".join(joined.notes), 400)))
    name = document.capture.string("stream", message) or "stream"
    size = formats.size(int(streams.runs["bytes"][run]))
    kind = "binary, " if joiner.is_binary else ""
    head = OriginalLine(
        OriginalLineKind.HEAD, f"{wire_text.safe_line(name, 80)}, {_aside_words(document, run)}, {kind}{size}"
    )
    more = _more_words(len(lines) - MAX_LINES, text.frames_left)
    tail = [OriginalLine(OriginalLineKind.MORE, more)] if more else []
    return Original(message, (head, *body, *tail), (), mask_text(joined.text), title="Stream")


def _more_words(lines: int, frames: int) -> str:
    """Counts the omitted frames or lines; "" if all are shown."""
    if frames > 0:
        return formats.count_of(frames, "more frame")
    return formats.count_of(lines, "more line") if lines > 0 else ""
