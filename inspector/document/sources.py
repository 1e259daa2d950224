"""Reads the sources of one document, one file or several: progress, growth, troubles, live ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from inspector.document.source_set import SourceChoice, SourceSet, end_of_lines
from inspector.reading.files.format_detection import forced_format
from inspector.reading.files.merged_reader import MergedReader
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, SourceReader
from inspector.sources.follow import FollowedLog, can_be_followed
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture

_CLOSED, _TAIL_BYTES = b'"mark":"closed"', 1 << 12
_CUT_OFF = "{} ends before its JSON array is closed: it may have been cut off."

Reader: TypeAlias = "SourceReader | MergedReader"


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of reading."""

    done: int
    """Bytes."""
    total: int
    messages: int
    waiting: bool = False
    """The next step is not ready yet; polling at once would waste time."""
    unopened: bool = False
    """No program has opened the pipe for writing so far."""


def progress_of(reader: Reader, messages: int, *, unopened: bool = False) -> Progress:
    """Returns the progress; `total` is 0 for a stream of unknown length."""
    source = reader.source
    done, total = (sum(sizes) for sizes in zip(*((s.read_to, s.size) for s in reader.sources), strict=True))
    if source.feed is not None and len(reader.sources) == 1:
        taken, total = source.feed.progress
        # Decompressed bytes are converted to the file's own, of which the total is known.
        done = taken * source.read_to // max(1, source.size) if total else source.read_to
    return Progress(done, total, messages, waiting=reader.is_waiting, unopened=unopened)


