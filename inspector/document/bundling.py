"""All sources of a document as one capture, which opens as the same document (docs/several-sources.md)."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import BinaryIO

from inspector.capture.sources import SourceFile
from inspector.document.document import CaptureDocument
from inspector.document.source_list import source_list
from inspector.document.source_set import SourceChoice
from inspector.sources.bundle import Packed, write_bundle
from inspector.sources.stream_feed import StreamFeed


def write_sources(document: CaptureDocument, file: BinaryIO) -> None:
    """Write all sources of a document as they were read: what one was unpacked or converted from, too.

    Raises:
        OSError: one cannot be read, or the file cannot be written.
    """
    with contextlib.ExitStack() as opened:
        choices: list[SourceChoice] = []
        packed: list[Packed] = []
        for number, source in enumerate(document.read_sources, 1):
            if source.lost_to:
                raise OSError(errno.EIO, f"The beginning of {source.name} is no longer on the disk", str(source.path))
            original = _original(source, opened)
            name = f"{number}/{source.path.name}"
            packed.append(Packed(name, original.size, original.read))
            choices.append(_choice(document, source, Path(name)))
            beside = [one for one in document.decisions.sources if one.path.parent == source.path.parent]
            packed += [Packed(f"{number}/{one.path.name}", one.size, one.read) for one in beside]
        write_bundle(file, source_list(Path(), choices), packed)


def _choice(document: CaptureDocument, source: SourceFile, path: Path) -> SourceChoice:
    """A source as it was chosen, at another path."""
    opened = document.source_set
    chosen = next((one for one in document.choices if one.path == source.path and not one.is_session), None)
    member = opened.member_of(source) if opened is not None else None
    offset_ns = chosen.clock_offset_ns if chosen is not None else None
    return SourceChoice(path, clock_offset_ns=offset_ns, reading=source.reading, name=source.name, member=member)


def _original(source: SourceFile, opened: contextlib.ExitStack) -> SourceFile:
    """What a source was read from, where that is one file; else what it was read as."""
    feed = source.feed
    if feed is None or not source.path.is_file() or (isinstance(feed, StreamFeed) and feed.log is not None):
        return source
    return opened.enter_context(contextlib.closing(SourceFile(source.path)))
