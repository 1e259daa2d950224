"""Table of export formats; selects messages, and writes them in steps to a path or an open file."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from inspector.base.atomic_files import open_replacement
from inspector.base.paths import is_same_file
from inspector.base.thread_steps import thread_steps
from inspector.document.document import CaptureDocument
from inspector.export.compression import ENDINGS, compressing
from inspector.export.lines import LinesWriter
from inspector.export.markdown import MarkdownWriter
from inspector.export.masking_worker import MaskingWorker, is_large
from inspector.export.options import Exported, ExportOptions, Format, Steps, Writer
from inspector.export.page import PageWriter
from inspector.export.redaction import Redaction
from inspector.export.table import TableWriter
from inspector.filters import DisplayFilter
from inspector.store.files.capability_decisions import FILE_NAME as DECISIONS
from inspector.store.files.capture_folder import MARKS_SUFFIX

FORMATS = {
    Format.JSONL: LinesWriter,
    Format.CSV: TableWriter,
    Format.MARKDOWN: MarkdownWriter,
    Format.HTML: PageWriter,
}
"""Writers by format that work message by message; `inspector.export.steps` covers all formats."""

# Other formats compose far more per message.
PROGRESS_MESSAGES = 16
"""Messages between two progress reports, for callers that must stay responsive. Other formats report each message."""
_EACH_BYTES = 1 << 17
"""Bytes between two progress reports, for long lines."""
_AS_LOGGED = ExportOptions()
# A filter that decodes stays at small blocks: a block is one pause of the window.
_FIRST_ASKED, _MOST_ASKED, _DEAR_ASKED = 1_000, 1 << 17, 1_000


def matching(document: CaptureDocument, filter_: DisplayFilter) -> Iterator[int]:
    """Yields the messages that pass a filter, in capture order; evaluates in growing blocks."""
    analysis = document.analysis
    most = _MOST_ASKED if filter_.is_cheap(analysis) else _DEAR_ASKED
    start, step = 0, _FIRST_ASKED
    while start < len(analysis):
        rows = np.arange(start, min(start + step, len(analysis)))
        yield from rows[filter_.mask(analysis, rows)].tolist()
        # The first matches come at once; later blocks are large for speed.
        start, step = start + step, min(step * 2, most)


def _pieces_of(write: Callable[[], bytes]) -> Iterator[bytes]:
    """Yields empty pieces while a thread writes a message, then the message."""
    yield (yield from thread_steps(write, b""))


def rows_of(messages: NDArray[Any]) -> Iterator[int]:
    """Yields the items of an array without building a list of them all."""
    step = _MOST_ASKED
    for start in range(0, len(messages), step):
        yield from messages[start : start + step].tolist()


def writer_for(document: CaptureDocument, options: ExportOptions, redaction: Redaction) -> Writer:
    """Returns the writer for the options.

    Raises:
        FilterError: a column is not a field.
    """
    return FORMATS[options.format](document, options, redaction)


def export_file(
    document: CaptureDocument, messages: Iterable[int], target: Path, options: ExportOptions = _AS_LOGGED,
    aside: MaskingWorker | None = None,
) -> Steps:  # fmt: skip
    """Writes messages to a file in steps and replaces it at the end; the last step is complete.

    A generator closed early leaves the old file. A name with .gz or .zst is compressed.

    Args:
        document: the document with the messages.
        messages: message indices in output order.
        target: the file.
        options: the format and its options.
        aside: masks long lines in another process, for a responsive window; large messages are written by a thread.

    Raises:
        OSError: the file cannot be written or the log cannot be read. Also if the target is a file of the document,
            such as the log or its marks, or a pipe or device.
        FilterError: a column is not a field.
    """
    if takes_a_stream(target):
        raise OSError(errno.EINVAL, "that is a pipe or a device, not a file", str(target))
    # A link stays a link: its target is replaced.
    target = Path(os.path.realpath(target))
    refuse_source_files(document, target)
    done = Exported(0, 0, Counter())
    with open_replacement(target) as file, compressing(file, target.name) as stream:
        for done in export_to(document, messages, stream, options, aside):
            yield done
    yield replace(done, size_bytes=target.stat().st_size)


def takes_a_stream(target: Path) -> bool:
    """Returns True for a pipe or device: writing to it replaces no file."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def export_stream(
    document: CaptureDocument, messages: Iterable[int], target: Path, options: ExportOptions = _AS_LOGGED
) -> Steps:
    """Writes messages to a pipe or device, as `export_file`; blocks until the reader takes them."""
    with target.open("wb") as file, compressing(file, target.name) as stream:
        yield from export_to(document, messages, stream, options)