class DocumentSources:
    """Reads the sources of one document.

    Attributes:
        several: the set of several files: a session with sub-agents, a folder of sessions, or logs opened together.
        followed: the followed log, or the first of several, if any.
        live_source: the file of a live session; None for a log.
        stream: standard input, or a pipe; None for a file.
        waits: reading waits for workers and streams; otherwise a step without news reports the wait.
    """

    def __init__(self, capture: Capture) -> None:
        self.several: SourceSet | None = None
        self.followed: FollowedLog | None = None
        self.live_source: SourceFile | None = None
        self.stream: SourceFile | None = None
        self.waits = True
        self._capture = capture
        self._readers: list[SourceReader] = []
        self._merged: MergedReader | None = None

    # Initial reading

    def add(self, source: SourceFile, *, live: bool = False) -> None:
        """Adds a single source."""
        self._readers.append(SourceReader(source, self._capture.add_source(source), live=live, waits=self.waits))

    def add_live(self, path: Path, name: str, *, to_present: bool = False) -> None:
        """Adds the capture file of a live session. Raises OSError if it cannot be read.

        Args:
            path: the file.
            name: display name.
            to_present: its initial reading ends with the last whole line of now.
        """
        self.live_source = SourceFile(path, name)
        self.live_source.read_limit = end_of_lines(self.live_source) if to_present else None
        self.add(self.live_source, live=True)

    def add_several(self, choices: Sequence[SourceChoice]) -> SourceSet:
        """Adds the files of choices, to read in order of time.

        Raises:
            OSError: no file can be read.
        """
        self.several = chosen = SourceSet(choices, self._capture)
        self.live_source = chosen.live
        for place, source in enumerate(chosen.sources):
            source.chosen_format = source.chosen_format or forced_format(source)
            self._readers.append(SourceReader(source, place, live=source is chosen.live, waits=self.waits))
        # Files of one session never repeat each other's messages.
        self._merged = MergedReader(self._readers, compare=not chosen.is_one_session)
        return chosen

    @property
    def reader(self) -> Reader:
        """The merged reader, or the last single one."""
        return self._merged or self._readers[-1]

    @property
    def is_closed(self) -> bool:
        """Returns True before the first source and after `close`."""
        return not self._readers

    @property
    def is_live(self) -> bool:
        """Returns True if a live session writes a source."""
        return any(reader.is_live for reader in self._readers)

    def leave_out_unknown(self) -> None:
        """Drops sources of unknown format after detection."""
        if self._merged is not None:
            self._readers = list(self._merged.readers)

    def follow_logs(self) -> None:
        """Follows the logs as they grow."""
        if self.several is not None:
            self.followed = self.several.follow_logs()
        elif can_be_followed(self.reader.source):
            self.followed = FollowedLog(self.reader.source)

    def end_opening(self, *, finished: bool) -> None:
        """Ends the initial reading.

        Args:
            finished: it reached the end; otherwise it was cancelled.
        """
        for source in self.reader.sources if self._readers else ():
            if source.feed is not None:
                source.feed.stop()
        if self.live_source is not None:  # its lines are complete from now on
            self.live_source.read_limit = None
        if self.followed is not None and not finished:
            self.followed.close()
            self.followed = None
            if self.several is not None:
                self.several.close()

    @property
    def can_go_on(self) -> bool:
        """Returns True if a cancelled reading can continue; False if it stopped the feed of a spool."""
        return bool(self._readers) and self._readers[0].source.feed is None

    # Continued reading

    def update(self) -> None:
        """Makes growth of followed logs readable, and adds new files of a session."""
        if self.followed is not None:
            self.followed.update()  # it returns whole lines, and an unfinished one only if it is abandoned
        if self.several is None or self._merged is None:
            return
        for source in self.several.update():
            # The capture has registered the new file already.
            reader = SourceReader(source, self._capture.sources.index(source))
            self._readers.append(reader)
            self._merged.add_reader(reader)

    def read_on(self, *, at_end: bool = False) -> Block | None:
        """Returns a block of new lines, if any.

        Args:
            at_end: no more lines follow, so sources do not wait for each other, and an unfinished line is read.
        """
        if self._merged is not None:
            growing = self.several.growing_sources if self.several is not None else []
            return self._merged.read_new_records(LIVE_BLOCK_BYTES, growing, at_end=at_end)
        if not self._readers:
            return None
        return self._readers[0].next_block(whole_lines=self.followed is None and not at_end, size=LIVE_BLOCK_BYTES)

    def end_live(self) -> None:
        """Marks the live session as ended in all readers."""
        for reader in self._readers:
            reader.end_live()

    def read_rest(self) -> Block | None:
        """Returns the lines that a reader held back until the end."""
        if self._merged is not None or not self._readers:
            return None
        return self._readers[0].read_unfinished()

    def close(self) -> None:
        """Closes the files and ends all following."""
        for reader in self._readers:
            reader.close()
        self._readers.clear()
        for held in (self.stream, self.followed, self.several):
            if held is not None:
                held.close()

    # Queries

    @property
    def files(self) -> list[SourceFile]:
        """Sources that are read, without sources of unknown format."""
        return self._merged.sources if self._merged is not None else list(self._capture.sources)

    @property
    def left_out(self) -> list[str]:
        """Sources of unknown format, with reasons, as sentences."""
        return list(self._merged.left_out) if self._merged is not None else []

    @property
    def troubles(self) -> list[str]:
        """Problems with reading or following, as sentences for the user."""
        sources = self._capture.sources
        found = [source.feed.problem for source in sources if source.feed is not None]
        found += [source.problem for source in sources]
        if self.several is not None:
            found.append(self.several.problem)
        elif self.followed is not None:
            found.append(self.followed.trouble)
        found += self.left_out
        found += [_CUT_OFF.format(source.name) for source in sources if source.is_truncated]
        return [sentence for sentence in found if sentence is not None]

    def choices(self, *, live: bool) -> list[SourceChoice]:
        """Returns the choices; [] if they cannot be opened again.

        Args:
            live: the live session is still running.
        """
        if self.several is not None:
            known = {source.path for source in self.files}
            found = (one for one in self.several.choices if one.is_session or one.path in known)
            return [replace(one, is_live=False) if one.is_live and not live else one for one in found]
        if not self._capture.sources or self.stream is not None:
            return []
        source = self._capture.sources[0]
        name = source.name if source is self.live_source else None
        return [SourceChoice(source.path, is_live=live, reading=source.chosen_format, name=name)]

    @property
    def is_following(self) -> bool:
        """Returns True if any log is followed."""
        if self.several is not None:
            return self.followed is not None and self.several.is_following
        return self.followed is not None and self.followed.is_following

    @property
    def is_active(self) -> bool:
        """Returns True if a followed log grew within the last minute."""
        return self.followed is not None and self.followed.is_active

    @property
    def is_tapped(self) -> bool:
        """Returns True for the capture of a tap whose server has not ended so far."""
        source = self._capture.sources[0] if self.followed is not None and self._capture.sources else None
        return source is not None and _is_of_tap(source) and not source.server_end.reason

    @property
    def is_unopened(self) -> bool:
        """Returns True for a pipe without a writer so far."""
        return self.stream is not None and self.stream.feed is not None and self.stream.feed.is_unopened

    @property
    def is_waiting(self) -> bool:
        """Returns True while a worker reads data for the next `read_on`."""
        return any(reader.is_waiting for reader in self._readers)

    @property
    def unread_bytes(self) -> int:
        """Number of unread bytes."""
        return sum(reader.source.size - reader.source.read_to for reader in self._readers)

    @property
    def has_more(self) -> bool:
        """Returns True if the backlog is larger than usual growth, so that more blocks follow at once."""
        return any(reader.has_more_lines for reader in self._readers) or self.unread_bytes > LIVE_BLOCK_BYTES


def is_tapped_now(source: SourceFile) -> bool:
    """Returns True if a tap still writes a source, judging by the end of the file."""
    return _is_of_tap(source) and _CLOSED not in source.read(max(0, source.size - _TAIL_BYTES), _TAIL_BYTES)


def _is_of_tap(source: SourceFile) -> bool:
    origin = source.origin.get("origin")
    return isinstance(origin, dict) and origin.get("source") == "tap"
