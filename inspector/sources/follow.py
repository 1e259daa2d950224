"""Follows a growing log through every kind of rotation: renamed and recreated, truncated in place, deleted.

A thread checks the file's size and times about ten times a second. As soon as the log changes, its content is copied to
a spool of ours with the same offsets, since a truncation would destroy the bytes of rows already shown. From then on,
whole lines are appended to the spool, and the document reads them there. A rotation becomes one line in the spool: a
capture mark, shown as a row. Logs with rotated parts and converted logs continue in the spool of their feed.
"""

from __future__ import annotations

import json
import os
import threading
import time

from inspector.formats.file_conversion import GrowingConversion
from inspector.sources.decoders import MAGIC_BYTES, is_compressed
from inspector.sources.log_generation import LogGeneration
from inspector.sources.threaded_feed import ConvertingFeed, ThreadedFeed
from inspector.store.files.source_files import SourceFile, read_at
from inspector.store.files.spool import NoRoomError, Spool

POLL_S = 0.1
STILL_S = 1.0
"""Seconds without change after which an unfinished last line counts as complete."""
GRACE_S = 0.5
"""Seconds of quiet in a renamed file before its successor is read: the writer may not know of the rotation yet."""
OVERLAP_S = 5.0
"""Limit in seconds for that wait, since two writers may never be quiet."""
RECENT_S = 60.0
"""Age in seconds of the last write below which a log is copied when it is opened."""

_COPY_BYTES = 1 << 20

ROTATED_REASON = "the log was rotated: the next messages are from its replacement"
TRUNCATED_REASON = "the log was emptied and written anew; lines written just before that may be missing"
LOST_ROWS = "; the rows above can no longer be shown in full, as their bytes are gone from the disk"


def can_be_followed(source: SourceFile) -> bool:
    """Returns True for a file of records that may grow, also one with rotated parts before it."""
    feed = source.feed
    if feed is None:
        return source.elements is None
    log = feed.log if isinstance(feed, ThreadedFeed) else None
    return log is not None and not is_compressed(read_at(log, 0, MAGIC_BYTES))


