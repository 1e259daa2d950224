"""Several files of transcripts as one document: a session with its sub-agents, the sessions of a folder.

Files that arrive later are taken in as they come: a sub-agent's is made when it starts.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from inspector.sources.follow import FollowedLog
from inspector.sources.inputs import open_source
from inspector.sources.transcript_files import Member, Seen, members_of
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture

PACKED = ".zst"
"""How the name of a thread ends that Codex has compressed."""
_EVERY_S = 1.0
_LONGEST_LOOK = 0.02
"""Seconds that a look for new files may take; a folder in which it takes longer is looked at as much less often."""
_FOLLOWED_FOR_S = 600.0
"""A file written so recently is followed; others are looked at now and then."""
_MOST_FOLLOWED = 64
_LEFT_OUT = "{} of its files are left out: the newest {:,} are read."


def introduce(capture: Capture, place: int, member: Member) -> None:
    """Tell a capture what is known of one of its sources, by its number, that is a file of a session."""
    transcripts = capture.transcripts
    if member.session:
        transcripts.use_session(place, member.session)
    if member.agent is not None:
        facts = member.facts
        transcripts.use_agent(place, member.agent)
        if facts is not None:
            transcripts.introduce(
                member.agent, facts.tool_use_id, facts.parent_agent_id, facts.description, facts.agent_type
            )


class TranscriptFiles:
    """The files of one document, and what is new among them.

    Attributes:
        sources: what is read, in the order of the capture's sources.
        members: what is known of each of them.
        followed: of these, the logs that are followed, by place.
        trouble: what could not be read, as a sentence; None.
    """

    def __init__(self, path: Path, capture: Capture) -> None:
        """Look for the files, and open them.

        Raises:
            OSError: the first cannot be read.
        """
        self._path = path
        self._capture = capture
        self._known: set[Path] = set()
        self._due = time.monotonic() + _EVERY_S
        self._sizes: dict[int, int] = {}
        self.sources: list[SourceFile] = []
        self.members: list[Member] = []
        self.followed: dict[int, FollowedLog] = {}
        self.trouble: str | None = None
        self._seen = Seen()
        members, more = members_of(path, self._seen)
        if more:
            self.trouble = _LEFT_OUT.format(more, len(members))
        for member in members:
            if not self.sources:
                self._open(member)
            else:
                self._try(member)

    def _open(self, member: Member) -> SourceFile:
        self._known.add(member.path)
        name = member.path.name
        source = open_source(member.path, name) if name.endswith(PACKED) else SourceFile(member.path, name)
        introduce(self._capture, self._capture.add_source(source), member)
        self.sources.append(source)
        self.members.append(member)
        return source

    def _try(self, member: Member) -> SourceFile | None:
        try:
            return self._open(member)
        except OSError as error:
            self.trouble = f"{member.path.name} cannot be read: {error.strerror or error}."
            return None

    def follow(self) -> None:
        """Follow the first file, and those that were written lately."""
        now = time.time()
        for place, source in enumerate(self.sources):
            self._sizes[place] = source.size
            with contextlib.suppress(OSError):  # removed since
                if not place or now - source.path.stat().st_mtime < _FOLLOWED_FOR_S:
                    self._follow(place)

    def _follow(self, place: int) -> None:
        if len(self.followed) < _MOST_FOLLOWED and self.sources[place].feed is None:  # what is packed does not grow
            try:
                self.followed[place] = FollowedLog(self.sources[place])
            except OSError as error:
                self.trouble = f"{self.sources[place].name} is not followed: {error.strerror or error}."

    def update(self) -> list[SourceFile]:
        """Make readable what has come; files that are new, once a second. To be called as the document polls."""
        for log in self.followed.values():
            log.update()
        if time.monotonic() < self._due:
            return []
        self._due = time.monotonic() + _EVERY_S
        for place, size in self._sizes.items():
            if place not in self.followed and self.sources[place].path.exists() and self.sources[place].size > size:
                self._follow(place)
        began = time.monotonic()
        members, _ = members_of(self._path, self._seen)
        self._due += (time.monotonic() - began) / _LONGEST_LOOK
        return [source for member in members if (source := self._new(member)) is not None]

    def _new(self, member: Member) -> SourceFile | None:
        if member.path in self._known:
            return None
        source = self._try(member)
        if source is not None:
            self._follow(len(self.sources) - 1)
        return source

    def close(self) -> None:
        """Follow nothing any more."""
        for log in self.followed.values():
            log.close()
        self.followed.clear()
