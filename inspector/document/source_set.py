"""The set of sources of a document: logs of folders, opened files, growing ones, session members.

Sources open in order of their names, so the document does not depend on the order of choice.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.base.open_files import allow_open_files
from inspector.document.transcripts import TranscriptFiles, register_member
from inspector.formats.table import FOLDER_SUFFIXES
from inspector.sources.follow import FollowedLog, can_be_followed
from inspector.sources.inputs import is_stream, open_source
from inspector.sources.transcript_files import MOST_FILES as MOST_FILES
from inspector.sources.transcript_files import Member, repeated_files
from inspector.store.files.capability_decisions import FILE_NAME
from inspector.store.files.source_files import ClockBasis, SourceFile
from inspector.store.messages.capture import Capture

_ENDINGS = "|".join(("jsonl", "ndjson", "json", "log", *(one.removeprefix(".") for one in FOLDER_SUFFIXES)))
_LOGS = re.compile(rf"\.({_ENDINGS})([.-]\d+)?(\.gz|\.zst)?$", re.IGNORECASE)
_ARCHIVES = ("", ".gz", ".zst")
_LOGS_FOLDER = "logs"
"""Folder of participants' logs beside a gateway's."""


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """One source of a document, as chosen.

    Attributes:
        path: a log, or the file of an agent's session.
        parts: rotated parts of the log, oldest first.
        is_session: opens the session with the files of its sub-agents.
        is_live: a live session of this program writes it.
        clock_offset_ns: user's correction of its times; None to estimate one.
        reading: forced format; None for detection.
        name: display name, if it differs from the file's name.
        member: facts about a single file of a session.
    """

    path: Path
    parts: tuple[Path, ...] = ()
    is_session: bool = False
    is_live: bool = False
    clock_offset_ns: int | None = None
    reading: str | None = None
    name: str | None = None
    member: Member | None = None

    @property
    def key(self) -> Path:
        """Identity, independent of options."""
        return self.path.absolute()


def logs_in(folder: Path) -> list[Path]:
    """Returns the logs in a folder and in its `logs`, sorted, without hidden ones and links.

    A gateway's decisions are read with the log beside them, and are no source.
    """
    found: list[Path] = []
    for where in (folder, folder / _LOGS_FOLDER):
        with contextlib.suppress(OSError):  # missing or not readable
            logs = [path for path in where.iterdir() if _is_log(path)]
            repeated = repeated_files(where, {path.name for path in logs})
            found += [path for path in logs if path.name not in repeated]
    return sorted(found)


def is_log_name(name: str) -> bool:
    """Returns True if a file is named like a log and not hidden."""
    return not name.startswith(".") and _LOGS.search(name) is not None


def _is_log(path: Path) -> bool:
    return is_log_name(path.name) and not path.is_symlink() and path.is_file() and not _annotates(path)


def _annotates(path: Path) -> bool:
    if path.name not in {FILE_NAME + end for end in _ARCHIVES}:
        return False
    return any((path.parent / ("envelope-history.jsonl" + end)).is_file() for end in _ARCHIVES)


class SourceSet:
    """The sources of a document with several files.

    Attributes:
        choices: the choices, in order.
        sources: the files read, in the order of the capture's sources.
        live: the one written by a live session, if any.
        trouble: problems with reading, as sentences, if any.
    """

    def __init__(self, choices: Sequence[SourceChoice], capture: Capture) -> None:
        """Opens the files; leaves out unreadable ones.

        Args:
            choices: in order (`in_order`).
            capture: receives them as its sources.

        Raises:
            OSError: no file can be read.
        """
        self.choices = list(choices)
        self.sources: list[SourceFile] = []
        self.live: SourceFile | None = None
        self._troubles: list[str] = []
        self._sessions: list[TranscriptFiles] = []
        self._followed: list[FollowedLog] = []
        # Each file stays open, and systems limit open files.
        most = allow_open_files(MOST_FILES)
        if len(self.choices) > most:
            self._troubles.append(f"Of {len(self.choices):,} files the first {most:,} are read, as each stays open.")
            del self.choices[most:]
        names = _names([one.path for one in self.choices])
        failed: OSError | None = None
        for choice, name in zip(self.choices, names, strict=True):
            try:
                self._open(choice, choice.name or name, capture)
            except OSError as error:
                # One unreadable file does not keep the others from opening.
                failed = failed or error
                self._troubles.append(f"{choice.path.name} cannot be read: {error.strerror or error}.")
        if not self.sources:
            raise failed or FileNotFoundError(2, "there is nothing to read")

    def _open(self, choice: SourceChoice, name: str | None, capture: Capture) -> None:
        if choice.is_session:
            files = TranscriptFiles(choice.path, capture)
            self._sessions.append(files)
            opened = files.sources
        else:
            source = open_source(choice.path, name, parts=choice.parts)
            place = capture.add_source(source)
            if choice.member is not None:
                register_member(capture, place, choice.member)
            opened = [source]
            if choice.is_live:
                self.live = source
                # Its writer may be in the middle of a line.
                source.read_limit = end_of_lines(source)
        for source in opened:
            source.chosen_format = choice.reading
            if choice.clock_offset_ns is not None:
                # A correction by the user outranks every estimate.
                source.clock_offset_ns, source.clock_basis = choice.clock_offset_ns, ClockBasis.SET_BY_USER
        self.sources += opened

    def member_of(self, source: SourceFile) -> Member | None:
        """Returns facts about a source that is a session's file, if it is one."""
        known = (
            (one, member) for files in self._sessions for one, member in zip(files.sources, files.members, strict=True)
        )
        chosen = next((choice.member for choice in self.choices if choice.path == source.path), None)
        return next((member for one, member in known if one is source), chosen)

    @property
    def is_one_session(self) -> bool:
        """Returns True for the files of one session, which need no comparison."""
        return len(self.choices) == 1 and bool(self._sessions)

    @property
    def problem(self) -> str | None:
        """Problems with reading or following, as sentences."""
        found = [*self._troubles, *(files.trouble for files in self._sessions)]
        found += [log.trouble for log in self._followed]
        return " ".join(sentence for sentence in found if sentence is not None) or None

    def follow_logs(self) -> FollowedLog | None:
        """Follows all possible logs; returns the first, if any."""
        for files in self._sessions:
            files.follow()
        taken = {id(source) for files in self._sessions for source in files.sources}
        for source in self.sources:
            if id(source) in taken or source is self.live or not can_be_followed(source):
                continue
            try:
                self._followed.append(FollowedLog(source))
            except OSError as error:
                self._troubles.append(f"{source.name} is not followed: {error.strerror or error}.")
        logs = [*self._followed, *(log for files in self._sessions for log in files.followed.values())]
        return logs[0] if logs else None

    @property
    def is_following(self) -> bool:
        """Returns True if any log is still followed."""
        return any(log.is_following for log in self._followed) or bool(self._sessions)

    @property
    def growing_sources(self) -> list[SourceFile]:
        """Sources that may grow at any time."""
        found = [log.source for log in self._followed if log.is_following]
        for files in self._sessions:
            found += [log.source for log in files.followed.values() if log.is_following]
        return found if self.live is None else [*found, self.live]

    def update(self) -> list[SourceFile]:
        """Makes new data readable; returns new files."""
        for log in self._followed:
            log.update()
        found = [source for files in self._sessions for source in files.update()]
        self.sources += found
        return found

    def update_path(self, before: Path, path: Path) -> None:
        """Updates the path of a moved source."""
        self.choices = [replace(one, path=path, name=None) if one.path == before else one for one in self.choices]

    def end_live(self) -> None:
        """Marks the live session as ended."""
        self.live = None

    def close(self) -> None:
        """Ends all following."""
        for log in self._followed:
            log.close()
        for files in self._sessions:
            files.close()


def end_of_lines(source: SourceFile) -> int:
    """Returns the end of the last whole line of a growing file."""
    stop, step = source.size, 1 << 16
    # Backwards in steps, since a live capture can be large.
    while stop > 0:
        start = max(0, stop - step)
        found = source.read(start, stop - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        stop = start
    return 0


def _names(paths: Sequence[Path]) -> list[str | None]:
    """Returns distinctive display names: the file name, with folders for duplicates."""
    names = [path.name for path in paths]
    return [None if is_stream(path) or names.count(path.name) == 1 else _with_folder(path, paths) for path in paths]


def _with_folder(path: Path, paths: Sequence[Path]) -> str:
    """Returns the shortest path suffix that distinguishes a file from its namesakes."""
    alike = [other.absolute().parts for other in paths if other.name == path.name and other != path]
    own = path.absolute().parts
    for count in range(2, len(own) + 1):
        if all(own[-count:] != other[-count:] for other in alike):
            return "/".join(own[-count:])
    return str(path)
