"""Marks and comments on disk: `NAME.ctxmarks.json` beside the capture, or among the user's data where that cannot be.

A file of marks says which capture it is of, and each mark which message: marks of another file are never put on this
one, and what no longer fits stays in the file as it is. It is written whole or not at all. No Qt.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
import threading
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from inspector.analysis.context_tree import MAIN
from inspector.analysis.marks import ContextTarget, Note, Target
from inspector.capture.capture import Capture
from inspector.captures import MARKS_SUFFIX
from inspector.document import CaptureDocument
from inspector.paths import data_folder

VERSION = 1
HEAD_MESSAGES = 20
"""So many messages from the first on say which capture it is; a log that grows keeps them."""
_LINE_BYTES = 4096
"""So much of a message's line, and its length, tell it from others."""
_MOST_BYTES = 8 << 20
_FOLDER = "marks"
_OWN_PLACES = 4
_LONGEST_NAME = 120
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class _Capture(msgspec.Struct, forbid_unknown_fields=False):
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


class ContextEntry(msgspec.Struct, omit_defaults=True):
    """The note of a context; an empty path is the main context."""

    space: str = ""
    path: str = ""
    mark: bool = False
    comment: str = ""


class _Content(msgspec.Struct):
    ctxmarks: int
    of: _Capture
    messages: list[MessageEntry] = []
    contexts: list[ContextEntry] = []


Key = tuple[int, str] | tuple[str, str]
"""Number and digest of a message, or space and path of a context."""
Entries = dict[Key, MessageEntry | ContextEntry]


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


