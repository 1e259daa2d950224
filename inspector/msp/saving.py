"""Saves the files of an MSP document atomically, and never over changes of others.

It writes copies of one moment, so another thread can save while edits continue.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from inspector.base.atomic_files import TemporaryFile
from inspector.base.file_lock import FileLock
from inspector.base.file_modes import mode_for
from inspector.base.gc_control import no_collection
from inspector.msp.files import COMPRESSED, LINES_SUFFIXES, SUFFIXES, MspFile, Stamp, digest_of, plain_name
from inspector.msp.json_layout import decode_text
from inspector.msp.json_patch import UNREAD, lines_of, patch_json, patch_json_lines

# The owner can always read and write.
_OWNERS = 0o600
_PATIENCE_S = 2.0  # seconds to wait for the lock of another program
_HELD_AT_ONCE = 64
"""Limit of open part files, since a process may have few files open."""


class ChangedOnDiskError(OSError):
    """Files differ from the version read: changed, deleted, or unexpectedly present."""

    def __init__(self, paths: Sequence[Path]) -> None:
        names = ", ".join(path.name for path in paths)
        super().__init__(errno.ESTALE, f"Changed on disk since it was read: {names}", str(paths[0]))
        self.paths = list(paths)


class WouldReplaceError(FileExistsError):
    """The target of a save under another name exists."""

    def __init__(self, paths: Sequence[Path]) -> None:
        names = ", ".join(path.name for path in paths)
        super().__init__(errno.EEXIST, f"Already exists: {names}", str(paths[0]))
        self.paths = list(paths)


@dataclass(frozen=True, slots=True)
class _Staged:
    """New content beside its target."""

    file: MspFile
    path: Path
    """Path as named; `target` resolves a link."""
    target: Path
    data: bytes
    part: TemporaryFile
    stamp: Stamp | None
    """Stamp of the file it replaces, if any."""


def content_of(file: MspFile) -> bytes:
    """Returns the new bytes of a file. Raises OSError if they cannot be made."""
    if not file.holds or file.value is UNREAD:
        return file.original
    try:
        return patch_json_lines(file.original, file.value) if file.lines else patch_json(file.original, file.value)
    except RecursionError:
        raise OSError(errno.EINVAL, "It is nested too deeply to be written", str(file.path)) from None


def changed_files(files: Sequence[MspFile]) -> list[MspFile]:
    """Returns files that differ from the version read or saved."""
    return [file for file in files if not _is_as_read(file)]


def _really_changed(files: Sequence[MspFile]) -> list[MspFile]:
    changed = [file for file in files if not _is_as_read(file, closely=True)]
    for file in changed:
        if file.stamp is not None:  # remember the change, even if size and time are the same
            file.stamp = file.stamp._replace(mtime_ns=-1)
    return changed


def save_files(files: Sequence[MspFile], gone: Sequence[MspFile], *, force: bool) -> None:
    """Writes changed files, and deletes the files in `gone`, which are ours.

    Files in `gone` that others have changed are kept, even with `force`.

    Raises:
        ChangedOnDiskError: another program changed a file; no file was written.
        OSError: a write failed; files already written are complete.
    """
    contents = [(file, content_of(file)) for file in files if file.holds]
    # Unchanged files keep their time, so other programs see no change.
    wanted = [(file, data) for file, data in contents if _is_other(file, data) or (force and not _is_as_read(file))]
    if not force and (changed := _really_changed([*(file for file, _ in wanted), *gone])):
        raise ChangedOnDiskError([file.path for file in changed])
    if packed := next((file for file, _ in wanted if file.compressed), None):
        raise OSError(errno.EROFS, "It is compressed and read-only; save it under another name", str(packed.path))
    _write_all([(file, file.path, data) for file, data in wanted], force=force, put=_is_now)
    for file in gone:
        # Others may have put their own content into a file that we created.
        if _is_as_read(file, closely=True):
            # Another program may have removed it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                file.path.unlink()
        file.stamp, file.digest = None, ""


def save_files_as(files: Sequence[MspFile], path: Path, *, replace: bool) -> None:
    """Writes files under another name, which they keep: one as is, several in a folder.

    Args:
        files: all files of a document.
        path: path of the file or folder.
        replace: overwrites existing files.

    Raises:
        WouldReplaceError: a target exists; no file was written.
        OSError: a write failed; files already written are complete.
    """
    several = len(files) > 1
    if several and path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "The document has several files and needs a folder", str(path))
    targets = names_in_folder(files, path) if several else [path]
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
    pairs = list(zip(files, targets, strict=True))
    there = [target for file, target in pairs if target.exists() and not _is_its_own(file, target)]
    if there and not replace:
        raise WouldReplaceError(there)
    wanted = [(file, target, content_of(file)) for file, target in pairs]
    for file, target, data in wanted:
        _refuse_name(file, target, data)
    for step in _write_all(wanted, force=True):
        step.file.path = step.path
        _is_now(step)


def names_in_folder(files: Sequence[MspFile], folder: Path) -> list[Path]:
    """Returns unique targets in a folder, with names that are found there again."""
    taken: set[str] = set()
    targets: list[Path] = []
    for file in files:
        name = Path(plain_name(file.name))
        stem, suffix = (name.stem, name.suffix) if name.suffix in SUFFIXES else (name.name, ".json")
        stem, number = stem.lstrip(".") or "session", 1
        while True:
            target = folder / name.with_name(f"{stem}-{number}{suffix}" if number > 1 else stem + suffix)
            place = os.path.realpath(target).casefold()  # some file systems ignore case
            if place not in taken:
                break
            number += 1
        taken.add(place)
        targets.append(target)
    return targets


def _is_its_own(file: MspFile, target: Path) -> bool:
    return os.path.realpath(target) == os.path.realpath(file.path) and _is_as_read(file, closely=True)


def _refuse_name(file: MspFile, target: Path, data: bytes) -> None:
    """Raises OSError if a file with such a name could not be read again."""
    if target.suffix in COMPRESSED:
        raise OSError(errno.EINVAL, f"It is not compressed: choose a name that does not end in {target.suffix}")
    if target.suffix in LINES_SUFFIXES and not file.lines and file.path.suffix != target.suffix:
        values, _ = lines_of(decode_text(data).text)
        if any(value is UNREAD for value in values):
            raise OSError(errno.EINVAL, "It is not JSON Lines: choose a name that ends in .json")


def _write_all(
    wanted: Sequence[tuple[MspFile, Path, bytes]], *, force: bool, put: Callable[[_Staged], None] | None = None
) -> list[_Staged]:
    """Writes all new content beside its targets, then replaces them; calls `put` for each."""
    staged: list[_Staged] = []
    try:
        for file, path, data in wanted:
            staged.append(_stage_file(file, path, data))
            if len(staged) > _HELD_AT_ONCE:
                # The file stays on the disk; only its descriptor is closed.
                staged[-1].part.release()
        with _lock_targets(staged):
            # Another program may have written meanwhile: check again at the last moment.
            if not force and (late := [step.file.path for step in staged if not _may_replace(step)]):
                raise ChangedOnDiskError(late)
            for step in staged:
                step.part.replace_target(step.target)
                if put is not None:
                    put(step)
    finally:
        for step in staged:
            step.part.discard()
    for folder in {step.target.parent for step in staged}:
        _sync_folder(folder)
    return staged


@contextlib.contextmanager
def _lock_targets(staged: Sequence[_Staged]) -> Generator[None]:
    """Locks the files to replace, so that of two concurrent saves the second sees the first one's result."""
    locks: list[FileLock | None] = []
    try:
        # On Windows a locked file cannot be replaced; a missing file cannot be locked.
        for step in staged[:_HELD_AT_ONCE] if os.name != "nt" else ():
            if step.stamp is not None:
                with contextlib.suppress(OSError):  # write also without support for locks
                    locks.append(FileLock.acquire(step.target, _PATIENCE_S))
        yield
    finally:
        for lock in locks:
            if lock is not None:
                lock.release()


