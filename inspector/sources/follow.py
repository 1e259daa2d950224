"""Following a log that grows, through every way of rotating it: renamed and made anew, truncated in place, deleted.

A thread looks about ten times a second; nothing is asked of the operating system but the file's size and times. What
the log holds is copied to a spool of ours with the same offsets as soon as the log moves, because a log truncated in
place takes the bytes of rows already shown with it; from then on whole lines are appended to the spool, and the
document reads on there. A rotation is one line in the spool: a capture mark, read as a row.
"""

from __future__ import annotations

import json
import os
import threading
import time

from inspector.capture.sources import SourceFile, read_at
from inspector.sources.spool import NoRoomError, Spool

POLL_S = 0.1
STILL_S = 1.0
"""A last line without an end counts as one when it has stood still so long."""
GRACE_S = 0.5
"""A renamed file must be quiet so long before the one that took its place is read: its writer may not know yet."""
OVERLAP_S = 5.0
"""No longer than this: two writers may go on for ever."""
RECENT_S = 60.0
"""A log written so recently when it was opened is copied at once."""

_HEAD_BYTES = 1 << 10
_TAIL_BYTES = 1 << 8
_COPY_BYTES = 1 << 20
_LOOK_BYTES = 1 << 16

ROTATED = "the log was rotated: what follows comes from the file that took its place"
TRUNCATED = "the log was emptied and written anew; lines written just before that may be missing"
LOST = "; the rows above can no longer be shown in full, as their bytes are gone from the disk"


