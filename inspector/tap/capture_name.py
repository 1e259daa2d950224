"""Chooses, creates and locks the file that a tap writes; refuses files with other content."""

from __future__ import annotations

import errno
import os
import time
from typing import NamedTuple

from inspector.store.files.capture_format import HEADER, SUFFIX
from inspector.tap.hold import HELD, NO_FILE, PATIENCE_S, FileHold

_TEMPORARY_ERRORS = frozenset(
    {errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}
)
"""Temporary disk errors: the server starts all the same, and writing is retried."""
_ADVICE = "Choose another name, or a folder, where each start creates its own file."


class NotPossibleError(Exception):
    """The capture cannot be written as asked; the text is a sentence."""


class Claim(NamedTuple):
    """A file claimed for writing."""

    path: str
    is_made: bool
    """The file was created by this call."""
    hold: FileHold
    """Lock on the file; unlocked while the disk fails."""
    is_beside: bool = False
    """Another file was taken, since the named one has content."""


def claim_file(output: str, program: str, *, append: bool) -> Claim:
    """Creates the file if needed and locks it.

    Args:
        output: a file, or a folder for a new file at each start.
        program: name for such a file.
        append: append to an existing capture; else an existing file is left alone and a new one is created beside it,
            such as `name-2.ctxcap`.

    Raises:
        NotPossibleError: if the file is not a capture, another tap writes it, or it cannot be written.
    """
    if output == "-":
        # MCP over stdio is that output: a capture in it would break the client.
        raise NotPossibleError("Standard output belongs to the server. Name a file or a folder for the capture.")
    path = os.path.abspath(os.path.expanduser(output))
    is_folder = output.endswith(("/", os.sep)) or os.path.isdir(path)
    folder = path if is_folder else os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return _claim_in_folder(folder, program) if is_folder else _claim_path(path, append=append)
    except OSError as error:
        # The server is needed now, and a full disk may have room later. A folder needs a name first.
        if error.errno in _TEMPORARY_ERRORS and not is_folder:
            return Claim(path, False, FileHold())
        if error.strerror == HELD:
            raise NotPossibleError(f"Another tap writes {path}. {_ADVICE}") from error
        if error.strerror == NO_FILE:
            raise NotPossibleError(f"{path} is not a regular file, so it cannot be a capture. {_ADVICE}") from error
        raise NotPossibleError(f"{path} cannot be written: {error.strerror or error}.") from error


def _claim_in_folder(folder: str, program: str) -> Claim:
    base = os.path.basename(program)
    # The command may be a path, or hold characters that Windows refuses in names.
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in base)[:40] or "server"
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    hold = FileHold()
    for number in range(1, 1_000):
        path = os.path.join(folder, f"{name} {stamp}{f' ({number})' if number > 1 else ''}{SUFFIX}")
        try:
            hold.make(path)
        except FileExistsError:
            # Two taps of one server may start in the same second.
            continue
        return Claim(path, True, hold)
    raise NotPossibleError(f"There is no free name for a capture in {folder}.")


def _claim_path(path: str, *, append: bool) -> Claim:
    if not append:
        return _claim_beside(path)
    hold = FileHold()
    try:
        hold.make(path)
    except FileExistsError:
        pass
    else:
        return Claim(path, True, hold)
    hold.acquire(path, PATIENCE_S)
    try:
        _check_content(hold, path, append=append)
    except BaseException:
        hold.release()
        raise
    return Claim(path, False, hold)


def _claim_beside(path: str) -> Claim:
    """Claims the file, or the first free one beside it: a client may restart its server, or start it twice at once.

    Some clients start a server once only to ask for its version. An error would look like a broken server to them.
    """
    stem, suffix = os.path.splitext(path)
    for number in range(1, 1_000):
        name = f"{stem}-{number}{suffix}" if number > 1 else path
        hold = FileHold()
        try:
            hold.make(name)
        except FileExistsError:
            pass
        else:
            return Claim(name, True, hold, number > 1)
        try:
            hold.acquire(name)
            _check_content(hold, name)
            if not os.fstat(hold.file).st_size:
                return Claim(name, False, hold, number > 1)
        except OSError as error:
            if error.strerror != HELD:
                raise
            continue
        except BaseException:
            hold.release()
            raise
        hold.release()
    raise NotPossibleError(f"There is no free name beside {path}. {_ADVICE}")


def _check_content(hold: FileHold, path: str, *, append: bool = False) -> None:
    if _is_output(hold.file):
        raise NotPossibleError(f"The server's output goes to {path}, so it cannot be the capture. {_ADVICE}")
    size = os.fstat(hold.file).st_size
    if append and size and hold.begins_with(len(HEADER)) != HEADER:
        raise NotPossibleError(f"{path} is not a capture, so it cannot be continued. Choose another name.")


def _is_output(file: int) -> bool:
    """Returns True if the server's output is redirected to this file."""
    try:
        return os.path.sameopenfile(file, 1)
    except OSError:  # there is no standard output
        return False
