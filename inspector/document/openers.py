"""Table of openers: decides from a path how a document is read, as a session, a folder, a source list or one log."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.document.source_list import is_source_list, read_source_list
from inspector.document.source_set import SourceChoice, SourceSet, logs_in
from inspector.document.sources import Progress, progress_of
from inspector.msp import holds_sessions, is_session_document
from inspector.reading.files.format_detection import forced_format
from inspector.reading.files.source_reader import BLOCK_BYTES, SourceReader
from inspector.sources.conversion_table import store_at
from inspector.sources.inputs import is_stream, open_source
from inspector.sources.transcript_files import members_of
from inspector.store.files.source_files import SourceFile

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Arguments of `CaptureDocument.open_log`, which documents them."""

    path: Path
    name: str | None = None
    reading: str | None = None
    block_bytes: int = BLOCK_BYTES
    follow: bool = False
    together: bool = False


Opener = Callable[["CaptureDocument", OpenRequest], Generator[Progress] | None]
"""Returns the steps that read the path into the document, or None if the path is of another kind."""


def open_stream(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens standard input or a pipe: messages, or sessions of the Model Subsession Protocol."""
    return _read_stream(document, request) if is_stream(request.path) else None


def open_store(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens a store of sessions, or a session in one, whose path names no file."""
    return None if store_at(request.path) is None else _read_log(document, request)


def open_agent_session(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens an agent's session with the files of its sub-agents."""
    # A session's file alone is opened as a log, unless asked otherwise.
    if not (request.together or request.path.is_dir()) or not members_of(request.path)[0]:
        return None
    document.path = request.path
    choices = [SourceChoice(request.path, is_session=True)]
    return document.open_set(
        choices, name=request.name or title_of(request.path), block_bytes=request.block_bytes,
        follow=request.follow,
    )  # fmt: skip


def open_folder(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens a folder of logs, such as the parts of a rotated one."""
    if not request.path.is_dir() or is_session_document(request.path) or not (logs := logs_in(request.path)):
        return None
    document.path, document.name = request.path, document.name or request.name or title_of(request.path)
    choices = [SourceChoice(log, reading=request.reading) for log in logs]
    return document.open_together(choices, block_bytes=request.block_bytes, follow=request.follow)


def open_source_list(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens the logs that a source list names."""
    if not is_source_list(request.path):
        return None
    document.path, document.name = request.path, document.name or request.name or request.path.stem
    return document.open_together(
        read_source_list(request.path), name=request.name, block_bytes=request.block_bytes,
        follow=request.follow,
    )  # fmt: skip


def open_msp_document(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens a file or a folder of sessions with sub-sessions (docs/protocols.md 14)."""
    if request.reading is not None or not is_session_document(request.path):
        return None
    return document.open_sessions([request.path], name=request.name, block_bytes=request.block_bytes)


def open_single_log(document: CaptureDocument, request: OpenRequest) -> Generator[Progress] | None:
    """Opens one log or archive; claims every path, so it is the last in the table."""
    return _read_log(document, request)


OPENERS: tuple[Opener, ...] = (
    open_stream, open_store, open_agent_session, open_folder, open_source_list, open_msp_document, open_single_log,
)  # fmt: skip
"""Openers in the order tried; the first that returns steps reads the path."""


def _read_log(document: CaptureDocument, request: OpenRequest) -> Generator[Progress]:
    source = open_source(request.path, request.name)
    source.chosen_format = request.reading or forced_format(source)
    document.path, document.name = request.path, document.name or request.name or title_of(request.path)
    document.live = False
    document.sources.add(source)
    yield from document.read_sources(request.block_bytes, follow=request.follow)


def _read_stream(document: CaptureDocument, request: OpenRequest) -> Generator[Progress]:
    source = open_source(request.path, request.name)
    source.chosen_format = request.reading
    document.path, document.name = source.data_path, document.name or request.name or source.name
    document.live = True
    if request.reading is None and (yield from _streams_sessions(document, source)):
        yield from _read_streamed_sessions(document, source, request)
        return
    document.sources.add(source)
    yield from document.read_sources(request.block_bytes, follow=request.follow)


def _streams_sessions(document: CaptureDocument, source: SourceFile) -> Generator[Progress, None, bool]:
    """Waits for the first object of a stream; returns True if it begins a document of sessions."""
    # Known before the first byte, so that the user can stop the wait.
    document.sources.stream = source
    # A pipe may deliver its first object in pieces.
    yield from _wait_until(document, source, lambda: holds_sessions(source) is not None)
    return bool(holds_sessions(source))


def _read_streamed_sessions(document: CaptureDocument, source: SourceFile, request: OpenRequest) -> Generator[Progress]:
    """Reads the sessions of a stream once all of it has come: they are one JSON document."""
    yield from _wait_until(document, source, lambda: not source.is_growing)
    document.live = False
    try:
        yield from document.open_sessions([source.data_path], block_bytes=request.block_bytes)
    finally:  # also when it was cancelled
        if document.msp is not None:
            document.msp.leave_disk()
        source.close()


def _wait_until(document: CaptureDocument, source: SourceFile, condition: Callable[[], bool]) -> Generator[Progress]:
    reader = SourceReader(source, 0, waits=document.sources.waits)
    for _ in reader.wait_until(condition):
        yield progress_of(reader, len(document.capture), unopened=document.sources.is_unopened)


def title_of_several(opened: SourceSet) -> str:
    """Returns the title of a document of several sources: the first one's, and how many more there are."""
    first = title_of(opened.choices[0].path)
    more = len(opened.choices) - 1
    return f"{first} and {more} more" if more else first


def title_of(path: Path) -> str:
    """Returns the file's name, with its folder's name where gateways call all their logs the same."""
    stem = path.name.partition(".")[0]
    return f"{path.parent.name}/{path.name}" if stem in ("envelope-history", "capability-decisions") else path.name
