"""A stream as one row: what its frames say together, how many they are, how long it flowed; and the lines below it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from inspector.analysis.findings.streams import CHECKS
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.states.state_pass import State
from inspector.document.document import CaptureDocument
from inspector.document.stream_texts import StreamText
from inspector.present import formats, wire_text
from inspector.present.original_result import MAX_LINES, Original, OriginalLine, OriginalLineKind
from inspector.protocol.payloads.chunks import Joiner
from inspector.protocol.secrets.masking import mask_text, masked_start
from inspector.protocol.times import NO_TIME

ROW_FRAMES, MOST_ROW_FRAMES = 24, 120
"""Frames that are read for a row: as many as fit into it, or a few times so many where each says next to nothing."""
LINE_FRAMES = 256
"""Frames that are read for the lines below it."""
WIDTH = 110
"""Characters of one line below it."""
_ROW_TEXT, _ENOUGH = 600, 110
"""Characters of a row at most, and where no more frames are read for it."""


@dataclass(frozen=True, slots=True)
class FoldedStream:
    """What the row of a stream says.

    Attributes:
        text: what its frames say, from the beginning; "" where that is nothing, or no text.
        is_speech: `text` is theirs, not words about them.
        aside: "63 frames, 3.2 s", after "open" while it is.
        short: "63 frames", for a narrow row.
        count: how many.
        size: of all frames, in bytes.
        severity: the worst finding about any of them; 0 for none.
    """

    text: str
    is_speech: bool
    aside: str
    short: str
    count: int
    size: int
    severity: int


def folded_stream(document: CaptureDocument, message: int) -> FoldedStream | None:
    """The stream a message is a frame of, for its row; None for what is no frame. Reads some frames at most."""
    streams = document.analysis.streams
    run = streams.run_of(message)
    if run == NO_RUN:
        return None
    joiner = _read_for_row(document.stream_texts.of(run))
    size, count = int(streams.runs["bytes"][run]), int(streams.runs["frames"][run])
    if joiner.is_binary:
        text, is_speech = f"binary, {formats.size(size)}", False
    elif text := masked_start(joiner.text, _ROW_TEXT).strip():
        text, is_speech = (f"{text}…" if joiner.frames < count else text), True
    else:
        text, is_speech = " → ".join(joiner.joined.notes), False
    aside, short = _aside(document, run), _count(document, run)
    return FoldedStream(text, is_speech, aside, short, count, size, _severity(document, run))


def _read_for_row(text: StreamText) -> Joiner:
    """Read the beginning of a stream, as far as a row shows it."""
    for most in range(ROW_FRAMES, MOST_ROW_FRAMES + 1, ROW_FRAMES):
        joiner = text.read(most)
        if joiner.frames < most or len(joiner.text) >= _ENOUGH:
            break
    return text.joiner


def _aside(document: CaptureDocument, run: int) -> str:
    parts = [_count(document, run)]
    took = _took(document, run)
    if took is not None:
        parts.append(formats.duration(took))
    if is_open(document, run):
        parts.insert(0, "open")
    return ", ".join(parts)


def _count(document: CaptureDocument, run: int) -> str:
    return formats.count_of(int(document.analysis.streams.runs["frames"][run]), "frame")


def _took(document: CaptureDocument, run: int) -> int | None:
    """Nanoseconds from the first frame to the last; None for one, or where times are missing."""
    runs, times = document.analysis.streams.runs, document.capture.columns["time_ns"]
    first, last = int(times[int(runs["first"][run])]), int(times[int(runs["last"][run])])
    return last - first if NO_TIME not in (first, last) and last > first else None


def is_open(document: CaptureDocument, run: int) -> bool:
    """Whether a stream was opened and not closed."""
    opened = document.analysis.streams.opened_by(run)
    return opened is not None and document.analysis.states.of(opened) is State.OPEN


def _severity(document: CaptureDocument, run: int) -> int:
    """The worst of what is found about its frames; those of streams are few."""
    found, runs = document.analysis.findings.found, document.analysis.streams.columns["run"]
    rows = [found.rows_of(check) for check in CHECKS if found.counts_of(check)]
    about = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    about = about[runs[about] == run]
    return int(found.severities[found.columns["set"][about]].max()) if len(about) else 0


def stream_lines(document: CaptureDocument, message: int) -> Original:
    """The lines below the row of a stream: its text, as far as it is shown there. Reads LINE_FRAMES frames at most."""
    streams = document.analysis.streams
    run = streams.run_of(message)
    text = document.stream_texts.of(run)
    joiner = text.read(LINE_FRAMES)
    joined = joiner.joined
    said = masked_start(joined.text, MAX_LINES * WIDTH * 4)
    lines = [line for part in said.splitlines() for line in textwrap.wrap(part, WIDTH) or [""]]
    while lines and not lines[-1]:
        lines.pop()
    body = [OriginalLine(OriginalLineKind.TEXT, wire_text.one_line(line)) for line in lines[:MAX_LINES]]
    if joined.notes:
        body.insert(0, OriginalLine(OriginalLineKind.NOTE, wire_text.plain(" → ".join(joined.notes), 400)))
    name = document.capture.string("stream", message) or "stream"
    size = formats.size(int(streams.runs["bytes"][run]))
    kind = "binary, " if joiner.is_binary else ""
    head = OriginalLine(OriginalLineKind.HEAD, f"{wire_text.plain(name, 80)}, {_aside(document, run)}, {kind}{size}")
    more = _more(len(lines) - MAX_LINES, text.left)
    tail = [OriginalLine(OriginalLineKind.MORE, more)] if more else []
    return Original(message, (head, *body, *tail), (), mask_text(joined.text), title="Stream")


def _more(lines: int, frames: int) -> str:
    """What is left out, in words; ""."""
    if frames > 0:
        return formats.count_of(frames, "more frame")
    return formats.count_of(lines, "more line") if lines > 0 else ""
