"""Saves captures, and sources of a document, under a user's name, also while they grow; no Qt.

A capture of ours moves: it is renamed if possible, else copied and continued there. Other files are copied byte for
byte as read. A complete copy exists on disk at every moment, under the old name or the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Protocol

from inspector.base.atomic_files import TemporaryFile, open_replacement
from inspector.base.paths import is_same_file
from inspector.document.bundling import write_sources
from inspector.document.document import CaptureDocument
from inspector.document.openers import title_of
from inspector.store.files.capture_folder import OwnCapture, captures_folder
from inspector.store.files.source_files import SourceFile

_STEP_BYTES = 1 << 20
_TAIL_BYTES = 1 << 18
"""Bytes that may remain for the moment of the writer's switch."""

_ADVICE = {
    errno.EACCES: "Choose a folder you may write to",
    errno.EPERM: "Choose a folder you may write to",
    errno.EROFS: "Choose a folder you may write to",
    errno.ENOSPC: "Free some space, or choose another disk",
    errno.EDQUOT: "Free some space, or choose another disk",
    errno.EFBIG: "Free some space, or choose another disk",
    errno.EBUSY: "Save it once more",
    errno.ENOENT: "Choose a folder that exists",
    errno.ENAMETOOLONG: "Choose a shorter name",
    errno.EISDIR: "Choose another name",
}


class CaptureFile(Protocol):
    """The capture file that a writer or a recorder fills; described by `CaptureWriter`."""

    @property
    def path(self) -> Path: ...

    @property
    def error(self) -> OSError | None: ...

    @property
    def closed(self) -> bool: ...

    def write_all_now(self) -> None: ...

    def move_to(self, path: Path) -> None: ...

    def switch_to_file(self, path: Path, *, copied: int, named: Path) -> None: ...


async def save_capture(
    document: CaptureDocument, target: Path, *, own: OwnCapture | None, writer: CaptureFile | None
) -> None:
    """Moves a capture to the file that the user chose; document and writer continue there.

    Args:
        document: the document.
        target: replaced if it exists; the user has agreed.
        own: our capture file to move; None if it was saved before, so it stays.
        writer: writer of the capture, if active.

    Raises:
        OSError: it could not be saved; the state is unchanged.
    """
    source = _saved_source(document, own, writer)
    target = _check_target(source.path, target)
    if is_same_file(source.path, target):
        return
    # A rename costs nothing and keeps the open file; a copy is needed only otherwise.
    if own is None or not _all_written(writer) or not _try_rename(source.path, target):
        await _copy_over(source, target, writer)
    if writer is not None and not writer.closed:
        writer.move_to(target)
    source.move_to(target)
    if document.sources.several is not None:
        document.sources.several.update_path(source.path, target)
    source.path, source.name = target, target.name
    if document.path is None or len(document.capture.sources) == 1:
        document.path, document.name = target, title_of(target)
    if own is not None:
        with contextlib.suppress(OSError):  # it stays as a needless copy
            own.discard()


async def save_copy(document: CaptureDocument, target: Path) -> None:
    """Copies a log byte for byte to another file; the document keeps its own.

    Several sources become one capture with all of them.

    Raises:
        OSError: it could not be written; an old target is unchanged.
    """
    if len(document.sources.files) > 1:
        checked = _check_target(document.capture.sources[0].path, target)
        if any(is_same_file(source.path, checked) for source in document.sources.files):
            raise OSError(errno.EEXIST, "That is one of its sources", str(target))
        await asyncio.to_thread(save_sources, document, checked)
        return
    source = document.capture.sources[0]
    target = _check_target(source.path, target)
    if document.msp is not None and any(is_same_file(file.path, target) for file in document.msp.files):
        raise OSError(errno.EEXIST, "That is a file of the sessions themselves", str(target))
    # A copy without its beginning would look complete.
    if source.lost_to:
        raise OSError(errno.EIO, "The beginning of the log is no longer on the disk", str(source.path))
    if not is_same_file(source.path, target):
        await _copy_over(source, target, None)


