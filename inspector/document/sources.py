"""What one document is read from: one file or several, how far they are read, and which of them go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from inspector.document.source_set import SourceChoice, SourceSet
from inspector.reading.files.merging import MergedReader
from inspector.reading.files.sniff import reading_of
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
    """How far a file has been read."""

    done: int
    """Bytes."""
    total: int
    messages: int
    waiting: bool = False
    """The next step is not ready yet; asking again at once would only burn time."""


def progress_of(reader: Reader, messages: int) -> Progress:
    """How far reading has come; `total` is 0 for a stream, whose end nobody knows."""
    source = reader.source
    done, total = (sum(sizes) for sizes in zip(*((s.read_to, s.size) for s in reader.sources), strict=True))
    if source.feed is not None and len(reader.sources) == 1:
        taken, total = source.feed.progress
        done = taken * source.read_to // max(1, source.size) if total else source.read_to
    return Progress(done, total, messages, waiting=reader.waiting)


class DocumentSources:
    """Reads the sources of one document.

    Attributes:
        several: these, where they are several files: a session with its sub-agents, a folder of such, or logs that
            were opened together.
        followed: the opened log, or the first of several, followed as it grows; None when none is.
        live_source: what a live session writes, or wrote; None for a log.
        stream: standard input, or a pipe; None for a file.
    """

    def __init__(self, capture: Capture) -> None:
        self.several: SourceSet | None = None
        self.followed: FollowedLog | None = None
        self.live_source: SourceFile | None = None
        self.stream: SourceFile | None = None
        self._capture = capture
        self._readers: list[SourceReader] = []
        self._merged: MergedReader | None = None

    # From the beginning

    def add(self, source: SourceFile, *, live: bool = False) -> None:
        """Read a single source."""
        self._readers.append(SourceReader(source, self._capture.add_source(source), live=live))

    def add_live(self, path: Path, name: str) -> None:
        """Read the capture file that a live session writes. Raises OSError where it cannot be read."""
        self.live_source = SourceFile(path, name)
        self.add(self.live_source, live=True)

    def add_several(self, choices: Sequence[SourceChoice]) -> SourceSet:
        """Read the files of some choices in the order of time.

        Raises:
            OSError: none can be read.
        """
        self.several = chosen = SourceSet(choices, self._capture)
        self.live_source = chosen.live
        for place, source in enumerate(chosen.sources):
            source.reading = source.reading or reading_of(source)
            self._readers.append(SourceReader(source, place, live=source is chosen.live))
        self._merged = MergedReader(self._readers, compare=not chosen.is_one_session)
        return chosen

    @property
    def reader(self) -> Reader:
        """What reads them; of single ones that were opened one after the other, the last."""
        return self._merged or self._readers[-1]

    @property
    def is_closed(self) -> bool:
        """Whether nothing is read any more, or nothing was yet."""
        return not self._readers

    @property
    def is_live(self) -> bool:
        """Whether a live session writes one."""
        return any(reader.is_live for reader in self._readers)

    def leave_out_unknown(self) -> None:
        """It has been found out what they hold: go on with those that hold anything known."""
        if self._merged is not None:
            self._readers = list(self._merged.readers)

    def follow(self) -> None:
        """Follow the logs as they grow."""
        if self.several is not None:
            self.followed = self.several.follow()
        elif can_be_followed(self.reader.source):
            self.followed = FollowedLog(self.reader.source)

    def end_opening(self, *, finished: bool) -> None:
        """Nothing is read from the beginning any more.

        Args:
            finished: up to the end; else it was cancelled, and nothing more is to come.
        """
        for source in self.reader.sources if self._readers else ():
            if source.feed is not None:
                source.feed.stop()
        if self.live_source is not None:  # its lines come whole from now on
            self.live_source.limit = None
        if self.followed is not None and not finished:
            self.followed.close()
            self.followed = None
            if self.several is not None:
                self.several.close()

    @property
    def can_go_on(self) -> bool:
        """Whether a reading that was given up can go on where it stopped: not when what fills a spool was stopped."""
        return bool(self._readers) and self._readers[0].source.feed is None

    # On and on

    def update(self) -> None:
        """Make readable what followed logs have gained, and read new files of a session as well."""
        if self.followed is not None:
            self.followed.update()  # it gives out whole lines, and a torn one only when nobody goes on with it
        if self.several is None or self._merged is None:
            return
        for source in self.several.update():
            reader = SourceReader(source, self._capture.sources.index(source))
            self._readers.append(reader)
            self._merged.add(reader)

    def read_on(self, *, at_end: bool = False) -> Block | None:
        """A block of what has come; None where there is nothing.

        Args:
            at_end: nothing more comes: of several sources none waits for another, and a torn last line is one.
        """
        if self._merged is not None:
            growing = self.several.growing if self.several is not None else []
            return self._merged.read_on(LIVE_BLOCK_BYTES, growing, at_end=at_end)
        if not self._readers:
            return None
        return self._readers[0].next(whole_lines=self.followed is None and not at_end, size=LIVE_BLOCK_BYTES)

    def end_live(self) -> None:
        """Nothing more is written by the live session."""
        for reader in self._readers:
            reader.end_live()

    def read_rest(self) -> Block | None:
        """What a reader holds back until nothing more comes."""
        if self._merged is not None or not self._readers:
            return None
        return self._readers[0].rest()

    def close(self) -> None:
        """Close the files, and follow nothing any more."""
        for reader in self._readers:
            reader.close()
        self._readers.clear()
        for held in (self.stream, self.followed, self.several):
            if held is not None:
                held.close()

    # Asking

    @property
    def files(self) -> list[SourceFile]:
        """Those that are read: without those that hold nothing known."""
        return self._merged.sources if self._merged is not None else list(self._capture.sources)

    @property
    def left_out(self) -> list[str]:
        """Those that hold nothing known, and why, as sentences."""
        return list(self._merged.left_out) if self._merged is not None else []

    @property
    def troubles(self) -> list[str]:
        """What kept them from being read to their end, or from being followed; sentences for the user."""
        sources = self._capture.sources
        found = [source.feed.trouble for source in sources if source.feed is not None]
        found += [source.trouble for source in sources]
        if self.several is not None:
            found.append(self.several.trouble)
        elif self.followed is not None:
            found.append(self.followed.trouble)
        found += self.left_out
        found += [_CUT_OFF.format(source.name) for source in sources if source.cut_off]
        return [sentence for sentence in found if sentence is not None]

    def choices(self, *, live: bool) -> list[SourceChoice]:
        """What they were chosen as; [] for what cannot be opened once more.

        Args:
            live: the live session has not ended.
        """
        if self.several is not None:
            known = {source.path for source in self.files}
            found = (one for one in self.several.choices if one.is_session or one.path in known)
            return [replace(one, is_live=one.is_live and live) for one in found]
        if not self._capture.sources or self.stream is not None:
            return []
        source = self._capture.sources[0]
        name = source.name if source is self.live_source else None
        return [SourceChoice(source.path, is_live=live, reading=source.reading, name=name)]

    @property
    def following(self) -> bool:
        """Whether any log is followed as it grows."""
        if self.several is not None:
            return self.followed is not None and self.several.following
        return self.followed is not None and self.followed.following

    @property
    def active(self) -> bool:
        """Whether what is followed has grown within the last minute."""
        return self.followed is not None and self.followed.active

    @property
    def tapped(self) -> bool:
        """Whether what is followed is the capture of a tap whose server has not ended, as far as it is read."""
        source = self._capture.sources[0] if self.followed is not None and self._capture.sources else None
        return source is not None and _is_of_tap(source) and not source.ended.reason

    @property
    def unopened(self) -> bool:
        """Whether what is read is a pipe that nobody writes to yet."""
        return self.stream is not None and self.stream.feed is not None and self.stream.feed.unopened

    @property
    def waiting(self) -> bool:
        """Whether what `read_on` did not bring is being read by another process, and will come."""
        return any(reader.waiting for reader in self._readers)

    @property
    def behind(self) -> int:
        """Bytes that wait to be read."""
        return sum(reader.source.size - reader.source.read_to for reader in self._readers)

    @property
    def has_more(self) -> bool:
        """Whether further blocks follow at once: more waits than comes between two looks."""
        return any(reader.left_lines for reader in self._readers) or self.behind > LIVE_BLOCK_BYTES


def is_tapped_now(source: SourceFile) -> bool:
    """Whether a tap writes a source now: its server has not ended, as far as the end of the file says."""
    return _is_of_tap(source) and _CLOSED not in source.read(max(0, source.size - _TAIL_BYTES), _TAIL_BYTES)


def _is_of_tap(source: SourceFile) -> bool:
    origin = source.origin.get("origin")
    return isinstance(origin, dict) and origin.get("source") == "tap"
