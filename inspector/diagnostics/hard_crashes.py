"""Records hard crashes: a file per run in the log folder, written by Python's fault handler.

A run locks its file while it lives and deletes it at a normal end. So an unlocked file means one of two things:

- It contains only facts: the run was killed or the power failed. There is no report, and `captures` offers the data.
- It contains a dump (SIGSEGV, SIGABRT, a failed start): it is offered at the next start, until it is discarded.

Lines with the prefix "# " are facts about the run; all others are the dump. Dump lines with the prefix "! " are
messages of an error or Qt, secrets masked: they may quote anything (`crash_report.marked_message`).
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inspector.base.file_lock import lock_descriptor
from inspector.base.paths import log_folder

_log = logging.getLogger(__name__)

Mask = Callable[[str], str]
"""Returns text with its secrets masked."""

_SUFFIX = ".run"
_FACT = "# "
_MAX_DUMPS = 10
_DUMP_LIFETIME_S = 30 * 24 * 3600
"""Limits of kept dumps: number, and age in seconds."""
_YOUNG_S = 10
"""Age in seconds below which a file without a dump stays: its run may not have locked it yet."""
_READ_BYTES = 256 << 10
"""Bytes read of a dump; many threads in deep recursion write no more."""

_descriptor: int | None = None
"""The open file of this run."""


@contextmanager
def record_crashes(mask: Mask) -> Generator[None]:
    """Records a hard end of this run; an exception is recorded and raised again.

    Args:
        mask: masks secrets in an error's message.
    """
    # The file exists from the start, since a crash leaves no chance to create it.
    path = _begin()
    failed = False
    try:
        yield
    except Exception as error:
        failed = True
        _dump_error(error, mask)
        raise
    finally:
        _end(path, keep=failed)


def _dump_error(error: Exception, mask: Mask) -> None:
    from inspector.diagnostics.crash_report import traceback_words

    with contextlib.suppress(Exception):  # the original error counts, not an error during its report
        write_dump(traceback_words(error, words=mask))


def write_fact(name: str, value: str) -> None:
    """Writes a fact about this run for a report; no effect outside `record_crashes`."""
    _write(f"{_FACT}{name}: {' '.join(value.split())}\n")


def write_dump(text: str) -> None:
    """Writes the reason of an imminent hard end."""
    _write("".join(f"{line}\n" for line in text.splitlines()))


def _write(text: str) -> None:
    if _descriptor is not None:
        with contextlib.suppress(OSError):
            os.write(_descriptor, text.encode(errors="replace"))


def _begin() -> Path | None:
    global _descriptor
    try:
        # The process number, since two instances may start in one second.
        path = log_folder() / f"{time.strftime('%Y-%m-%d %H.%M.%S')} {os.getpid()}{_SUFFIX}"
        _descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:  # the program also runs without
        _log.warning("A hard crash of this run could not be noted: %s", error.strerror or error)
        return None
    with contextlib.suppress(OSError):  # without locks, a dump may be offered while its run lives
        # The lock shows other instances that this run lives.
        lock_descriptor(_descriptor)
    _write(f"{_FACT}started: {time.strftime('%Y-%m-%d %H:%M:%S')}\n{_FACT}process: {os.getpid()}\n")
    # By descriptor: the handler runs in a signal, where Python's own files must not be used.
    faulthandler.enable(_descriptor, all_threads=True)
    return path


def _end(path: Path | None, *, keep: bool) -> None:
    global _descriptor
    if path is None or _descriptor is None:
        return
    # Disabled first: it must never write to a closed descriptor.
    faulthandler.disable()
    if not keep:
        with contextlib.suppress(OSError):  # deleted under the lock; Windows needs it closed first
            path.unlink()
    with contextlib.suppress(OSError):
        os.close(_descriptor)
    _descriptor = None
    if not keep and sys.platform == "win32":
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@dataclass
class HardCrash:
    """A dump of an earlier run, locked by this process so that no other offers it.

    Attributes:
        path: the file.
        facts: the run's own facts, as (name, value).
        dump: reason of its end.
        ended: time of its end, seconds since the Unix epoch.
    """

    path: Path
    facts: list[tuple[str, str]]
    dump: str
    ended: float
    _descriptor: int

    def release(self) -> None:
        """Releases the lock; it is offered again."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """Deletes the file."""
        if sys.platform == "win32":
            self.release()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.release()


def earlier_crashes() -> list[HardCrash]:
    """Returns dumps of ended runs, latest first; deletes empty, old and surplus ones.

    Files of live runs, and dumps offered by another process, are skipped. An error with one hides only that one.
    """
    found: list[HardCrash] = []
    with contextlib.suppress(OSError):
        for path in log_folder().glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                crash = _read_crash(path)
                if crash is not None:
                    found.append(crash)
    # Newest first, so that the oldest are surplus.
    found.sort(key=lambda crash: crash.ended, reverse=True)
    for place, crash in list(enumerate(found)):
        if place >= _MAX_DUMPS or time.time() - crash.ended > _DUMP_LIFETIME_S:
            crash.discard()
            found.remove(crash)
    return found


def _read_crash(path: Path) -> HardCrash | None:
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        # A file that is not locked belongs to a run that ended.
        free = lock_descriptor(descriptor)
    except OSError:
        free = False
    if not free:
        os.close(descriptor)
        return None
    status = os.fstat(descriptor)
    os.lseek(descriptor, 0, os.SEEK_SET)
    lines = os.read(descriptor, _READ_BYTES).decode(errors="replace").splitlines()
    facts = [line.removeprefix(_FACT).partition(": ") for line in lines if line.startswith(_FACT)]
    words = "\n".join(line for line in lines if not line.startswith(_FACT)).strip()
    crash = HardCrash(path, [(name, value) for name, _, value in facts], words, status.st_mtime, descriptor)
    if words:
        return crash
    # A young file may belong to a run that has not locked it yet.
    if time.time() - status.st_mtime < _YOUNG_S:
        crash.release()
    else:
        crash.discard()
    return None