def _stage_file(file: MspFile, path: Path, data: bytes) -> _Staged:
    target = Path(os.path.realpath(path))  # keeps a link
    stamp = _stamp(target)
    part = TemporaryFile(target)
    try:
        with part.open() as out:
            out.write(data)
            out.flush()
            # Otherwise a power failure may leave an empty file after the rename.
            os.fsync(out.fileno())
        if stamp is not None and os.name != "nt":
            found = target.stat()
            with contextlib.suppress(OSError):  # only some users may restore the owner
                os.chown(part.path, found.st_uid, found.st_gid)
        part.path.chmod(target.stat().st_mode & 0o7777 if stamp is not None else _new_mode(file, target))
    # An interruption too must not leave a part of a file.
    except BaseException:
        part.discard()
        raise
    return _Staged(file, path, target, data, part, stamp)


def _new_mode(file: MspFile, target: Path) -> int:
    """Returns the mode of a new file: readable by no more users than its original."""
    mode = mode_for(target)
    for like in (file.path, file.like.path if file.like is not None else file.path):
        with contextlib.suppress(OSError):
            # Never wider than the file beside it, whatever the user's default.
            return mode & (like.stat().st_mode | _OWNERS)
    return mode


def _is_other(file: MspFile, data: bytes) -> bool:
    """Returns True if a file's new content differs from the disk."""
    if file.stamp is None:
        return True
    return data != file.original if file.compressed else digest_of(data) != file.digest


