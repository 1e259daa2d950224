"""Writes the marks of one document under a lock, merged with changes by others, to a writable place."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import msgspec

from inspector.document.marks_file import places
from inspector.document.marks_file.content import (
    MOST_BYTES,
    Entries,
    Snapshot,
    encode_marks,
    entries_of,
    merge_entries,
    read_marks,
    with_signatures,
)
from inspector.document.marks_file.identity import matches_capture


class MarksWriter:
    """Remembers the known content per file, to distinguish our changes from changes by others.

    Attributes:
        path: the marks file, if any.
    """

    def __init__(self) -> None:
        self._had: dict[Path, Entries] = {}  # known content per file, after our last read or write
        self._took: list[tuple[int, Path, Entries]] = []  # the same, not in snapshots up to that number
        self._stuck: set[Path] = set()  # files from which our entries could not be removed
        self._lock = threading.Lock()
        self._taken = self._written = 0
        self.path: Path | None = None

    def next_number(self) -> int:
        """Returns the number for a new snapshot."""
        self._taken += 1
        return self._taken

    def note_read(self, file: Path, entries: Entries) -> None:
        """Records entries read from a file."""
        with self._lock:
            self._took.append((self._taken, file, entries))
            self.path = self.path or file

    def write(self, snapshot: Snapshot) -> None:
        """Replaces the file atomically, or deletes it without notes; any thread may call it.

        Raises:
            OSError: no place is writable; the old file is unchanged.
        """
        with self._lock:
            # Threads may finish out of order; an older state must not replace a newer one.
            if snapshot.number < self._written:
                return
            with places.marks_lock():
                self._write(snapshot)
            self._written = snapshot.number

    def _write(self, snapshot: Snapshot) -> None:
        for number, file, entries in self._took:
            if number < snapshot.number:
                self._had[file] = {**self._had.get(file, {}), **entries}
        self._took = [took for took in self._took if took[0] >= snapshot.number]
        place = self._write_first(snapshot)
        for _ in range(2):
            if not self._clear_others(snapshot, place):
                break
            place = self._write_first(snapshot)  # the notes left there must be replaced by signatures in ours
        self.path = place
        if place is not None and snapshot.heads:
            places.record_place(snapshot.heads[0], place, snapshot.home)

    def _clear_others(self, snapshot: Snapshot, place: Path | None) -> bool:
        """Removes our entries from outdated files; returns True if the set of unwritable files changed."""
        before = set(self._stuck)
        for other in [other for other in self._had if other != place]:
            try:
                self._write_at(other, snapshot, {})
            except OSError:
                self._stuck.add(other)
            else:
                del self._had[other]
                self._stuck.discard(other)
        return self._stuck != before

    def write_copy(self, snapshot: Snapshot) -> Path | None:
        """Writes the marks for a copy of the capture, which is independent from then on.

        Raises:
            OSError: they could not be written.
        """
        with self._lock, places.marks_lock():
            # The copy has marks of its own, so our knowledge of our files stays as it was.
            had, stuck = dict(self._had), self._stuck
            self._stuck = set()
            try:
                place = self._write_first(snapshot)
            finally:
                self._had, self._stuck = had, stuck
            if place is not None and snapshot.heads:
                places.record_place(snapshot.heads[0], place, snapshot.home)
            return place

    def _write_first(self, snapshot: Snapshot) -> Path | None:
        """Writes to the best writable place and returns it, if there are entries."""
        trouble = OSError(errno.EEXIST, "what lies there is of other captures")
        for place in snapshot.places:
            entries = self._entries_for(place, snapshot.entries)
            if not entries and not self._stuck:
                return None
            if not entries:
                continue  # only a file in the user's data folder can express that
            try:
                self._write_at(place, snapshot, entries)
            except OSError as error:
                trouble = error
            else:
                self._had[place] = entries
                return place
        raise trouble

    def _entries_for(self, place: Path, entries: Entries) -> Entries:
        """Returns our entries for a file; in the user's data folder, with signatures of replaced notes."""
        if place.parent != places.own_folder():
            return {key: msgspec.structs.replace(entry, over=[]) for key, entry in entries.items()}
        for stuck in self._stuck - {place}:
            entries = with_signatures(entries, self._had.get(stuck, {}))
        return entries

    def _write_at(self, place: Path, snapshot: Snapshot, entries: Entries) -> None:
        """Writes entries merged with changes by others.

        Raises:
            OSError: it could not be written, or a file there must not be replaced.
        """
        try:
            found = read_marks(place)
        except ValueError as error:
            raise OSError(errno.EEXIST, f"{place.name} cannot be read: {error}") from error
        if found is not None and not matches_capture(found, snapshot.heads):
            raise OSError(errno.EEXIST, f"{place.name} holds the marks of another file")
        there = entries_of(found)
        result = merge_entries(entries, self._had.get(place, {}), there)
        if result:
            data = encode_marks(snapshot, result)
            if len(data) > MOST_BYTES:
                raise OSError(errno.EFBIG, "there are too many")
            # Equal content keeps its time, so other windows need not read it again.
            if result != there:
                places.replace_whole(place, data)
        elif found is not None:
            places.remove_marks(place)