class MarksFile:
    """Keeps the marks of one document.

    Attributes:
        path: the file they are kept in; None while there is none.
        messages, contexts: entries of the file that are not on a message or context yet, messages by their number.
        lost: entries whose message is another one by now.
    """

    def __init__(self, document: CaptureDocument, home: Path | None) -> None:
        """Look for the marks of a document.

        Args:
            document: whose marks they are; it may still be reading.
            home: the capture's file; None where there is none that stays, as of standard input.
        """
        self._document = document
        self._home = home
        self._found: list[tuple[Path, _Content]] | None = None
        self._had: dict[Path, Entries] = {}  # what this session took in from a file, or wrote to it, last
        self._took: list[tuple[int, Path, Entries]] = []  # the same, not in the snapshots up to that number
        self._lock = threading.Lock()
        self._taken = self._written = 0
        self._trouble = ""
        self._digests: dict[int, str] = {}
        self._tree = (-1, -1)
        self.path: Path | None = None
        self.messages: list[MessageEntry] = []
        self.contexts: list[ContextEntry] = []
        self.lost: list[MessageEntry] = []

    # Restoring

    def restore(self, *, complete: bool, until: float | None = None) -> list[Target]:
        """Put the marks on what is there of the document by now; asked again as it grows.

        Args:
            complete: no more is to be read, for now.
            until: when to leave the rest for the next time, by `time.perf_counter`.

        Returns:
            What got a note.
        """
        self._take_in(complete=complete)
        placed: list[Target] = []
        marks, total = self._document.analysis.marks, len(self._document.analysis)
        done = 0
        for entry in self.messages:
            if entry.no > total or (until is not None and time.perf_counter() > until):
                break
            done += 1
            if not self._is_of(entry):
                self.lost.append(entry)
            elif marks.put(entry.no - 1, _joined(marks.note(entry.no - 1), entry)):
                placed.append(entry.no - 1)
        if done:
            self.messages = self.messages[done:]
        placed += self._restore_contexts(until)
        return placed

    @property
    def settled(self) -> bool:
        """Whether everything has found its place, so that there is no need to ask again."""
        return self._found == [] and not self.messages and not self.contexts

    @property
    def trouble(self) -> str:
        """What is wrong with a file that was found, a sentence for the user; "" when nothing is."""
        if self.path is None:
            return self._trouble
        lost = len(self.lost)
        what = "1 mark is" if lost == 1 else f"{lost:,} marks are"
        return f"{what} not shown: {self.path.name} was written for other messages." if lost else ""

    def _restore_contexts(self, until: float | None) -> list[Target]:
        placed: list[Target] = []
        waiting: list[ContextEntry] = []
        marks, contexts = self._document.analysis.marks, self._document.analysis.contexts
        version = (contexts.tree.version, len(contexts.spaces))
        if not self.contexts or version == self._tree:
            return placed
        for done, entry in enumerate(self.contexts):
            if until is not None and time.perf_counter() > until:
                self.contexts = self.contexts[done:] + waiting
                return placed
            target = self._context(entry)
            if target is None:
                waiting.append(entry)
            elif marks.put(target, _joined(marks.note(target), entry)):
                placed.append(target)
        self._tree = version
        self.contexts = waiting
        return placed

    def _context(self, entry: ContextEntry) -> ContextTarget | None:
        analysis = self._document.analysis
        space = self._document.capture.strings.find(entry.space) if entry.space else 0
        if space is None or space not in analysis.contexts.spaces:
            return None
        if not entry.path:
            return ContextTarget(space, MAIN)
        node = analysis.contexts.tree.find(space, entry.path)
        return None if node == MAIN else ContextTarget(space, node)

    def _is_of(self, entry: MessageEntry) -> bool:
        return entry.no > 0 and self._digest(entry.no - 1) == entry.digest

    def _digest(self, message: int) -> str:
        """What tells a message's line from another; read once, as lines never change."""
        found = self._digests.get(message)
        if found is None:
            found = self._digests[message] = _digest(self._document.capture, message)
        return found

    def _take_in(self, *, complete: bool) -> None:
        """Take the entries of every file that is of this capture; what cannot be told yet is asked again."""
        if self._found == [] or not len(self._document.capture):
            return
        if self._found is None:
            self._found = self._read_all()
        heads, undecided = self._heads(), list[tuple[Path, _Content]]()
        for file, content in self._found:
            if _fits(content, heads):
                self._take(file, content)
                continue
            if len(heads) < content.of.messages <= HEAD_MESSAGES:
                undecided.append((file, content))
                if not complete:
                    continue
            self._trouble = f"{file.name} holds the marks of another file; it was left as it is."
        self._found = undecided

    def _take(self, file: Path, content: _Content) -> None:
        with self._lock:
            self._took.append((self._taken, file, _entries(content)))
            self.path = self.path or file
        self.messages = sorted([*self.messages, *content.messages], key=lambda entry: entry.no)
        self.contexts = [*self.contexts, *content.contexts]
        self._tree = (-1, -1)

    def _read_all(self) -> list[tuple[Path, _Content]]:
        """The files of marks there are, the newest first."""
        found: list[tuple[float, Path, _Content]] = []
        for file in self._places(self._home):
            try:
                content = _read(file)
                if content is not None:
                    found.append((file.stat().st_mtime, file, content))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self._trouble = f"The marks in {file.name} cannot be read: {reason}. It was left as it is."
        return [(file, content) for _, file, content in sorted(found, key=lambda one: -one[0])]

    def _places(self, home: Path | None) -> list[Path]:
        """Where the marks may lie: beside the capture, else among the user's data.

        There are several of the latter, as one may hold what is of another capture.
        """
        beside = [beside_capture(home)] if home is not None else []
        told = os.fsencode(home.resolve()) if home is not None else b""
        name = os.fsdecode(os.fsencode(home.name)[:_LONGEST_NAME]) if home is not None else "input"
        head = _head_digest(self._document.capture, 1)
        key = blake2b(told + f"\n{head}".encode(), digest_size=6).hexdigest()
        turns = ["", *(f"-{turn}" for turn in range(2, _OWN_PLACES + 1))]
        return [*beside, *(data_folder() / _FOLDER / f"{name}-{key}{turn}{MARKS_SUFFIX}" for turn in turns)]

    def _heads(self) -> tuple[str, ...]:
        made, heads = blake2b(digest_size=16), list[str]()
        for message in range(min(HEAD_MESSAGES, len(self._document.capture))):
            made.update(self._digest(message).encode())
            heads.append(made.hexdigest())
        return tuple(heads)

    # Writing

    def snapshot(self) -> Snapshot:
        """The marks as they are now, to be written. Called on the loop's thread."""
        self._taken += 1
        return self._snapshot(self._home)

    def _snapshot(self, home: Path | None) -> Snapshot:
        name = home.name if home is not None else self._document.name
        told = name.encode(errors="backslashreplace").decode()
        return Snapshot(told, self._entries(), self._heads(), self._taken, tuple(self._places(home)))

    def _entries(self) -> Entries:
        capture, analysis = self._document.capture, self._document.analysis
        marks, tree = analysis.marks, analysis.contexts.tree
        entries: Entries = {}
        for row in marks.rows.tolist():
            note = marks.note(row)
            _add(entries, MessageEntry(row + 1, self._digest(row), note.marked, note.comment))
        for target, note in marks.contexts():
            path = "" if target.node == MAIN else tree.path(target.node)
            _add(entries, ContextEntry(capture.strings[target.space], path, note.marked, note.comment))
        for entry in (*self.messages, *self.lost, *self.contexts):
            _add(entries, entry)
        return entries

    def write(self, snapshot: Snapshot) -> None:
        """Replace the file as a whole, or delete it where there is nothing to keep; any thread may call it.

        What others wrote there meanwhile is kept, and a file that is not of this capture is left as it is.

        Raises:
            OSError: it could not be written anywhere; the old one is untouched.
        """
        with self._lock:
            if snapshot.number < self._written:
                return
            for number, file, entries in self._took:
                if number < snapshot.number:
                    self._had[file] = {**self._had.get(file, {}), **entries}
            self._took = [took for took in self._took if took[0] >= snapshot.number]
            place = self._write_first(snapshot) if snapshot.entries else None
            self._written = snapshot.number
            self.path = place
            for other in [other for other in self._had if other != place]:  # it would be the older of two
                try:
                    self._write_at(other, snapshot, {})
                    del self._had[other]
                except OSError:
                    if place is None:
                        raise

    def _write_first(self, snapshot: Snapshot) -> Path:
        """Write to the best place that can be written to; which it was."""
        trouble = OSError(errno.EEXIST, "what lies there is of other captures")
        for place in snapshot.places:
            try:
                self._write_at(place, snapshot, snapshot.entries)
            except OSError as error:
                trouble = error
            else:
                self._had[place] = snapshot.entries
                return place
        raise trouble

    def _write_at(self, place: Path, snapshot: Snapshot, entries: Entries) -> None:
        """Write entries together with what others wrote there.

        Raises:
            OSError: it could not be written, or there is what must not be replaced.
        """
        try:
            found = _read(place)
        except ValueError as error:
            raise OSError(errno.EEXIST, f"{place.name} cannot be read: {error}") from error
        if found is not None and not _fits(found, snapshot.heads):
            raise OSError(errno.EEXIST, f"{place.name} holds the marks of another file")
        there = _entries(found) if found is not None else {}
        merged = _merged(entries, self._had.get(place, {}), there)
        if merged:
            data = _encoded(snapshot, merged)
            if len(data) > _MOST_BYTES:
                raise OSError(errno.EFBIG, "there are too many")
            if merged != there:
                self._replace(place, data)
        elif found is not None:
            place.unlink(missing_ok=True)

    @staticmethod
    def _replace(place: Path, data: bytes) -> None:
        if place.parent == data_folder() / _FOLDER:
            place.parent.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".context-inspector-", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def move_to(self, home: Path) -> None:
        """The capture is another file from now on: its marks are written beside that, and no more where they were."""
        self._home = home

    def write_copy(self, home: Path) -> None:
        """Write the marks beside a copy of the capture too.

        Raises:
            OSError: they could not be written.
        """
        snapshot = self._snapshot(home)
        if snapshot.entries:
            with self._lock:
                kept = dict(self._had)
                try:
                    self._write_first(snapshot)
                finally:
                    self._had = kept  # the copy has its own marks from now on


