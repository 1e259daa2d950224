"""The marks of one document: restored as it is read, written when they change."""

from __future__ import annotations

import time
from pathlib import Path

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.marks import ContextTarget, Target
from inspector.document.document import CaptureDocument
from inspector.document.marks_file.content import (
    ContextEntry,
    Entries,
    Entry,
    MessageEntry,
    Snapshot,
    add,
    entries_of,
    joined,
    key_of,
    replaced,
    sign,
)
from inspector.document.marks_file.finding import FoundMarks, Search, elsewhere
from inspector.document.marks_file.identity import Digests
from inspector.document.marks_file.places import places_of, read_places_of
from inspector.document.marks_file.writing import Writer


class MarksFile:
    """Keeps the marks of one document.

    Attributes:
        messages, contexts: entries of the file that are not on a message or context yet, messages by their number.
        lost: entries whose message is another one by now.
        offered: marks of a capture with the same beginning that lies elsewhere still; None when there are none.
        said: what the user should know of where marks were found, a sentence; "" when nothing.
    """

    def __init__(self, document: CaptureDocument, home: Path | None) -> None:
        """Look for the marks of a document.

        Args:
            document: whose marks they are; it may still be reading.
            home: the capture's file; None where there is none that stays, as of standard input.
        """
        self._document = document
        self._home = home
        self._search = Search()
        self._writer = Writer()
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
        """The file they are kept in; None while there is none."""
        return self._writer.path

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
            elif marks.put(entry.no - 1, joined(marks.note(entry.no - 1), entry)):
                placed.append(entry.no - 1)
        if done:
            self.messages = self.messages[done:]
        placed += self._restore_contexts(until)
        return placed

    @property
    def settled(self) -> bool:
        """Whether everything has found its place, so that there is no need to ask again."""
        return self._search.done and not self.messages and not self.contexts

    @property
    def trouble(self) -> str:
        """What is wrong with a file that was found, a sentence for the user; "" when nothing is."""
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
        if not self.contexts or version == self._tree:
            return placed
        for done, entry in enumerate(self.contexts):
            if until is not None and time.perf_counter() > until:
                self.contexts = self.contexts[done:] + waiting
                return placed
            target = self._context(entry)
            if target is None:
                waiting.append(entry)
            elif marks.put(target, joined(marks.note(target), entry)):
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
        node = analysis.contexts.tree.displayed(space, entry.path)
        return None if node == MAIN else ContextTarget(space, node)

    def _is_of(self, entry: MessageEntry) -> bool:
        return entry.no > 0 and self._digests.of(entry.no - 1) == entry.digest

    def _take_in(self, *, complete: bool) -> None:
        """Take the entries of every file that is of this capture; what cannot be told yet is asked again."""
        if not len(self._document.capture):
            return
        if not self._search.done:
            heads = self._digests.heads()
            self._take(self._search.look(self._read_places(), heads, complete=complete))
        if complete and not self._taken_any and not self._searched_elsewhere:
            self._searched_elsewhere = True
            self._look_elsewhere()

    def _take(self, found: list[FoundMarks]) -> None:
        gone = replaced([one.content for one in found])
        for one in found:
            self._taken_any = True
            entries = entries_of(one.content)
            self._writer.took(one.file, entries)
            for entry in entries.values():
                if (entry.mark or entry.comment) and (key_of(entry), sign(entry)) not in gone:
                    self._wait_for_place(entry)
        self.messages.sort(key=lambda entry: entry.no)
        self._tree = (-1, -1)

    def _wait_for_place(self, entry: Entry) -> None:
        if isinstance(entry, MessageEntry):
            self.messages.append(entry)
        else:
            self.contexts.append(entry)

    def _look_elsewhere(self) -> None:
        """The capture has no marks: take along those it had where it lay before."""
        found = elsewhere(self._digests.heads(), self._home, self._read_places())
        if not found or self._home is None:
            return
        if not found[0].moved or not self._are_all_of(found[0]):
            self.offered = found[0]
            return
        self._take(found[:1])
        self.notice = f"The marks were found in {found[0].file}: {self._home.name} was renamed or moved since."

    def _are_all_of(self, found: FoundMarks) -> bool:
        """Whether each message a file has a note on is here."""
        total = len(self._document.analysis)
        return all(entry.no <= total and self._is_of(entry) for entry in found.content.messages)

    def take_offered(self) -> None:
        """Take over the marks that were offered; the file they are in stays as it is. `restore` puts them in place."""
        if self.offered is not None:
            for entry in entries_of(self.offered.content).values():
                self._wait_for_place(entry)
            self.messages.sort(key=lambda entry: entry.no)
            self._tree = (-1, -1)
            self.offered = None

    def _places(self, home: Path | None) -> tuple[Path, ...]:
        first = self._digests.heads()[:1]
        return places_of(home, first[0] if first else "")

    def _read_places(self) -> tuple[Path, ...]:
        first = self._digests.heads()[:1]
        return read_places_of(self._home, first[0] if first else "")

    # Writing

    def snapshot(self) -> Snapshot:
        """The marks as they are now, to be written. Called on the loop's thread."""
        return self._snapshot(self._home, self._writer.next_number())

    def _snapshot(self, home: Path | None, number: int) -> Snapshot:
        name = home.name if home is not None else self._document.name
        shown_name = name.encode(errors="backslashreplace").decode()
        return Snapshot(shown_name, self._entries(), self._digests.heads(), number, self._places(home), home)

    def _entries(self) -> Entries:
        capture, analysis = self._document.capture, self._document.analysis
        marks, tree = analysis.marks, analysis.contexts.tree
        entries: Entries = {}
        for row in marks.rows.tolist():
            note = marks.note(row)
            add(entries, MessageEntry(row + 1, self._digests.of(row), note.marked, note.comment))
        for target, note in marks.contexts():
            path = "" if target.node == MAIN else tree.path(target.node)
            add(entries, ContextEntry(capture.strings[target.space], path, note.marked, note.comment))
        for entry in (*self.messages, *self.lost, *self.contexts):
            add(entries, entry)
        return entries

    def write(self, snapshot: Snapshot) -> None:
        """Replace the file as a whole, or delete it where there is nothing to keep; any thread may call it.

        What others wrote there meanwhile is kept, and a file that is not of this capture is left as it is.

        Raises:
            OSError: it could not be written anywhere; the old one is untouched.
        """
        self._writer.write(snapshot)

    def move_to(self, home: Path) -> None:
        """The capture is another file from now on: its marks are written beside that, and no more where they were."""
        self._home = home

    def write_copy(self, home: Path) -> Path | None:
        """Write the marks beside a copy of the capture too; marks of another file that lie there stay as they are.

        Returns:
            Where they were written; None where there are none.

        Raises:
            OSError: they could not be written.
        """
        snapshot = self._snapshot(home, 0)
        return self._writer.write_copy(snapshot) if snapshot.entries else None


def restore_marks(document: CaptureDocument, home: Path | None) -> str:
    """Put the marks kept for a document on it, once it was read.

    Returns:
        What is wrong with a file of marks that was found, a sentence; "" when nothing is.
    """
    file = MarksFile(document, home)
    try:
        file.restore(complete=True)
    except OSError as error:
        return search_failure(error)
    return file.trouble


def search_failure(error: OSError) -> str:
    """Why the marks of a capture could not be looked for, a sentence."""
    return f"The marks could not be looked for: {(error.strerror or str(error)).rstrip('.')}."