def export_to(
    document: CaptureDocument, messages: Iterable[int], file: BinaryIO, options: ExportOptions = _AS_LOGGED,
    aside: MaskingWorker | None = None,
) -> Steps:  # fmt: skip
    """Writes messages to an open file, as `export_file`."""
    redaction = Redaction(masked=options.masked)
    lines = LinesWriter(document, options, redaction, aside=aside) if options.format is Format.JSONL else None
    writer = lines or writer_for(document, options, redaction)
    threaded = writer if aside is not None and isinstance(writer, MarkdownWriter | PageWriter) else None
    each = PROGRESS_MESSAGES if lines is not None else 1
    count, size, reported = 0, file.write(writer.begin()), 0
    for message in messages:
        with document.capture.records.unmasked(if_=lines is None and not options.masked):
            if lines is not None:
                pieces = lines.lines(message)
            elif threaded is not None and is_large(document.capture, message):
                pieces = _pieces_of(threaded.prepare(message))
            else:
                pieces = (writer.message(message),)
        for piece in pieces:
            size += file.write(piece)
            # Empty pieces are pauses within a long message.
            if size - reported >= _EACH_BYTES or not piece:
                reported = size
                yield Exported(count, size, redaction.tally)
        count += 1
        if not count % each:
            yield Exported(count, size, redaction.tally)
    size += file.write(writer.end())
    file.flush()  # a full disk raises here, not at close
    yield Exported(count, size, redaction.tally)


def write_error_words(error: OSError) -> str:
    """Returns the reason for a write error and a remedy, as the end of a sentence."""
    what = (error.strerror or str(error)).rstrip(".")
    return f"{what}; {_ADVICE.get(error.errno or 0, 'choose another folder or name')}."


_ADVICE = {
    errno.EEXIST: "choose another name",
    errno.ENOMEM: "close other programs, or choose fewer messages",
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EDQUOT: "free some space, or choose another disk",
    errno.EFBIG: "choose another disk, or fewer messages",
}


def refuse_source_files(document: CaptureDocument, target: Path) -> None:
    """Raises OSError if the target is the log, its marks or a file read beside it."""
    files = [file.path for file in document.msp.files] if document.msp is not None else []
    if any(is_same_file(path, target) for path in (*files, *(source.path for source in document.capture.sources))):
        raise OSError(errno.EEXIST, "that is the log itself", str(target))
    # Also by name: the file of marks may not exist yet.
    if any(is_same_file(marks, target) or marks == target for marks in _marks_of(document)):
        raise OSError(errno.EEXIST, "that is the file with the marks of the log", str(target))
    if any(is_same_file(decisions, target) for decisions in _decisions_of(document)):
        raise OSError(errno.EEXIST, "that is the file with the gateway's decisions about the log", str(target))


def _decisions_of(document: CaptureDocument) -> Iterator[Path]:
    """Yields the gateway's decision files beside the log, opened or not."""
    if document.decisions.found is not None:
        yield from (source.path for source in document.decisions.found.sources)
    for source in document.capture.sources:
        if source.known_format == "gateway-log":
            for ending in ("", *ENDINGS):
                yield source.path.with_name(DECISIONS + ending)


def _marks_of(document: CaptureDocument) -> Iterator[Path]:
    """Yields paths of mark files beside the log, existing or not."""
    for source in document.capture.sources:
        for path in (source.path, Path(os.path.realpath(source.path))):
            yield path.with_name(path.name + MARKS_SUFFIX)
