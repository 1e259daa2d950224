"""Writing the files of an MSP document: whole or not at all, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inspector.msp.files import MspFile, Stamp, digest_of
from inspector.msp.text import UNREAD, patched, patched_lines

_NEW_MODE = 0o644


class ChangedOnDiskError(OSError):
    """Files are not what was read: they were changed, deleted, or are there where none was."""

    def __init__(self, paths: Sequence[Path]) -> None:
        names = ", ".join(path.name for path in paths)
        super().__init__(errno.ESTALE, f"Changed on the disk since it was read: {names}", str(paths[0]))
        self.paths = list(paths)


@dataclass(frozen=True, slots=True)
class _Staged:
    """What is to be written, beside where it goes."""

    file: MspFile
    target: Path
    data: bytes
    part: Path
    stamp: Stamp | None
    """Of the file it replaces; None: there is none."""


def content_of(file: MspFile) -> bytes:
    """The bytes a file is to have; OSError when they cannot be made."""
    if not file.holds or file.value is UNREAD:
        return file.original
    try:
        return patched_lines(file.original, file.value) if file.lines else patched(file.original, file.value)
    except RecursionError:
        raise OSError(errno.EINVAL, "It is nested too deeply to be written", str(file.path)) from None


def changed_files(files: Sequence[MspFile]) -> list[MspFile]:
    """Those that are not on the disk as they were read or saved."""
    return [file for file in files if not _is_as_read(file)]


def _really_changed(files: Sequence[MspFile]) -> list[MspFile]:
    return [file for file in files if not _is_as_read(file, closely=True)]


def save_files(files: Sequence[MspFile], gone: Sequence[MspFile], *, force: bool) -> None:
    """Write what differs from what was read, and take away the files in `gone`, which are ours.

    Raises:
        ChangedOnDiskError: somebody else wrote one of them; nothing was written.
        OSError: it could not be written; files that were are whole.
    """
    contents = [(file, content_of(file)) for file in files if file.holds]
    wanted = [(file, data) for file, data in contents if _is_other(file, data) or (force and not _is_as_read(file))]
    if not force and (changed := _really_changed([*(file for file, _ in wanted), *gone])):
        raise ChangedOnDiskError([file.path for file in changed])
    if packed := next((file for file, _ in wanted if file.compressed), None):
        raise OSError(errno.EROFS, "It is compressed and only read; save it under another name", str(packed.path))
    _write([(file, file.path, data) for file, data in wanted], force=force)
    for file in gone:
        with contextlib.suppress(FileNotFoundError):
            file.path.unlink()
        file.stamp, file.digest = None, ""


def save_files_as(targets: Sequence[tuple[MspFile, Path]]) -> None:
    """Write each file under another name; what was there is replaced, whoever asks for it has asked the user.

    Raises:
        OSError: it could not be written; files that were are whole.
    """
    _write([(file, target, content_of(file)) for file, target in targets], force=True)


def _write(wanted: Sequence[tuple[MspFile, Path, bytes]], *, force: bool) -> None:
    """Write all beside their places first, and only then put each in its place."""
    staged: list[_Staged] = []
    try:
        staged += (_stage(file, path, data) for file, path, data in wanted)
        # Somebody may have written while we did: look once more, at the last moment.
        if not force and (late := [step.file.path for step in staged if not _may_replace(step)]):
            raise ChangedOnDiskError(late)
        for step in staged:
            step.part.replace(step.target)
            _is_now(step)
    finally:
        for step in staged:
            with contextlib.suppress(OSError):
                step.part.unlink()
    for folder in {step.target.parent for step in staged}:
        _settle(folder)


def _stage(file: MspFile, path: Path, data: bytes) -> _Staged:
    target = Path(os.path.realpath(path))  # a link keeps being one
    stamp = _stamp(target)
    descriptor, name = tempfile.mkstemp(prefix=".context-inspector-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        part.chmod(target.stat().st_mode & 0o7777 if stamp is not None else _NEW_MODE)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return _Staged(file, target, data, part, stamp)


def _is_other(file: MspFile, data: bytes) -> bool:
    """Whether a file is to hold something else than it does."""
    if file.stamp is None:
        return True
    return data != file.original if file.compressed else digest_of(data) != file.digest


def _may_replace(step: _Staged) -> bool:
    return _stamp(step.target) == step.stamp and _is_as_read(step.file)


def _is_now(step: _Staged) -> None:
    """The file is what was written."""
    file = step.file
    # The bytes that were read stay what is written from: taken back after a save, an edit leaves no trace.
    file.digest, file.compressed = digest_of(step.data), False
    file.stamp = _stamp(step.target)


def _is_as_read(file: MspFile, *, closely: bool = False) -> bool:
    """Whether the file on the disk still is what was read; where none was, none must be there.

    Args:
        closely: look at its bytes even when size and time are the same.
    """
    stamp = _stamp(file.path)
    if stamp is None or file.stamp is None:
        return stamp is None and file.stamp is None
    if stamp == file.stamp and not closely:
        return True
    try:
        same = stamp.size == file.stamp.size and digest_of(file.path.read_bytes()) == file.digest
    except OSError:
        return False
    if same:
        file.stamp = stamp  # touched, not changed
    return same


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path)
    except OSError:
        return None


def _settle(folder: Path) -> None:
    """Have the disk keep the new names, where folders can be asked to."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
