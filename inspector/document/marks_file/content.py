"""Content of a marks file: entries for messages and contexts; validates, encodes and merges them."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from inspector.analysis.passes.user_marks import MAX_COMMENT_LENGTH, Note

VERSION = 1
MOST_BYTES = 8 << 20
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Identity(msgspec.Struct, forbid_unknown_fields=False):
    """Identity of the capture."""

    name: str
    messages: int
    """Number of first messages in `digest`."""
    digest: str


class MessageEntry(msgspec.Struct, omit_defaults=True):
    """Note of a message."""

    no: int
    digest: str
    """Digest of its line; a different line at that number is a different message."""
    mark: bool = False
    comment: str = ""
    over: list[str] = []
    """Signatures (`sign`) of notes in unwritable files that this one replaces."""


class ContextEntry(msgspec.Struct, omit_defaults=True):
    """Note of a context; an empty path is the main context."""

    space: str = ""
    path: str = ""
    mark: bool = False
    comment: str = ""
    over: list[str] = []
    """As for a message."""


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
    """Data for a writer, independent of the document."""

    name: str
    entries: Entries
    """All notes, and entries that have no match yet."""
    heads: tuple[str, ...]
    """Digests of the first message, the first two, and so on."""
    number: int
    """Sequence number: an older snapshot never overwrites a newer one."""
    places: tuple[Path, ...]
    """Possible places, best first."""
    home: Path | None = None
    """The capture's file."""


def read_marks(file: Path) -> Content | None:
    """Reads a marks file, if it exists.

    Raises:
        OSError: it cannot be read.
        ValueError: it is invalid, or of a newer version.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise ValueError("it is not a file")
        with os.fdopen(os.open(file, _READ), "rb") as stream:  # non-blocking, in case it has become a pipe meanwhile
            data = stream.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):  # a run in a file has a path below it
        return None
    if len(data) > MOST_BYTES:
        raise ValueError("it is too large")
    try:
        try:
            content = msgspec.json.decode(data, type=Content)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # msgspec refuses lone surrogates, which the wire may contain
            content = msgspec.convert(json.loads(data), Content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if content.ctxmarks != VERSION or content.of.messages < 1:
        raise ValueError("a newer version of this program wrote it")
    return content


def encode_marks(snapshot: Snapshot, entries: Entries) -> bytes:
    """Encodes a file."""
    messages = [entry for entry in entries.values() if isinstance(entry, MessageEntry)]
    contexts = [entry for entry in entries.values() if isinstance(entry, ContextEntry)]
    messages.sort(key=lambda entry: entry.no)
    of = Identity(snapshot.name, len(snapshot.heads), snapshot.heads[-1] if snapshot.heads else "")
    content = Content(VERSION, of, messages, contexts)
    try:
        return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    except UnicodeEncodeError:  # lone surrogate
        return json.dumps(msgspec.to_builtins(content), indent=1, ensure_ascii=True).encode() + b"\n"


def entries_of(content: Content | None) -> Entries:
    """Returns the entries by target."""
    entries: Entries = {}
    for entry in (*content.messages, *content.contexts) if content is not None else ():
        add_entry(entries, entry)
    return entries


def key_of(entry: Entry) -> Key:
    """Returns the target of an entry."""
    return (entry.no, entry.digest) if isinstance(entry, MessageEntry) else (entry.space, entry.path)


def add_entry(entries: Entries, entry: Entry) -> None:
    """Adds an entry; merges two for the same target."""
    key = key_of(entry)
    entries[key] = _merge_two(entries[key], entry) if key in entries else entry


def _merge_two(one: Entry, other: Entry) -> Entry:
    note = join_note(Note(one.mark, one.comment), other)
    over = [*one.over, *(sign for sign in other.over if sign not in one.over)]
    return msgspec.structs.replace(one, mark=note.marked, comment=note.comment, over=over)


def join_note(note: Note, entry: Entry) -> Note:
    """Merges an entry into a note."""
    comment, theirs = note.comment, entry.comment[:MAX_COMMENT_LENGTH]
    # Two windows may have written the same comment, or one a longer version.
    if theirs not in comment:
        comment = theirs if comment in theirs else f"{comment}\n{theirs}"
    return Note(note.marked or entry.mark, comment)


def merge_entries(ours: Entries, had: Entries, there: Entries) -> Entries:
    """Merges our entries with entries of the file that are unknown to us, or changed by others.

    Args:
        ours: present entries.
        had: our entries when last read or written.
        there: present content of the file.
    """
    result: Entries = {}
    for key, entry in ours.items():
        theirs = there.get(key, entry)
        if key not in had:
            result[key] = _merge_two(entry, theirs)
        else:
            # Our own change outranks a change of the same note by others.
            result[key] = theirs if entry == had[key] else entry
    for key, entry in there.items():
        # An entry that we had unchanged was removed here; any other is news from elsewhere.
        if key not in ours and had.get(key) != entry:
            result[key] = entry
    return result


# Unwritable files


def note_signature(entry: Entry) -> str:
    """Returns the signature of a note that another one replaces."""
    noted = f"{int(entry.mark)}{entry.comment}".encode("utf-8", "surrogatepass")
    return blake2b(noted, digest_size=6).hexdigest()


def with_signatures(ours: Entries, stuck: Entries) -> Entries:
    """Adds to our entries the signatures of notes in an unwritable file that they replace.

    A removed note becomes an entry without mark or comment.

    Args:
        ours: our entries.
        stuck: known content of that file.
    """
    result = dict(ours)
    for key, theirs in stuck.items():
        empty = msgspec.structs.replace(theirs, mark=False, comment="", over=[])
        entry = result.get(key, empty)
        differs = bool(theirs.mark or theirs.comment) and (entry.mark, entry.comment) != (theirs.mark, theirs.comment)
        if differs and note_signature(theirs) not in entry.over:
            result[key] = msgspec.structs.replace(entry, over=[*entry.over, note_signature(theirs)])
    return result


def replaced_notes(contents: list[Content]) -> set[tuple[Key, str]]:
    """Returns target and signature of all notes that these files replace."""
    return {
        (key_of(entry), over)
        for content in contents
        for entry in (*content.messages, *content.contexts)
        for over in entry.over
    }
