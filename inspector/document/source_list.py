"""Source lists: small files that name sources to open together (docs/several-sources.md).

`{"ctxsources":1,"sources":[{"path":"logs/gateway.jsonl"},{"path":"tap.jsonl","clock_offset_ns":1200000}]}`; a path is
relative to the list's folder. Sources opened together without such a file get a list in the program's own data. So they
open again at the next start and from the recent files, with their marks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec

from inspector.base.atomic_files import open_replacement
from inspector.base.network_shares import share_of
from inspector.base.paths import data_folder
from inspector.base.targets import SOURCES_SUFFIX
from inspector.document.source_set import MOST_FILES, SourceChoice, logs_in
from inspector.formats import registry
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.bundle import LONGEST_LIST, is_bundle, read_list
from inspector.sources.inputs import is_stream
from inspector.sources.rotation import rotated_together
from inspector.sources.transcript_files import AgentFacts, Member, members_of

SUFFIX = SOURCES_SUFFIX
VERSION = 1
_HEAD = b'"ctxsources"'
_HEAD_BYTES = 256
_FOLDER = "sources"
_MOST_CLOCK_NS = 1 << 62
"""Limit of a clock correction, so that it can be added to any time."""
_MOST_OWN = 100
"""Limit of own lists kept; the least recently opened go first."""


class _Source(msgspec.Struct, omit_defaults=True):
    path: str
    parts: list[str] = []
    session: bool = False
    clock_offset_ns: Annotated[int, msgspec.Meta(ge=-_MOST_CLOCK_NS, le=_MOST_CLOCK_NS)] | None = None
    read_as: str | None = None
    name: str | None = None
    member_of: str | None = None
    agent: str | None = None
    facts: AgentFacts | None = None


class _List(msgspec.Struct):
    ctxsources: int
    sources: Annotated[list[_Source], msgspec.Meta(min_length=1, max_length=MOST_FILES)]


def is_source_list(path: Path) -> bool:
    """Returns True if a file begins like a source list, or like a bundle."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
            return is_bundle(path) or (head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _HEAD in head)
    return False


def read_source_list(path: Path) -> list[SourceChoice]:
    """Reads a source list.

    Raises:
        OSError: it cannot be read.
        UnknownFormatError: it is malformed, or names another list.
    """
    holds = is_bundle(path)
    # Before decoding: a log may begin like a list.
    if not holds and path.stat().st_size > LONGEST_LIST:
        raise UnknownFormatError(f"{path.name} is too long for a list of sources.")
    try:
        found = msgspec.json.decode(read_list(path) if holds else path.read_bytes(), type=_List)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnknownFormatError(f"{path.name} is no list of sources that can be read: {error}.") from None
    if found.ctxsources > VERSION:
        raise UnknownFormatError(f"{path.name} is a list of sources of a newer version of this program.")
    if not is_own_source_list(path):
        _refuse_shares(path, (named for one in found.sources for named in (one.path, *one.parts)))
    choices = [_choice(path if holds else path.parent, source) for source in found.sources]
    # A bundle from elsewhere must not open other files of this computer.
    if holds and not all(choice.path.is_relative_to(path.absolute()) for choice in choices):
        raise UnknownFormatError(f"{path.name} names files outside of it, which a capture of several sources may not.")
    named = (one for choice in choices for one in (choice.path, *choice.parts))
    # A pipe named by a strange list could block for ever.
    piped = None if is_own_source_list(path) else next(filter(is_stream, named), None)
    if piped is not None:
        raise UnknownFormatError(f"{path.name} names {piped}, which is a pipe or a device. Open it alone.")
    # Nested lists could name each other in a circle.
    nested = next((choice for choice in choices if is_source_list(choice.path)), None)
    if nested is not None:
        raise UnknownFormatError(f"{path.name} names {nested.path.name}, which is a list itself. Name its sources.")
    return choices


def _refuse_shares(path: Path, named: Iterable[str]) -> None:
    """Refuses sources on other computers, except the list's own."""
    own = share_of(str(path.absolute()))
    # On Windows, opening a share sends the user's credentials to its computer.
    other = next((one for one in map(_without_zeros, named) if share_of(one) not in ("", own)), None)
    if other is not None:
        raise UnknownFormatError(f"{path.name} names {other[:200]}, which is on another computer. Open it alone.")


