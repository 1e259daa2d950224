"""Restores marks of a document while it is read, looks for moved files, and writes changes."""

from __future__ import annotations

import time
from pathlib import Path

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget, Target
from inspector.document.document import CaptureDocument
from inspector.document.marks_file.content import (
    ContextEntry,
    Entries,
    Entry,
    MessageEntry,
    Snapshot,
    add_entry,
    entries_of,
    join_note,
    key_of,
    note_signature,
    replaced_notes,
)
from inspector.document.marks_file.finding import FoundMarks, MarksSearch, find_moved_marks
from inspector.document.marks_file.identity import Digests
from inspector.document.marks_file.places import places_of, read_places_of
from inspector.document.marks_file.writing import MarksWriter


class MarksFile:
    """Keeps the marks of one document.

    Attributes:
        messages, contexts: entries without a match yet; messages in order of number.
        lost: entries whose message is a different one now.
        offered: marks of another existing capture with the same beginning, if any.
        notice: sentence about the place of restored marks; "".
    """

    def __init__(self, document: CaptureDocument, home: Path | None) -> None:
        """Searches the marks of a document.

        Args:
            document: the document, possibly still being read.
            home: the capture's file, if permanent; standard input has no file.
        """
        self._document = document
        self._home = home
        self._search = MarksSearch()
        self._writer = MarksWriter()
        self._digests = Digests(document.capture)
        self._tree = (-1, -1)
        self._taken_any = self._searched_elsewhere = False
        self.messages: list[MessageEntry] = []
        self.contexts: list[ContextEntry] = []
        self.lost: list[MessageEntry] = []
        self.offered: FoundMarks | None = None
        self.notice = ""

    @property
    def path(self) -> Path | None:
        """The marks file, if any."""
        return self._writer.path

    # Restoring

    def restore(self, *, complete: bool, until: float | None = None) -> list[Target]:
        """Applies marks to the messages read so far; call it again as the document grows.

        Args:
            complete: no more messages are expected for now.
            until: deadline by `time.perf_counter`; the rest waits for the next call.

        Returns:
            Messages and contexts with a new note.
        """
        self._take_in(complete=complete)
        placed: list[Target] = []
        marks, total = self._document.analysis.marks, len(self._document.analysis)
        done = 0
        for entry in self.messages:
            # Entries are sorted by number, so all later ones wait too.
            if entry.no > total or (until is not None and time.perf_counter() > until):
                break
            done += 1
            if not self._is_of(entry):
                self.lost.append(entry)
            elif marks.set_note(entry.no - 1, join_note(marks.note(entry.no - 1), entry)):
                placed.append(entry.no - 1)
        if done:
            self.messages = self.messages[done:]
        placed += self._restore_contexts(until)
        return placed

    @property
    def is_settled(self) -> bool:
        """Returns True if all entries are applied, so no further call is needed."""
        return self._search.is_done and not self.messages and not self.contexts

    @property
    def problem(self) -> str:
        """Problem with a marks file, as a sentence for the user; ""."""
        if self.path is None:
            return self._search.trouble
        lost = len(self.lost)
        what = "1 mark is" if lost == 1 else f"{lost:,} marks are"
        return f"{what} not shown: {self.path.name} was written for other messages." if lost else ""

    def _restore_contexts(self, until: float | None) -> list[Target]:
        placed: list[Target] = []
        waiting: list[ContextEntry] = []
        marks, contexts = self._document.analysis.marks, self._document.analysis.contexts
        version = (contexts.tree.version, len(contexts.spaces))
        # Without new nodes, the same searches would fail again.
        if not self.contexts or version == self._tree:
            return placed
        for done, entry in enumerate(self.contexts):
            if until is not None and time.perf_counter() > until:
                self.contexts = self.contexts[done:] + waiting
                return placed
            target = self._context(entry)
            if target is None:
                waiting.append(entry)
            elif marks.set_note(target, join_note(marks.note(target), entry)):
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
        node = analysis.contexts.tree.find_displayed(space, entry.path)
        return None if node == MAIN else ContextTarget(space, node)

    def _is_of(self, entry: MessageEntry) -> bool:
        return entry.no > 0 and self._digests.message_digest(entry.no - 1) == entry.digest

    def _take_in(self, *, complete: bool) -> None:
        """Collects the entries of all files of this capture; undecided files are checked again later."""
        if not len(self._document.capture):
            return
        if not self._search.is_done:
            heads = self._digests.head_digests()
            self._take_entries(self._search.decide_files(self._read_places(), heads, complete=complete))
        if complete and not self._taken_any and not self._searched_elsewhere:
            self._searched_elsewhere = True
            self._look_elsewhere()

    def _take_entries(self, found: list[FoundMarks]) -> None:
        gone = replaced_notes([one.content for one in found])
        for one in found:
            self._taken_any = True
            entries = entries_of(one.content)
            self._writer.note_read(one.file, entries)
            for entry in entries.values():
                if (entry.mark or entry.comment) and (key_of(entry), note_signature(entry)) not in gone:
                    self._wait_for_place(entry)
        self.messages.sort(key=lambda entry: entry.no)
        self._tree = (-1, -1)

    def _wait_for_place(self, entry: Entry) -> None:
        if isinstance(entry, MessageEntry):
            self.messages.append(entry)
        else:
            self.contexts.append(entry)

    def _look_elsewhere(self) -> None:
        """Without marks here, takes over marks from an earlier place of the capture."""
        found = find_moved_marks(self._digests.head_digests(), self._home, self._read_places())
        if not found or self._home is None:
            return
        # The other capture may still exist, so the user decides.
        if not found[0].moved or not self._are_all_of(found[0]):
            self.offered = found[0]
            return
        self._take_entries(found[:1])
        self.notice = f"The marks were found in {found[0].file}: {self._home.name} was renamed or moved since."

    def _are_all_of(self, found: FoundMarks) -> bool:
        """Returns True if all messages with a note are in this document."""
        total = len(self._document.analysis)
        return all(entry.no <= total and self._is_of(entry) for entry in found.content.messages)

    def accept_offered(self) -> None:
        """Accepts the offered marks and keeps their file unchanged. `restore` applies them."""
        if self.offered is not None:
            for entry in entries_of(self.offered.content).values():
                self._wait_for_place(entry)
            self.messages.sort(key=lambda entry: entry.no)
            self._tree = (-1, -1)
            self.offered = None

    def _places(self, home: Path | None) -> tuple[Path, ...]:
        first = self._digests.head_digests()[:1]
        return places_of(home, first[0] if first else "")

    def _read_places(self) -> tuple[Path, ...]:
        first = self._digests.head_digests()[:1]
        return read_places_of(self._home, first[0] if first else "")

    # Writing

    def snapshot(self) -> Snapshot:
        """Returns the present marks for a writer. Call it on the loop's thread."""
        return self._snapshot(self._home, self._writer.next_number())

    def _snapshot(self, home: Path | None, number: int) -> Snapshot:
        name = home.name if home is not None else self._document.name
        # File names may have bytes that are no text, but JSON must be UTF-8.
        shown_name = name.encode(errors="backslashreplace").decode()
        return Snapshot(shown_name, self._entries(), self._digests.head_digests(), number, self._places(home), home)

    def _entries(self) -> Entries:
        capture, analysis = self._document.capture, self._document.analysis
        marks, tree = analysis.marks, analysis.contexts.tree
        entries: Entries = {}
        for row in marks.rows.tolist():
            note = marks.note(row)
            add_entry(entries, MessageEntry(row + 1, self._digests.message_digest(row), note.marked, note.comment))
        for target, note in marks.contexts():
            path = "" if target.node == MAIN else tree.path(target.node)
            add_entry(entries, ContextEntry(capture.strings[target.space], path, note.marked, note.comment))
        # Entries without a match are kept: their messages may still arrive.
        for entry in (*self.messages, *self.lost, *self.contexts):
            add_entry(entries, entry)
        return entries

    def write(self, snapshot: Snapshot) -> None:
        """Replaces the file atomically, or deletes it without notes; any thread may call it.

        Changes by others are kept, and the file of another capture stays unchanged.

        Raises:
            OSError: no place is writable; the old file is unchanged.
        """
        self._writer.write(snapshot)

    def move_to(self, home: Path) -> None:
        """Sets another capture file; marks are then written beside it and no longer in the old place."""
        self._home = home

    def write_copy(self, home: Path) -> Path | None:
        """Writes the marks beside a copy of the capture too; another capture's marks there stay.

        Returns:
            Path of the marks, if there are notes.

        Raises:
            OSError: they could not be written.
        """
        snapshot = self._snapshot(home, 0)
        return self._writer.write_copy(snapshot) if snapshot.entries else None


def restore_marks(document: CaptureDocument, home: Path | None) -> str:
    """Restores the marks of a completely read document.

    Returns:
        A sentence about a problem with a marks file; "".
    """
    file = MarksFile(document, home)
    try:
        file.restore(complete=True)
    except OSError as error:
        return search_failure(error)
    return file.problem


def search_failure(error: OSError) -> str:
    """Words an error in the search for marks."""
    return f"The marks could not be looked for: {(error.strerror or str(error)).rstrip('.')}."
