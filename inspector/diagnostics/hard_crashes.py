"""What is left of a run that ended hard: a file of its own in the log folder, into which Python's fault handler writes.

A run holds its file while it lives and removes it when it ends well. So of a file that nobody holds:

- with nothing but facts in it, its run was killed or the power went; there is nothing to tell, and what was captured
  is offered by `captures`;
- with a dump in it (SIGSEGV, SIGABRT, a failed start), it is offered at the next start, until it is discarded.

Lines that begin with "# " are facts about the run; everything else is a dump. In it, lines that begin with "! " are
what an error, or Qt, said of itself, secrets masked: it may quote anything (`crash_report.said`).
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

from inspector.base.held_file import hold
from inspector.base.paths import log_folder

_log = logging.getLogger(__name__)

Mask = Callable[[str], str]
"""Text with its secrets replaced."""

_SUFFIX = ".run"
_FACT = "# "
_MOST_DUMPS = 10
_DUMP_LIFETIME_S = 30 * 24 * 3600
"""So many dumps are kept, for so long, if nobody asks for them."""
_YOUNG_S = 10
"""A file without a dump is left alone for so long: its run may be about to hold it."""
_READ_BYTES = 256 << 10
"""Of a dump: many threads in deep recursion write no more."""

_descriptor: int | None = None
"""The open file of this run."""


@contextmanager
def watched(mask: Mask) -> Generator[None]:
    """Note how this run ends, should it end hard; an error that ends it is noted, too, and raised on.

    Args:
        mask: replaces secrets in what an error says of itself.
    """
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

    with contextlib.suppress(Exception):  # that one counts, not what comes of telling it
        dump(traceback_words(error, words=mask))


def note(name: str, value: str) -> None:
    """Write down a fact about this run, for a report; nothing where it is not watched."""
    _write(f"{_FACT}{name}: {' '.join(value.split())}\n")


def dump(text: str) -> None:
    """Write down why this run is about to end hard."""
    _write("".join(f"{line}\n" for line in text.splitlines()))


def _write(text: str) -> None:
    if _descriptor is not None:
        with contextlib.suppress(OSError):
            os.write(_descriptor, text.encode(errors="replace"))


def _begin() -> Path | None:
    global _descriptor
    try:
        path = log_folder() / f"{time.strftime('%Y-%m-%d %H.%M.%S')} {os.getpid()}{_SUFFIX}"
        _descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:  # the program runs without, too
        _log.warning("A hard crash of this run could not be noted: %s", error.strerror or error)
        return None
    with contextlib.suppress(OSError):  # where nothing can be held a dump may be offered while its run lives
        hold(_descriptor)
    _write(f"{_FACT}started: {time.strftime('%Y-%m-%d %H:%M:%S')}\n{_FACT}process: {os.getpid()}\n")
    faulthandler.enable(_descriptor, all_threads=True)
    return path


def _end(path: Path | None, *, keep: bool) -> None:
    global _descriptor
    if path is None or _descriptor is None:
        return
    faulthandler.disable()
    if not keep:
        with contextlib.suppress(OSError):  # while it is held; Windows wants it closed first
            path.unlink()
    with contextlib.suppress(OSError):
        os.close(_descriptor)
    _descriptor = None
    if not keep and sys.platform == "win32":
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@dataclass
class HardCrash:
    """A dump an earlier run left, held by this process so that no other offers it.

    Attributes:
        path: the file.
        facts: what the run noted about itself, as (name, value).
        dump: why it ended.
        ended: when, seconds since the Unix epoch.
    """

    path: Path
    facts: list[tuple[str, str]]
    dump: str
    ended: float
    _descriptor: int

    def release(self) -> None:
        """Let go: it is offered again."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """Delete it."""
        if sys.platform == "win32":
            self.release()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.release()


def left_over() -> list[HardCrash]:
    """Dumps of runs that have ended, latest first; what tells nothing, and what is too old or too much, is removed.

    Files of runs that live, and dumps another process offers, are left out. Trouble with one hides that one only.
    """
    found: list[HardCrash] = []
    with contextlib.suppress(OSError):
        for path in log_folder().glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                crash = _look_at(path)
                if crash is not None:
                    found.append(crash)
    found.sort(key=lambda crash: crash.ended, reverse=True)
    for place, crash in list(enumerate(found)):
        if place >= _MOST_DUMPS or time.time() - crash.ended > _DUMP_LIFETIME_S:
            crash.discard()
            found.remove(crash)
    return found


def _look_at(path: Path) -> HardCrash | None:
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        free = hold(descriptor)
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
    if time.time() - status.st_mtime < _YOUNG_S:
        crash.release()
    else:
        crash.discard()
    return None