class FollowedLog:
    """Follows the log behind a source. The document calls `update` to make new data readable.

    Attributes:
        rotations: number of rotations and truncations.
        grown_at: monotonic time of the last growth, if any.
        trouble: reason for the end of following, as a sentence, if any.
        missing: no file has had the log's name for a while: it was renamed or deleted, and may return.
    """

    def __init__(self, source: SourceFile) -> None:
        """Starts to follow. The source is limited to whole lines while its last line may still grow.

        Raises:
            OSError: the file cannot be examined.
        """
        self.rotations = 0
        self.grown_at: float | None = None
        self.trouble: str | None = None
        self.missing = False
        self._missed_at: float | None = None
        self._source = source
        self._path = source.path
        self._spool: Spool | None = None
        self._ready = False
        self._lost_to = 0
        self._loss = ""  # loss that the next mark reports
        self._closed = False
        self._torn = False  # the spool ends within a line
        self._feed = source.feed if isinstance(source.feed, ThreadedFeed) else None
        self._conversion: GrowingConversion | None = None
        of_feed = self._feed.log if self._feed is not None else None
        self._current = LogGeneration(source.duplicate() if of_feed is None else os.dup(of_feed))
        self._earlier: LogGeneration | None = None
        self._waiting: list[LogGeneration] = []
        self._settled, self._copy_at_once = 0, False
        if self._feed is None:
            self._begin()
            self._settled = source.read_limit = self._current.taken
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follow {source.name}", daemon=True)
        self._thread.start()

    @property
    def source(self) -> SourceFile:
        return self._source

    @property
    def is_following(self) -> bool:
        """Returns True while new data will be shown."""
        return self.trouble is None and not self._stopped.is_set()

    @property
    def is_active(self) -> bool:
        """Returns True if the log has grown within the last minute."""
        return self.is_following and self.grown_at is not None and time.monotonic() - self.grown_at < RECENT_S

    def update(self) -> bool:
        """Makes new data readable; returns True if there is any. Runs on the reader's thread."""
        if self._feed is not None:
            return False
        settled = self._settled
        # The move happens here, on the reader's thread, so no read is under way.
        if self._ready and self._spool is not None and self._source.data_path != self._spool.path:
            try:
                self._source.move_to(self._spool.path, lost_to=self._lost_to)
            except OSError as error:  # earlier data stays readable in the file
                self._stopped.set()
                self._give_up(error)
                return False
        grown = settled > (self._source.read_limit or 0)
        self._source.read_limit = settled
        return grown

    def close(self) -> None:
        """Ends following and removes the spool."""
        if self._closed:
            return
        self._closed = True
        self._stopped.set()
        # Before the files are closed, which the thread still reads.
        self._thread.join()
        for generation in (self._current, self._earlier, *self._waiting):
            if generation is not None:
                os.close(generation.file)
        if self._spool is not None:
            self._spool.close()

    # Follower thread

    def _begin(self) -> None:
        """Marks the initial content as read; an unfinished last line counts only if the file is quiet."""
        log = self._current
        log.check_changed(time.monotonic())
        # A writer that is still busy may not have finished the last line.
        age_s = time.time() - log.written_at_s
        log.count_read_to(log.size if age_s > STILL_S else log.end_of_lines())
        self._torn = log.torn
        self._copy_at_once = age_s < RECENT_S

    def _begin_behind(self, feed: ThreadedFeed) -> None:
        """Continues after the rotated or converted part, which the feed has read."""
        if isinstance(feed, ConvertingFeed) and isinstance(feed.conversion, GrowingConversion):
            self._conversion = feed.conversion
            if not feed.conversion.can_grow:
                self._stopped.set()
        self._spool, self._ready = feed.spool, True
        self._current.count_read_to(feed.log_taken)
        self._torn, self._settled = self._current.torn and self._conversion is None, feed.spool.size
        self._feed = None

    def _run(self) -> None:
        try:
            while self._feed is not None and not self._stopped.wait(POLL_S):
                if self._feed.is_ended:
                    self._begin_behind(self._feed)
            if self._copy_at_once and self._current.taken:
                self._need_spool()
            pause = POLL_S
            while not self._stopped.wait(pause):
                # Several rotations within one poll are handled at once.
                pause = 0 if self._check_once(time.monotonic()) else POLL_S
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        why = f"{error}." if isinstance(error, NoRoomError) else f"{error.strerror or error}. Open it again to go on."
        self.trouble = self.trouble or f"{self._source.name} is not followed any more: {why}"

    def _check_once(self, now: float) -> bool:
        """Checks the log once; returns True if there is more to do at once."""
        log = self._current
        self._check_log(log, now)
        if self._earlier is not None:
            # A writer may continue in a rotated file; its lines are late but not lost.
            self._check_log(self._earlier, now)
        self._look_for_next(now)
        return bool(self._waiting) and self._rotate_when_due(now)

    def _check_log(self, log: LogGeneration, now: float) -> None:
        if log.check_changed(now):
            if not log.was_replaced():
                self._append_lines(log)
            elif log is self._current:
                self._write_mark("truncated", TRUNCATED_REASON)
                log.start_again()
                self._append_lines(log)
        elif log.size > log.taken and now - log.changed_at >= STILL_S:
            self._append_lines(log, torn_too=True)

    def _look_for_next(self, now: float) -> None:
        try:
            found = self._path.stat()
        except OSError:  # deleted, or between two names
            self._missed_at = now if self._missed_at is None else self._missed_at
            self.missing = now - self._missed_at >= STILL_S
            return
        self._missed_at, self.missing = None, False
        # The log has its old file again, as after a failed rotation.
        if (found.st_dev, found.st_ino) == self._current.key:
            self._forget_waiting()
            return
        latest = self._waiting[-1] if self._waiting else self._current
        if (found.st_dev, found.st_ino) == latest.key:
            return
        try:
            # Non-blocking: the name may have become a pipe meanwhile.
            file = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return
        self._waiting.append(LogGeneration(file, found_at=now))

    def _forget_waiting(self) -> None:
        while self._waiting:
            os.close(self._waiting.pop().file)

    def _rotate_when_due(self, now: float) -> bool:
        log, following = self._current, self._waiting[0]
        following.check_changed(now)
        waited = now - following.found_at
        quiet = now - log.changed_at >= GRACE_S
        # An empty successor gets some time for its first line.
        due = quiet and (following.size > 0 or waited >= STILL_S)
        if not (due or waited >= OVERLAP_S or len(self._waiting) > 1):
            return False
        log.check_changed(now)
        self._append_lines(log, torn_too=True)
        self._write_mark("rotated", ROTATED_REASON)
        if self._earlier is not None:
            os.close(self._earlier.file)
        # The old file stays open: its writer may not have noticed the rotation.
        self._earlier, self._current = log, self._waiting.pop(0)
        self._current.forget_stamp()
        return True

    def _append_lines(self, log: LogGeneration, *, torn_too: bool = False) -> None:
        """Appends whole lines to the spool; with `torn_too` also an unfinished last line."""
        end = log.size if torn_too else log.end_of_lines()
        if end <= log.taken:
            return
        spool = self._need_spool()
        if self._loss:  # truncated meanwhile; the next check reports it
            return
        if self._torn and not (log is self._current and log.torn):
            spool.write(b"\n")  # ends the line of another writer
        while log.taken < end and not self._stopped.is_set():
            data = log.read(log.taken, min(end - log.taken, _COPY_BYTES))
            if not data:
                break
            spool.write(data if self._conversion is None else self._conversion.convert_more(data))
            log.count_read(data)
            self._torn = log.torn and self._conversion is None
        self._publish_size(spool)

    def _write_mark(self, name: str, reason: str) -> None:
        spool = self._need_spool()
        line = {"t": time.time_ns(), "src": 0, "mark": name, "reason": reason + self._loss}
        if self._conversion is not None:
            spool.write(self._conversion.finish())
        spool.write(b"\n" * self._torn + json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._loss, self._torn, self._current.torn = "", False, False
        self.rotations += 1
        self._publish_size(spool)

    def _publish_size(self, spool: Spool) -> None:
        if spool.size > self._settled:
            self.grown_at = time.monotonic()
            self._settled = spool.size

    def _need_spool(self) -> Spool:
        """Returns the spool, filled with the earlier content as far as it still exists."""
        if self._spool is not None:
            return self._spool
        log, spool = self._current, Spool(self._path.name)
        self._spool = spool
        # Checked again after the copy, since the file may change during it.
        if log.was_replaced() or spool.fill_from(log.file, log.taken, self._stopped) < log.taken or log.was_replaced():
            spool.set_write_offset(log.taken)
            self._lost_to, self._loss = log.taken, LOST_ROWS
            log.forget_stamp()
        self._ready = True
        return spool