def _choice(folder: Path, source: _Source) -> SourceChoice:
    path, parts = _absolute_path(folder, source.path), tuple(_absolute_path(folder, part) for part in source.parts)
    reading = source.read_as if source.read_as in registry.selectable_formats() else None
    is_member = source.member_of is not None or source.agent is not None
    member = Member(path, source.member_of, source.agent, source.facts) if is_member else None
    return SourceChoice(
        path, parts=parts, is_session=source.session, clock_offset_ns=source.clock_offset_ns, reading=reading,
        name=source.name, member=member,
    )  # fmt: skip


def _absolute_path(folder: Path, written: str) -> Path:
    return Path(os.path.normpath(folder.absolute() / _without_zeros(written)))


def _without_zeros(written: str) -> str:
    return written.replace("\0", "")


def resolve_choices(choices: Iterable[SourceChoice]) -> list[SourceChoice]:
    """Resolves choices: folders become sessions or logs, lists their sources, rotated logs one source.

    Without duplicates, sorted by name. An unreadable list stays, and is left out later like an unknown log.
    """
    chosen: dict[Path, SourceChoice] = {}
    for choice in (named for one in choices for named in _named_by(one)):
        logs = logs_in(choice.path) if choice.path.is_dir() and not choice.is_session else []
        # No agent rotates its sessions, so such a folder has logs.
        rotated = any(len(paths) > 1 for paths in rotated_together(logs))
        if choice.path.is_dir() and not choice.is_session and not rotated and members_of(choice.path)[0]:
            chosen[choice.path.absolute()] = replace(choice, is_session=True)  # as when opened alone
        elif logs:
            for path in logs:
                chosen.setdefault(path.absolute(), SourceChoice(path))
        else:
            for part in choice.parts:
                chosen.setdefault(part.absolute(), SourceChoice(part))
            chosen[choice.path.absolute()] = choice
    found: list[SourceChoice] = []
    for paths in rotated_together(one.path for one in chosen.values()):
        *parts, newest = paths
        found.append(replace(chosen[newest.absolute()], parts=tuple(parts)))
    return sorted(found, key=lambda one: (one.path.name, str(one.path.absolute())))


def _named_by(choice: SourceChoice) -> Sequence[SourceChoice]:
    if not is_stream(choice.path) and is_source_list(choice.path):
        with contextlib.suppress(OSError, UnknownFormatError):
            return read_source_list(choice.path)
    return (choice,)


def write_source_list(path: Path, choices: Sequence[SourceChoice]) -> None:
    """Writes a source list, with relative paths if possible. Raises OSError."""
    with open_replacement(path) as file:
        file.write(source_list(path.absolute().parent, [replace(one, name=None) for one in choices]))


def source_list(folder: Path, choices: Sequence[SourceChoice]) -> bytes:
    """Encodes a source list, with paths relative to a folder if possible."""
    sources: list[_Source] = []
    for one in choices:
        parts = [_relative_path(folder, part) for part in one.parts]
        member = one.member or Member(one.path)
        sources.append(
            _Source(
                _relative_path(folder, one.path), parts, one.is_session, one.clock_offset_ns, one.reading,
                one.name, member.session, member.agent, member.facts,
            )
        )  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(_List(VERSION, sources)), indent=2) + b"\n"


def _relative_path(folder: Path, path: Path) -> str:
    try:
        return Path(os.path.relpath(path.absolute(), folder)).as_posix()
    except ValueError:  # on another drive
        return path.absolute().as_posix()


def own_source_list(choices: Sequence[SourceChoice]) -> Path:
    """Writes a list to the program's own data, the same for the same files. Raises OSError."""
    ordered = resolve_choices(choices)
    digest = hashlib.blake2b(digest_size=8)
    for one in ordered:
        # Options are left out: the same files with another correction are one list.
        digest.update(f"{one.key}\0{one.is_session}\n".encode("utf-8", "surrogateescape"))
    folder = data_folder() / _FOLDER / digest.hexdigest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    more = f" and {len(ordered) - 1} more" if len(ordered) > 1 else ""
    path = folder / f"{ordered[0].path.name[:100]}{more}{SUFFIX}"
    write_source_list(path, ordered)
    _remove_old_lists(folder.parent)
    return path


def is_own_source_list(path: Path) -> bool:
    """Returns True if a list is in the program's own data, so not saved by the user."""
    return path.parent.parent == data_folder() / _FOLDER


def _remove_old_lists(folder: Path) -> None:
    """Removes the least recently opened lists above the limit."""
    with contextlib.suppress(OSError):
        lists = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        for old in lists[:-_MOST_OWN]:
            shutil.rmtree(old, ignore_errors=True)
