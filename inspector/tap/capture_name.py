"""Which file a tap writes, and that it may."""

from __future__ import annotations

import errno
import os
import time

SUFFIX = ".ctxcap"
_HEADER = b'{"ctxcap":'
_PASSING = frozenset({errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENFILE, getattr(errno, "EDQUOT", errno.ENOSPC)})
"""Trouble of the disk, not of the name: the server runs all the same."""


class NotPossibleError(Exception):
    """The capture cannot be what was asked for; a sentence."""


def claim_file(output: str, program: str, *, append: bool) -> tuple[str, bool]:
    """The file to write, made if need be and held by nobody else, and whether it was made here.

    Args:
        output: a file, or a folder in which each start makes a file of its own.
        program: names such a file.
        append: the file may hold a capture already.

    Raises:
        NotPossibleError: it holds something, or cannot be written.
    """
    path = os.path.abspath(os.path.expanduser(output))  # noqa: PTH100, PTH111 - pathlib costs a start 20 ms
    is_folder = output.endswith(("/", os.sep)) or os.path.isdir(path)  # noqa: PTH112
    folder = path if is_folder else os.path.dirname(path)  # noqa: PTH120
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        return _made_in(folder, program) if is_folder else _checked(path, append=append)
    except OSError as error:
        if error.errno in _PASSING and not is_folder:
            return path, False
        raise NotPossibleError(f"{path} cannot be written: {error.strerror or error}.") from error


def _made_in(folder: str, program: str) -> tuple[str, bool]:
    base = os.path.basename(program)  # noqa: PTH119
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in base)[:40] or "server"
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    for number in range(1, 1_000):
        path = os.path.join(folder, f"{name} {stamp}{f' ({number})' if number > 1 else ''}{SUFFIX}")  # noqa: PTH118
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        return path, True
    raise NotPossibleError(f"There is no free name for a capture in {folder}.")


def _checked(path: str, *, append: bool) -> tuple[str, bool]:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    else:
        return path, True
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        head, size = os.read(file, len(_HEADER)), os.fstat(file).st_size
    finally:
        os.close(file)
    if size and not append:
        raise NotPossibleError(
            f"{path} already holds {size:,} bytes. Go on in it with --append, choose another name, or name a folder, "
            "in which each start makes a file of its own."
        )
    if size and head != _HEADER:
        raise NotPossibleError(f"{path} is no capture, so nothing can be added to it. Choose another name.")
    return path, False