def _may_replace(step: _Staged) -> bool:
    return _stamp(step.target) == step.stamp and _is_as_read(step.file)


def _is_now(step: _Staged) -> None:
    """Updates the file's stamp and digest after a write."""
    file = step.file
    # The original bytes stay the base of writes: an edit undone after a save leaves no trace.
    file.digest, file.compressed = digest_of(step.data), False
    file.stamp = _stamp(step.target)


def _is_as_read(file: MspFile, *, closely: bool = False) -> bool:
    """Returns True if the file on the disk is the version read, or still missing.

    Args:
        closely: compares the content even if size and time are the same.
    """
    stamp = _stamp(file.path)
    if stamp is None or file.stamp is None:
        return stamp is None and file.stamp is None
    if stamp == file.stamp and not closely:
        return True
    try:
        # Some programs rewrite a file without a change, and some file systems have coarse times.
        same = stamp.size == file.stamp.size and digest_of(file.path.read_bytes()) == file.digest
    except OSError:
        return False
    if same:
        file.stamp = stamp  # touched, not changed
    return same


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of_file(path)
    except OSError:
        return None


def _sync_folder(folder: Path) -> None:
    """Flushes a folder's new names to the disk, if the system can."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_BOXES = frozenset((dict, list))
"""Container types of decoded values."""


class FileCopies:
    """Copies of files for a save, independent of edits; `transfer_stamps` transfers the result.

    Attributes:
        files: copies of the files to write.
        gone: copies of the files to delete.
    """

    def __init__(self, files: Sequence[MspFile], gone: Sequence[MspFile] = ()) -> None:
        """Copies the files. O(messages)."""
        with no_collection():
            self.files = [replace(file, value=_copy_containers(file.value)) for file in files]
        self.gone = [replace(file) for file in gone]
        self._pairs = list(zip((*files, *gone), (*self.files, *self.gone), strict=True))

    @property
    def wrote_any(self) -> bool:
        """Returns True if any file was written."""
        return any(copy.digest != file.digest for file, copy in self._pairs)

    def transfer_stamps(self) -> None:
        """Transfers paths and stamps to the files. Call it in the thread of the edits."""
        for file, copy in self._pairs:
            file.path, file.stamp = copy.path, copy.stamp
            file.digest, file.compressed = copy.digest, copy.compressed


def _copy_containers(value: Any) -> Any:
    """Copies all containers of a decoded value, at any depth."""
    if type(value) not in _BOXES:
        return value
    whole = value.copy()
    # A stack instead of recursion, and faster than `copy.deepcopy` by far.
    waiting: list[Any] = [whole]
    while waiting:
        box = waiting.pop()
        for place, item in cast(Any, box.items() if type(box) is dict else enumerate(box)):
            if type(item) in _BOXES:
                box[place] = inner = item.copy()
                if not _BOXES.isdisjoint(map(type, inner.values() if type(inner) is dict else inner)):
                    waiting.append(inner)
    return whole
