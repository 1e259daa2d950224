"""What a file of marks holds: reading it with suspicion, writing it, and putting together what two of them say."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from inspector.analysis.passes.marks import LONGEST_COMMENT, Note

VERSION = 1
MOST_BYTES = 8 << 20
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Identity(msgspec.Struct, forbid_unknown_fields=False):
    """Which capture the marks are of."""

    name: str
    messages: int
    """How many of its first ones `digest` is made from."""
    digest: str


class MessageEntry(msgspec.Struct, omit_defaults=True):
    """The note of a message."""

    no: int
    digest: str
    """Of its line; another line at that number is another message."""
    mark: bool = False
    comment: str = ""
    over: list[str] = []
    """Notes of this message in another file that could not be changed: this one stands in their place (`sign`)."""


class ContextEntry(msgspec.Struct, omit_defaults=True):
    """The note of a context; an empty path is the main context."""

    space: str = ""
    path: str = ""
    mark: bool = False
    comment: str = ""
    over: list[str] = []
    """As of a message."""


class Content(msgspec.Struct):
    """The whole file."""

    ctxmarks: int
    of: Identity
    messages: list[MessageEntry] = []
    contexts: list[ContextEntry] = []


Entry = MessageEntry | ContextEntry
Key = tuple[int, str] | tuple[str, str]
"""Number and digest of a message, or space and path of a context."""
Entries = dict[Key, Entry]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is to be written, so that whoever writes it need not look at the document."""

    name: str
    entries: Entries
    """Of everything with a note, and of what has found no place yet."""
    heads: tuple[str, ...]
    """What the first message, the first two and so on are known by."""
    number: int
    """One that was taken later is not undone by an earlier one that takes longer."""
    places: tuple[Path, ...]
    """Where it may be written, the best place first."""
    home: Path | None = None
    """The capture's file."""


def read(file: Path) -> Content | None:
    """What a file of marks holds; None where there is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no file of marks that this version knows.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise ValueError("it is not a file")
        with os.fdopen(os.open(file, _READ), "rb") as stream:  # should it become a pipe meanwhile, this does not wait
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MOST_BYTES:
        raise ValueError("it is too large")
    try:
        try:
            content = msgspec.json.decode(data, type=Content)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # it refuses half characters, which the wire may hold
            content = msgspec.convert(json.loads(data), Content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if content.ctxmarks != VERSION or content.of.messages < 1:
        raise ValueError("a newer version of this program wrote it")
    return content


def encoded(snapshot: Snapshot, entries: Entries) -> bytes:
    """The bytes of a file."""
    messages = [entry for entry in entries.values() if isinstance(entry, MessageEntry)]
    contexts = [entry for entry in entries.values() if isinstance(entry, ContextEntry)]
    messages.sort(key=lambda entry: entry.no)
    of = Identity(snapshot.name, len(snapshot.heads), snapshot.heads[-1] if snapshot.heads else "")
    content = Content(VERSION, of, messages, contexts)
    try:
        return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    except UnicodeEncodeError:  # half a character
        return json.dumps(msgspec.to_builtins(content), indent=1, ensure_ascii=True).encode() + b"\n"


def entries_of(content: Content | None) -> Entries:
    """The entries by what they are on."""
    entries: Entries = {}
    for entry in (*content.messages, *content.contexts) if content is not None else ():
        add(entries, entry)
    return entries


def key_of(entry: Entry) -> Key:
    """What an entry is on."""
    return (entry.no, entry.digest) if isinstance(entry, MessageEntry) else (entry.space, entry.path)


def add(entries: Entries, entry: Entry) -> None:
    """Add an entry; two of the same become one that says both."""
    key = key_of(entry)
    entries[key] = _both(entries[key], entry) if key in entries else entry


def _both(one: Entry, other: Entry) -> Entry:
    note = joined(Note(one.mark, one.comment), other)
    over = [*one.over, *(sign for sign in other.over if sign not in one.over)]
    return msgspec.structs.replace(one, mark=note.marked, comment=note.comment, over=over)


def joined(note: Note, entry: Entry) -> Note:
    """A note that says what an entry says too."""
    comment, theirs = note.comment, entry.comment[:LONGEST_COMMENT]
    if theirs not in comment:
        comment = theirs if comment in theirs else f"{comment}\n{theirs}"
    return Note(note.marked or entry.mark, comment)


def merged(ours: Entries, had: Entries, there: Entries) -> Entries:
    """What to write: our own entries, and of those in the file what we do not know or others changed since.

    Args:
        ours: as they are now.
        had: as they were when they were taken in or written last.
        there: what the file holds now.
    """
    result: Entries = {}
    for key, entry in ours.items():
        theirs = there.get(key, entry)
        if key not in had:
            result[key] = _both(entry, theirs)
        else:
            result[key] = theirs if entry == had[key] else entry
    for key, entry in there.items():
        if key not in ours and had.get(key) != entry:
            result[key] = entry
    return result


# What stands in a file that cannot be changed


def sign(entry: Entry) -> str:
    """What a note is known by where another one stands in its place."""
    noted = f"{int(entry.mark)}{entry.comment}".encode("utf-8", "surrogatepass")
    return blake2b(noted, digest_size=6).hexdigest()


def with_over(ours: Entries, stuck: Entries) -> Entries:
    """Our entries, each saying which notes of a file that cannot be changed it stands in place of.

    What is no longer among ours gets an entry without mark or comment.

    Args:
        ours: what is to be kept.
        stuck: what that file was seen to hold.
    """
    result = dict(ours)
    for key, theirs in stuck.items():
        empty = msgspec.structs.replace(theirs, mark=False, comment="", over=[])
        entry = result.get(key, empty)
        differs = bool(theirs.mark or theirs.comment) and (entry.mark, entry.comment) != (theirs.mark, theirs.comment)
        if differs and sign(theirs) not in entry.over:
            result[key] = msgspec.structs.replace(entry, over=[*entry.over, sign(theirs)])
    return result


def replaced(contents: list[Content]) -> set[tuple[Key, str]]:
    """The notes that entries of these files stand in place of: what each is on, and its sign."""
    return {
        (key_of(entry), over)
        for content in contents
        for entry in (*content.messages, *content.contexts)
        for over in entry.over
    }