def save_sources(document: CaptureDocument, target: Path) -> None:
    """Writes all sources of a document as one capture. Raises OSError."""
    with open_replacement(target) as file:
        write_sources(document, file)


def _saved_source(document: CaptureDocument, own: OwnCapture | None, writer: CaptureFile | None) -> SourceFile:
    """Returns the source to save; others beside it stay in place."""
    path = writer.path if writer is not None else own.path if own is not None else None
    sources = document.capture.sources
    return next((source for source in sources if source.path == path), document.sources.live_source or sources[0])


def why_not_saved(error: OSError, target: Path) -> str:
    """Words a save error with a remedy, for the user."""
    what = (error.strerror or str(error)).rstrip(".")
    advice = _ADVICE.get(error.errno or 0, "Choose another name or folder")
    return f"{target.name} could not be saved in {target.parent}: {what}. {advice}; the capture is where it was."


def _check_target(source: Path, target: Path) -> Path:
    target = Path(os.path.realpath(target))  # keeps a link
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "There is a folder of that name", str(target))
    if target.parent == captures_folder().resolve() and not is_same_file(source, target):
        raise PermissionError(errno.EPERM, "That folder is for captures that are not saved yet", str(target))
    return target


def _all_written(writer: CaptureFile | None) -> bool:
    """Returns True if the file has all data; with a full disk, the rest needs another one."""
    if writer is None or writer.error is None:
        return True
    try:
        writer.write_all_now()
    except OSError:
        return False
    return True


def _try_rename(source: Path, target: Path) -> bool:
    """Renames; returns False if impossible, as between disks, or on Windows while the file is open."""
    try:
        source.replace(target)
    except OSError:
        return False
    return True


async def _copy_over(source: SourceFile, target: Path, writer: CaptureFile | None) -> None:
    """Copies everything beside the target, then replaces the target; the writer continues there."""
    with _part_beside(target) as part:
        # In a thread: a capture of some GB takes seconds to copy.
        copied = await asyncio.to_thread(_copy, source, part, 0, writer is not None and not writer.closed)
        if writer is not None and not writer.closed:
            # The writer copies the small rest itself, between two of its writes.
            writer.switch_to_file(part, copied=copied, named=target)
            return
        if writer is not None:  # the connection ended meanwhile
            await asyncio.to_thread(_copy, source, part, copied, False)
        part.chmod(source.path.stat().st_mode & 0o777 if source.path.is_file() else 0o600)
        part.replace(target)


@contextlib.contextmanager
def _part_beside(target: Path) -> Generator[Path]:
    """Yields an empty file in the target's folder; deletes it after a failure."""
    part = TemporaryFile(target)
    if os.name == "nt":  # an open file cannot be renamed there
        part.release()
    try:
        yield part.path
    except BaseException:
        part.discard()
        raise
    part.release()


def _copy(source: SourceFile, part: Path, copied: int, grows: bool) -> int:
    """Continues a copy and returns the bytes copied. For a growing file, a small rest remains."""
    whole = source.size
    with part.open("r+b") as file, _independent_reader(source) as read:
        file.seek(copied)
        while data := read(copied, _STEP_BYTES):
            copied += file.write(data)
            if grows and source.size - copied < _TAIL_BYTES:
                break
        file.flush()
        os.fsync(file.fileno())
    if not grows and copied < whole:
        raise OSError(errno.EBUSY, "The file became shorter while it was being copied", str(source.path))
    return copied


@contextlib.contextmanager
def _independent_reader(source: SourceFile) -> Generator[Callable[[int, int], bytes]]:
    """Yields a read function that does not disturb the document's, through the open file if possible.

    The name may belong to another file by now.
    """
    # `pread` moves no file position, so both readers can share the file.
    if hasattr(os, "pread"):
        yield source.read
        return
    own = SourceFile(source.data_path)
    try:
        yield own.read
    finally:
        own.close()
