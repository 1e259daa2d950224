"""Lists of sources: small files that name what is opened together, and open like a log (docs/several-sources.md).

`{"ctxsources":1,"sources":[{"path":"logs/gateway.jsonl"},{"path":"tap.jsonl","clock_offset_ns":1200000}]}`; a path is
relative to the list's folder. What is opened together and was not saved so has a list among the program's own data, so
that it opens again: at the next start, from the recent files, with its marks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from inspector.base.paths import data_folder
from inspector.base.whole_file import in_place_of
from inspector.capture.reading import UnknownFormatError
from inspector.document.source_set import MOST_FILES, SourceChoice, in_order
from inspector.protocol.formats import READINGS

SUFFIX = ".ctxsources"
VERSION = 1
_HEAD = b'"ctxsources"'
_HEAD_BYTES = 256
_MOST_BYTES = 1 << 20
_FOLDER = "sources"
_MOST_OWN = 100
"""Lists of the program's own that are kept; what was opened longest ago goes first."""


class _Source(msgspec.Struct, omit_defaults=True):
    path: str
    parts: list[str] = []
    session: bool = False
    clock_offset_ns: int | None = None
    read_as: str | None = None


class _List(msgspec.Struct):
    ctxsources: int
    sources: Annotated[list[_Source], msgspec.Meta(min_length=1, max_length=MOST_FILES)]


def is_source_list(path: Path) -> bool:
    """Whether a file is a list of sources, told by how it begins."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
            return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _HEAD in head
    return False


def read_source_list(path: Path) -> list[SourceChoice]:
    """What a list names.

    Raises:
        OSError: it cannot be read.
        UnknownFormatError: it is not written as lists are, or names another list.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise UnknownFormatError(f"{path.name} is too long for a list of sources.")
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_List)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnknownFormatError(f"{path.name} is no list of sources that can be read: {error}.") from None
    if found.ctxsources > VERSION:
        raise UnknownFormatError(f"{path.name} is a list of sources of a newer version of this program.")
    choices = [_choice(path.parent, source) for source in found.sources]
    nested = next((choice for choice in choices if is_source_list(choice.path)), None)
    if nested is not None:
        raise UnknownFormatError(f"{path.name} names {nested.path.name}, which is a list itself. Name its sources.")
    return choices


def _choice(folder: Path, source: _Source) -> SourceChoice:
    parts = tuple(_path(folder, part) for part in source.parts)
    reading = source.read_as if source.read_as in READINGS else None
    return SourceChoice(
        _path(folder, source.path), parts=parts, is_session=source.session, clock_offset_ns=source.clock_offset_ns,
        reading=reading,
    )  # fmt: skip


def _path(folder: Path, written: str) -> Path:
    return Path(os.path.normpath(folder.absolute() / written.replace("\0", "")))


def write_source_list(path: Path, choices: Sequence[SourceChoice]) -> None:
    """Write a list; sources are named relative to its folder where that can be. Raises OSError."""
    folder = path.absolute().parent
    sources = [
        _Source(
            _written(folder, one.path), [_written(folder, part) for part in one.parts], one.is_session,
            one.clock_offset_ns, one.reading,
        )
        for one in choices
    ]  # fmt: skip
    data = msgspec.json.format(msgspec.json.encode(_List(VERSION, sources)), indent=2)
    with in_place_of(path) as file:
        file.write(data + b"\n")


def _written(folder: Path, path: Path) -> str:
    try:
        return Path(os.path.relpath(path.absolute(), folder)).as_posix()
    except ValueError:  # on another drive
        return path.absolute().as_posix()


def own_source_list(choices: Sequence[SourceChoice]) -> Path:
    """A list of the program's own for what is opened together, the same for the same files. Raises OSError."""
    ordered = in_order(choices)
    digest = hashlib.blake2b(digest_size=8)
    for one in ordered:
        digest.update(f"{one.key}\0{one.is_session}\n".encode("utf-8", "surrogateescape"))
    folder = data_folder() / _FOLDER / digest.hexdigest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    more = f" and {len(ordered) - 1} more" if len(ordered) > 1 else ""
    path = folder / f"{ordered[0].path.name[:100]}{more}{SUFFIX}"
    write_source_list(path, ordered)
    _tidy(folder.parent)
    return path


def is_own_source_list(path: Path) -> bool:
    """Whether a list lies among the program's own data: nobody has saved it."""
    return path.parent.parent == data_folder() / _FOLDER


def _tidy(folder: Path) -> None:
    """Remove the lists that were opened longest ago, where there are too many."""
    with contextlib.suppress(OSError):
        lists = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        for old in lists[:-_MOST_OWN]:
            shutil.rmtree(old, ignore_errors=True)