def beside_capture(capture: Path) -> Path:
    """Where the marks of a capture's file lie."""
    return capture.with_name(capture.name + MARKS_SUFFIX)


def restore_marks(document: CaptureDocument, home: Path | None) -> str:
    """Put the marks kept for a document on it, once it was read.

    Returns:
        What is wrong with a file of marks that was found, a sentence; "" when nothing is.
    """
    file = MarksFile(document, home)
    file.restore(complete=True)
    return file.trouble


def _digest(capture: Capture, message: int) -> str:
    """What tells a message's line from another: of its first bytes and its length."""
    made = blake2b(capture.line_part(message, 0, _LINE_BYTES), digest_size=8)
    made.update(str(int(capture.columns["length"][message])).encode())
    return made.hexdigest()


def _head_digest(capture: Capture, messages: int) -> str:
    """What tells a capture from another: of its first messages."""
    if messages > min(HEAD_MESSAGES, len(capture)):
        return ""
    made = blake2b(digest_size=16)
    for message in range(messages):
        made.update(_digest(capture, message).encode())
    return made.hexdigest()


def _read(file: Path) -> _Content | None:
    """What a file of marks holds; None where there is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no file of marks that this version knows.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise ValueError("it is not a file")
        with os.fdopen(os.open(file, _READ), "rb") as stream:  # should it become a pipe meanwhile, this does not wait
            data = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > _MOST_BYTES:
        raise ValueError("it is too large")
    try:
        try:
            content = msgspec.json.decode(data, type=_Content)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # it refuses half characters, which the wire may hold
            content = msgspec.convert(json.loads(data), _Content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if content.ctxmarks != VERSION or content.of.messages < 1:
        raise ValueError("a newer version of this program wrote it")
    return content


def _encoded(snapshot: Snapshot, entries: Entries) -> bytes:
    messages = [entry for entry in entries.values() if isinstance(entry, MessageEntry)]
    contexts = [entry for entry in entries.values() if isinstance(entry, ContextEntry)]
    messages.sort(key=lambda entry: entry.no)
    of = _Capture(snapshot.name, len(snapshot.heads), snapshot.heads[-1] if snapshot.heads else "")
    content = _Content(VERSION, of, messages, contexts)
    try:
        return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    except UnicodeEncodeError:  # half a character
        return json.dumps(msgspec.to_builtins(content), indent=1, ensure_ascii=True).encode() + b"\n"


def _fits(content: _Content, heads: tuple[str, ...]) -> bool:
    """Whether marks are of the capture whose first messages are known by `heads`."""
    count, digest = content.of.messages, content.of.digest
    return bool(digest) and 1 <= count <= len(heads) and heads[count - 1] == digest


def _entries(content: _Content) -> Entries:
    entries: Entries = {}
    for entry in (*content.messages, *content.contexts):
        _add(entries, entry)
    return entries


def _add(entries: Entries, entry: MessageEntry | ContextEntry) -> None:
    """Add an entry; two of the same become one that says both."""
    key = (entry.no, entry.digest) if isinstance(entry, MessageEntry) else (entry.space, entry.path)
    if key in entries:
        entry = _both(entries[key], entry)
    entries[key] = entry


def _both(one: MessageEntry | ContextEntry, other: MessageEntry | ContextEntry) -> MessageEntry | ContextEntry:
    note = _joined(Note(one.mark, one.comment), other)
    return msgspec.structs.replace(one, mark=note.marked, comment=note.comment)


def _joined(note: Note, entry: MessageEntry | ContextEntry) -> Note:
    """A note that says what an entry says too."""
    comment = note.comment
    if entry.comment not in comment:
        comment = entry.comment if comment in entry.comment else f"{comment}\n{entry.comment}"
    return Note(note.marked or entry.mark, comment)


def _merged(ours: Entries, had: Entries, there: Entries) -> Entries:
    """What to write: our own entries, and of those in the file what we do not know or others changed since.

    Args:
        ours: as they are now.
        had: as they were when they were taken in or written last.
        there: what the file holds now.
    """
    merged: Entries = {}
    for key, entry in ours.items():
        theirs = there.get(key, entry)
        if key not in had:
            merged[key] = _both(entry, theirs)
        else:
            merged[key] = theirs if entry == had[key] else entry
    for key, entry in there.items():
        if key not in ours and had.get(key) != entry:
            merged[key] = entry
    return merged