class FollowedLog:
    """Follows the log behind a source. `update`, called by the document, makes what has come readable.

    Attributes:
        rotations: how often the log was rotated or truncated so far.
        grown_at: when it last grew, by the monotonic clock; None until then.
        trouble: why it is not followed any more, as a sentence; None while it is.
    """

    def __init__(self, source: SourceFile) -> None:
        """Start to follow. The source is read only up to its last whole line while that may still be written to.

        Raises:
            OSError: the file cannot be looked at.
        """
        self.rotations = 0
        self.grown_at: float | None = None
        self.trouble: str | None = None
        self._source = source
        self._path = source.path
        self._spool: Spool | None = None
        self._ready = False
        self._lost_to = 0
        self._closed = False
        self._torn = False  # the spool ends within a line
        self._current = _Generation(source.duplicate())
        self._earlier: _Generation | None = None
        self._waiting: list[_Generation] = []
        self._begin()
        self._settled = source.limit = self._current.taken
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follow {source.name}", daemon=True)
        self._thread.start()

    @property
    def following(self) -> bool:
        """Whether what the log gains will still be shown."""
        return self.trouble is None and not self._stopped.is_set()

    @property
    def active(self) -> bool:
        """Whether it has grown within the last minute."""
        return self.following and self.grown_at is not None and time.monotonic() - self.grown_at < RECENT_S

    def update(self) -> bool:
        """Make readable what has come; whether there is anything. On the thread that reads the source."""
        settled = self._settled
        if self._ready and self._spool is not None and self._source.data_path != self._spool.path:
            self._source.move_to(self._spool.path, lost_to=self._lost_to)
        grown = settled > (self._source.limit or 0)
        self._source.limit = settled
        return grown

    def close(self) -> None:
        """End following and remove the spool."""
        if self._closed:
            return
        self._closed = True
        self._stopped.set()
        self._thread.join()
        for generation in (self._current, self._earlier, *self._waiting):
            if generation is not None:
                os.close(generation.file)
        if self._spool is not None:
            self._spool.close()

    # On the thread

    def _begin(self) -> None:
        """What lies there at first counts as read; a last line without an end only when nobody writes it."""
        log = self._current
        log.look(time.monotonic())
        age_s = time.time() - log.written_at_s
        log.taken = log.size if age_s > STILL_S else log.end_of_lines()
        log.remember()
        self._torn = not log.tail.endswith(b"\n") and log.taken > 0
        self._copy_at_once = age_s < RECENT_S

    def _run(self) -> None:
        try:
            if self._copy_at_once and self._current.taken:
                self._need_spool()
            pause = POLL_S
            while not self._stopped.wait(pause):
                pause = 0 if self._step(time.monotonic()) else POLL_S
        except NoRoomError as error:
            self.trouble = f"{self._source.name} is not followed any more: {error}."
        except OSError as error:
            self.trouble = (
                f"{self._source.name} is not followed any more: {error.strerror or error}. Open it again to go on."
            )

    def _step(self, now: float) -> bool:
        """Look once; whether there is more to do at once."""
        log = self._current
        if log.look(now):
            if log.was_replaced():
                self._truncated(log)
            self._take(log)
        elif log.size > log.taken and now - log.changed_at >= STILL_S:
            self._take(log, torn_too=True)
        if self._earlier is not None:
            self._look_at_earlier(self._earlier, now)
        self._look_for_next(now)
        return bool(self._waiting) and self._rotate_when_due(now)

    def _look_at_earlier(self, log: _Generation, now: float) -> None:
        """A writer may go on in a file that was rotated away; its lines are late but not lost."""
        if log.look(now):
            if not log.was_replaced():
                self._take(log)
        elif log.size > log.taken and now - log.changed_at >= STILL_S:
            self._take(log, torn_too=True)

    def _look_for_next(self, now: float) -> None:
        try:
            found = self._path.stat()
        except OSError:  # deleted, or between two names
            return
        if (found.st_dev, found.st_ino) == self._current.key:
            self._forget_waiting()
            return
        latest = self._waiting[-1] if self._waiting else self._current
        if (found.st_dev, found.st_ino) == latest.key:
            return
        try:
            file = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return
        self._waiting.append(_Generation(file, found_at=now))

    def _forget_waiting(self) -> None:
        while self._waiting:
            os.close(self._waiting.pop().file)

    def _rotate_when_due(self, now: float) -> bool:
        log, following = self._current, self._waiting[0]
        following.look(now)
        waited = now - following.found_at
        quiet = now - log.changed_at >= GRACE_S
        due = quiet and (following.size > 0 or waited >= STILL_S)
        if not (due or waited >= OVERLAP_S or len(self._waiting) > 1):
            return False
        log.look(now)
        self._take(log, torn_too=True)
        self._mark("rotated", ROTATED)
        if self._earlier is not None:
            os.close(self._earlier.file)
        self._earlier, self._current = log, self._waiting.pop(0)
        self._current.stamp = (-1, -1)  # look at it afresh
        return True

    def _truncated(self, log: _Generation) -> None:
        lost = self._spool is None
        self._need_spool()
        self._mark("truncated", TRUNCATED + (LOST if lost and self._lost_to else ""))
        log.start_again()

    def _take(self, log: _Generation, *, torn_too: bool = False) -> None:
        """Append whole lines to the spool; with `torn_too` a last line without an end as well."""
        end = log.size if torn_too else log.end_of_lines()
        if end <= log.taken:
            return
        spool = self._need_spool()
        if self._torn and not (log is self._current and log.torn):
            spool.write(b"\n")  # somebody else's line ends here
        while log.taken < end and not self._stopped.is_set():
            data = read_at(log.file, log.taken, min(end - log.taken, _COPY_BYTES))
            if not data:  # truncated meanwhile; the next look says so
                break
            spool.write(data)
            log.taken += len(data)
            self._torn = log.torn = not data.endswith(b"\n")
        log.remember()
        self._publish(spool)

    def _mark(self, name: str, reason: str) -> None:
        spool = self._need_spool()
        line = {"t": time.time_ns(), "src": 0, "mark": name, "reason": reason}
        spool.write(b"\n" * self._torn + json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._torn = self._current.torn = False
        self.rotations += 1
        self._publish(spool)

    def _publish(self, spool: Spool) -> None:
        if spool.size > self._settled:
            self.grown_at = time.monotonic()
            self._settled = spool.size

    def _need_spool(self) -> Spool:
        """The spool, filled with what was read before, as far as that is still there."""
        if self._spool is not None:
            return self._spool
        log, spool = self._current, Spool(self._path.name)
        self._spool = spool
        if log.was_replaced() or spool.fill_from(log.file, log.taken, self._stopped) < log.taken or log.was_replaced():
            spool.skip(log.taken)
            self._lost_to = log.taken
        self._ready = True
        return spool


class _Generation:
    """One of the files that were at the log's place, one after the other.

    Attributes:
        taken: bytes from its start that are in the spool.
        size: bytes in it when last looked at.
        changed_at: when it was last seen to change, by the monotonic clock.
        torn: what was taken ends within a line.
        tail: the last bytes taken.
    """

    def __init__(self, file: int, *, found_at: float = 0.0) -> None:
        self.file = file
        self.found_at = found_at
        status = os.fstat(file)
        self.key = (status.st_dev, status.st_ino)
        self.written_at_s = status.st_mtime
        self.stamp = (-1, -1)
        self.size = self.taken = 0
        self.changed_at = found_at
        self.torn = False
        self.tail = self._head = b""
        self._scanned = 0

    def look(self, now: float) -> bool:
        """Whether it has changed since it was last looked at."""
        status = os.fstat(self.file)
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp == self.stamp:
            return False
        self.stamp, self.size, self.changed_at = stamp, status.st_size, now
        return True

    def was_replaced(self) -> bool:
        """Whether what was taken is no longer what it begins with."""
        if os.fstat(self.file).st_size < self.taken or read_at(self.file, 0, len(self._head)) != self._head:
            return True
        return read_at(self.file, self.taken - len(self.tail), len(self.tail)) != self.tail

    def remember(self) -> None:
        """Note what was taken, to know it again."""
        if len(self._head) < _HEAD_BYTES:
            self._head = read_at(self.file, 0, min(self.taken, _HEAD_BYTES))
        start = max(0, self.taken - _TAIL_BYTES)
        self.tail = read_at(self.file, start, self.taken - start)

    def start_again(self) -> None:
        """It was truncated: what is in it is new."""
        self.taken = self._scanned = self._hole()
        self.tail = self._head = b""
        self.torn = False

    def _hole(self) -> int:
        """A writer that does not append goes on where it was, and leaves zeros before."""
        place = 0
        while (data := read_at(self.file, place, _COPY_BYTES)) and data[:1] == b"\0":
            zeros = len(data) - len(data.lstrip(b"\0"))
            place += zeros
            if zeros < len(data):
                break
        return place

    def end_of_lines(self) -> int:
        """Where its last whole line ends; where it was taken to when no more have ended. Looks at no byte twice."""
        least = max(self._scanned, self.taken)
        stop = self.size
        while stop > least:
            start = max(least, stop - _LOOK_BYTES)
            found = read_at(self.file, start, stop - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            stop = start
        self._scanned = self.size
        return self.taken
