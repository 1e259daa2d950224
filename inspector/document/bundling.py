"""Bundles all sources of a document into one capture that opens as the same document (docs/several-sources.md)."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import BinaryIO

from inspector.document.document import CaptureDocument
from inspector.document.source_list import source_list
from inspector.document.source_set import SourceChoice
from inspector.sources.bundle import Packed, member_at, write_bundle
from inspector.sources.stream_feed import StreamFeed
from inspector.store.files.source_files import SourceFile


def write_sources(document: CaptureDocument, file: BinaryIO) -> None:
    """Writes all sources of a document as they were read, in their original compressed or converted files.

    Raises:
        OSError: a source cannot be read, or the file cannot be written.
    """
    with contextlib.ExitStack() as opened:
        choices: list[SourceChoice] = []
        packed: list[Packed] = []
        for number, source in enumerate(document.sources.files, 1):
            if source.lost_to:
                raise OSError(errno.EIO, f"The beginning of {source.name} is no longer on the disk", str(source.path))
            # A folder per source, since names may repeat and decisions lie beside their log.
            name = f"{number}/{source.path.name}"
            packed.append(_packed(source, name, opened))
            choices.append(_choice(document, source, Path(name)))
            beside = [one for one in document.decisions.sources if one.path.parent == source.path.parent]
            packed += [Packed(f"{number}/{one.path.name}", one.size, one.read) for one in beside]
        write_bundle(file, source_list(Path(), choices), packed)


def _choice(document: CaptureDocument, source: SourceFile, path: Path) -> SourceChoice:
    """Returns the choice for a source, with another path."""
    opened = document.sources.several
    chosen = next((one for one in document.choices if one.path == source.path and not one.is_session), None)
    member = opened.member_of(source) if opened is not None else None
    offset_ns = chosen.clock_offset_ns if chosen is not None else None
    return SourceChoice(path, clock_offset_ns=offset_ns, reading=source.chosen_format, name=source.name, member=member)


def _packed(source: SourceFile, name: str, opened: contextlib.ExitStack) -> Packed:
    """Returns the original file of a source, also from a bundle; for other sources, the data as read."""
    feed, member = source.feed, member_at(source.path)
    if member is not None:
        bundle = opened.enter_context(contextlib.closing(SourceFile(member.bundle)))
        return Packed(name, member.size, lambda offset, length: bundle.read(member.offset + offset, length))
    # Pipes are gone once read, and rotated parts are one log only in our spool.
    if feed is None or not source.path.is_file() or (isinstance(feed, StreamFeed) and feed.log is not None):
        return Packed(name, source.size, source.read)
    original = opened.enter_context(contextlib.closing(SourceFile(source.path)))
    return Packed(name, original.size, original.read)
