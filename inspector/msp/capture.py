"""Shows a session document as a capture through a projection, and updates it after edits.

The document is edited and saved; the capture is read-only and made from it (`msp.projection`). It follows edits by
appending, by rewriting in place, or by reporting that it cannot.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Protocol

from inspector.analysis import Analysis
from inspector.analysis.findings.batch import ReportedProblem
from inspector.msp.document import Edit, SessionDocument
from inspector.msp.files import SUFFIXES, NotMspError, is_packed
from inspector.msp.frames import START_ITEM
from inspector.msp.objects import Message
from inspector.msp.problems import Problem
from inspector.msp.projection import HEADER, Projection
from inspector.msp.sniffing import HEAD_BYTES, is_msp, is_msp_stream
from inspector.sources.decoders import DamagedError, decoder_for
from inspector.store.files.source_files import SourceFile
from inspector.store.files.spool import Spool
from inspector.store.messages.capture import Capture

FORMAT = "msp-session"
"""Name of the document's format."""

_WAIT_S = 0.002
_MOST_NAMES = 2_000
_MOST_DEEP = 2
"""Limits of names in a folder, and of levels below it, in the search for session files."""
_ROW_PROBLEMS = frozenset({"msp-visibility"})
"""Problems that are found in rows of any capture instead of the document."""


def is_session_document(path: Path) -> bool:
    """Returns True if a file, or any file of a folder, begins like a session document.

    Raises:
        OSError: it cannot be read.
    """
    if not path.is_dir():
        return path.is_file() and _is_msp_file(path)
    for inner in _some_files(path):
        with contextlib.suppress(OSError):  # another file of the folder may match
            if _is_msp_file(inner):
                return True
    return False


def holds_sessions(source: SourceFile) -> bool | None:
    """Returns True if a filling file of ours contains sessions; None while that is undecided.

    Raises:
        OSError: it cannot be read.
    """
    growing = source.is_growing  # checked before the read: no data follows after the end
    head = source.read(0, HEAD_BYTES)
    return is_msp_stream(head) if growing else is_msp(head)


def _some_files(folder: Path) -> Iterator[Path]:
    """Yields possible session files of a folder, within limits: a user may select a whole disk by mistake."""
    seen = 0
    for place, folders, names in os.walk(folder):
        deep = len(Path(place).relative_to(folder).parts) >= _MOST_DEEP
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            seen += 1
            # Both limits together bound the time of the search, even on network drives.
            if seen > _MOST_NAMES:
                return
            plain = name.removesuffix(".gz").removesuffix(".zst")
            if not name.startswith(".") and plain.endswith(SUFFIXES):
                path = Path(place, name)
                if path.is_file() and not path.is_symlink():  # a pipe never ends, and a link leads elsewhere
                    yield path
        seen += len(folders)


def _is_msp_file(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not is_packed(head):
        return is_msp(head)
    plain = b""
    # A damaged file may still have a readable beginning.
    with contextlib.suppress(DamagedError):
        for piece in decoder_for(head).feed(head):
            plain += piece
            if len(plain) >= HEAD_BYTES:
                break
    return is_msp(plain)


class SpoolFeed:
    """A spool that is filled at once and grows by edits; a `Feed` of `source_files` that never waits."""

    def __init__(self, spool: Spool) -> None:
        self.spool = spool

    @property
    def path(self) -> Path:
        return self.spool.path

    @property
    def is_growing(self) -> bool:
        """False: only edits append to it."""
        return False

    @property
    def progress(self) -> tuple[int, int]:
        return self.spool.size, self.spool.size

    @property
    def container(self) -> str | None:
        """None: its records are its lines."""
        return None

    @property
    def is_unopened(self) -> bool:
        """False: it is no pipe."""
        return False

    @property
    def problem(self) -> str | None:
        """None: filling never fails early."""
        return None

    def wait(self, timeout_s: float) -> None:
        """Returns at once; only edits append."""

    def stop(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        self.spool.close()


class MspCapture:
    """Projection of a session document in a spool.

    Attributes:
        document: the sessions.
        source: source for readers; None before the end of `fill`.
        revision: revision of the document at the projection.
        is_behind: the document lost an object, so a new projection is needed.
    """

    def __init__(self, document: SessionDocument, path: Path, name: str) -> None:
        """Prepares the projection. Raises OSError if there is no space for a spool."""
        self.document = document
        self.source: SourceFile | None = None
        self.is_behind = False
        self.revision = document.revision
        self._path, self._name = path, name
        self._spool = Spool("sessions.ctxcap")
        self._projection: Projection | None = None
        self._rows_about: dict[Problem, int] = {}

    @property
    def projection(self) -> Projection:
        """Maps rows to objects; created by the first access."""
        if self._projection is None:
            self.revision = self.document.revision
            self._projection = Projection(self.document)
        return self._projection

    def fill(self) -> Generator[tuple[int, int]]:
        """Writes the projection, some thousand rows per step; yields rows written and their total."""
        try:
            self._spool.write(HEADER)
            rows, done = len(self.projection), 0
            for lines in self.projection.lines():
                self._spool.write(lines)
                done += lines.count(b"\n")
                yield done, rows
            self.source = SourceFile(self._path, self._name, feed=SpoolFeed(self._spool))
        # A stopped generator too must not leave its file open.
        except BaseException:
            self._spool.close()
            raise

    # Following edits

    def apply_edit(self, edit: Edit, capture: Capture) -> list[int] | None:
        """Applies an edit to the spool; new rows are appended.

        Returns:
            Rows with rewritten lines; None if a new projection is needed.
        """
        if self.is_behind:
            return None
        if edit.kind in ("visibility", "policy"):
            row = self._row_of(edit)
            if row is not None and self._write_anew(row, capture):
                return [row]
        elif edit.kind == "append":
            first = self.projection.append_rows(one.owner if isinstance(one, Message) else one for one in edit.added)
            if first is not None:
                for lines in self.projection.lines(first):
                    self._spool.write(lines)
                return []
        self.is_behind = True
        return None

    def _row_of(self, edit: Edit) -> int | None:
        if edit.message is not None:
            return self.projection.row_of_message(edit.message)
        return self.projection.row_of(edit.key, START_ITEM)

    def _write_anew(self, row: int, capture: Capture) -> bool:
        """Rewrites a row's line in place; returns False if the line has become too long."""
        line = self.projection.line(row)[:-1]
        room = int(capture.columns["length"][row])
        spare = line.rstrip(b"}")
        if len(line) > room:
            return False
        # Blanks before the closing braces keep the length, so later offsets stay valid.
        filled = spare + b" " * (room - len(line)) + line[len(spare) :]
        self._spool.overwrite(int(capture.columns["offset"][row]), filled)
        # The decoded record in the cache is out of date.
        capture.records.invalidate(row)
        return True

    # Problems

    def problems(self) -> Sequence[ReportedProblem]:
        """Returns the document's problems by row; problems without an object belong to the first row."""
        problems = [problem for problem in self.document.problems if problem.code not in _ROW_PROBLEMS]
        new = [problem for problem in problems if problem not in self._rows_about]
        rows = self.projection.rows_about((problem.key, problem.message) for problem in new)
        # Rows are looked up once, since problems stay the same over many edits.
        self._rows_about |= {problem: row for problem, row in zip(new, rows, strict=True) if row is not None}
        found = [ReportedProblem(problem.code, self._row_about(problem), problem.text) for problem in problems]
        return [*found, *self._overlap_problems()]

    def _row_about(self, problem: Problem) -> int:
        if not problem.key and problem.code == "msp-unreadable" and self.projection.first_unread is not None:
            return self.projection.first_unread
        return self._rows_about.get(problem, 0)

    def _overlap_problems(self) -> list[ReportedProblem]:
        """Returns snapshots that overlap with the previous one."""
        found: list[ReportedProblem] = []
        for session in self.document.sessions:
            spans = sorted((one.covers, number) for number, one in enumerate(session.snapshots) if one.covers)
            for (before, _), (span, number) in pairwise(spans):
                if span[0] < before[1]:
                    text = f"It covers {span[0]} to {span[1]}, which overlaps the snapshot before."
                    row = self.projection.row_of_snapshot(session.key, number)
                    found += [ReportedProblem("msp-covers-overlap", row, text)] if row is not None else []
        return found


def read_sessions(paths: Sequence[Path], *, wait: bool) -> Generator[None, None, SessionDocument]:
    """Reads sessions; unless `wait` is set, in a thread with empty steps, so that a window stays responsive.

    Raises:
        OSError: a file cannot be read.
        NotMspError: no file contains a session object.
    """
    if wait:
        return SessionDocument.read(paths)
    found: list[SessionDocument | Exception] = []

    def read() -> None:
        try:
            # A list as a slot: the thread cannot return a value.
            found.append(SessionDocument.read(paths))
        except (OSError, NotMspError) as error:
            found.append(error)

    # A daemon, since the program may end while it reads.
    thread = Thread(target=read, name="read sessions", daemon=True)
    thread.start()
    while thread.is_alive():
        # Two milliseconds give the thread time without a delay of the window.
        thread.join(_WAIT_S)
        yield
    outcome = found[0] if found else OSError("internal error; the log file has the details")
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


class ShowsSessions(Protocol):
    """The document that owns the capture."""

    capture: Capture
    analysis: Analysis

    def poll(self) -> bool:
        """Reads new data of its sources."""
        ...

    def take_rewritten(self, rows: Sequence[int]) -> None:
        """Reads rewritten lines again."""
        ...

    def catch_up(self) -> None:
        """Runs the checks on pending changes."""
        ...


class SessionFollowing:
    """Applies edits of a session document to its capture.

    Attributes:
        shown: the projection.
    """

    def __init__(self, document: ShowsSessions, shown: MspCapture) -> None:
        self.shown = shown
        self._document = document
        self._revision = shown.revision

    @property
    def missed_any(self) -> bool:
        """Returns True if edits were missed."""
        return self.shown.is_behind or self._revision != self.shown.document.revision

    def start(self) -> None:
        """Starts to follow."""
        # Edits during the projection are not in it.
        self.shown.is_behind |= self.missed_any
        if self not in self.shown.document.observers:
            self.shown.document.observers.append(self)

    def stop(self) -> None:
        if self in self.shown.document.observers:
            self.shown.document.observers.remove(self)

    def session_edited(self, edit: Edit) -> None:
        """Applies an edit by appending or rewriting; otherwise a new projection is needed."""
        document = self._document
        self._revision = self.shown.document.revision
        rows = self.shown.apply_edit(edit, document.capture)
        if rows is None:
            return
        document.take_rewritten(rows)
        # Rows must be there when the caller of the edit looks for them.
        while document.poll():
            pass
        self.report_problems()

    def report_problems(self) -> None:
        """Passes the document's present problems to the findings."""
        findings = self._document.analysis.findings
        problems = self.shown.problems()
        if list(problems) != list(findings.reported):
            findings.reported = problems
            self._document.catch_up()
