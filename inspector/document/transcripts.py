"""Reads several transcript files as one document: a session with sub-agents, or a folder of sessions.

New files are added as they appear: a sub-agent's file is created at its start.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from inspector.sources.follow import FollowedLog
from inspector.sources.inputs import holds_lines, may_grow, open_source
from inspector.sources.transcript_files import Member, ReadCache, members_of
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture

_EVERY_S = 1.0
_LONGEST_LOOK = 0.02
"""Seconds allowed for a search for new files; a slower folder is searched less often in proportion."""
_FOLLOWED_FOR_S = 600.0
"""Age in seconds of the last write below which a file is followed; others are checked now and then."""
_MOST_FOLLOWED = 64
_LEFT_OUT = "{:,} of its files are left out: the newest {:,} are read, as each stays open."


def register_member(capture: Capture, place: int, member: Member) -> None:
    """Registers facts about a source that is a session's file."""
    transcripts = capture.transcripts
    if member.session:
        transcripts.use_session(place, member.session)
    if member.agent is not None:
        facts = member.facts
        transcripts.use_agent(place, member.agent)
        if facts is not None:
            transcripts.add_agent_facts(
                member.agent, facts.tool_use_id, facts.parent_agent_id, facts.description, facts.agent_type
            )


class TranscriptFiles:
    """The files of one document, including new ones.

    Attributes:
        sources: the files read, in the order of the capture's sources.
        members: facts about each of them.
        followed: followed logs by place.
        trouble: problem with reading, as a sentence, if any.
    """

    def __init__(self, path: Path, capture: Capture) -> None:
        """Finds and opens the files.

        Raises:
            OSError: the first file cannot be read.
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
        self._seen = ReadCache()
        members, more = members_of(path, self._seen)
        if more:
            self.trouble = _LEFT_OUT.format(more, len(members))
        for member in members:
            if not self.sources:
                self._open(member)
            else:
                self._try_open(member)

    def _open(self, member: Member) -> SourceFile:
        self._known.add(member.path)
        name = member.path.name
        # Plain files are read in place; packed and converted ones need a spool.
        source = SourceFile(member.path, name) if holds_lines(member.path) else open_source(member.path, name)
        register_member(self._capture, self._capture.add_source(source), member)
        self.sources.append(source)
        self.members.append(member)
        return source

    def _try_open(self, member: Member) -> SourceFile | None:
        try:
            return self._open(member)
        except OSError as error:
            self.trouble = f"{member.path.name} cannot be read: {error.strerror or error}."
            return None

    def follow(self) -> None:
        """Follows the first file, and recently written ones."""
        now = time.time()
        for place, source in enumerate(self.sources):
            self._sizes[place] = source.size
            with contextlib.suppress(OSError):  # deleted meanwhile
                # Each followed file has a thread, so old ones are only checked for growth.
                if not place or now - source.path.stat().st_mtime < _FOLLOWED_FOR_S:
                    self._follow(place)

    def _follow(self, place: int) -> None:
        if len(self.followed) < _MOST_FOLLOWED and may_grow(self.sources[place]):
            try:
                self.followed[place] = FollowedLog(self.sources[place])
            except OSError as error:
                self.trouble = f"{self.sources[place].name} is not followed: {error.strerror or error}."

    def update(self) -> list[SourceFile]:
        """Makes new data readable; returns new files, at most once a second. Call it with each poll."""
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
        # A search of 0.2 s postpones the next one by 10 s, so it takes at most 2 % of the time.
        self._due += (time.monotonic() - began) / _LONGEST_LOOK
        return [source for member in members if (source := self._open_new(member)) is not None]

    def _open_new(self, member: Member) -> SourceFile | None:
        if member.path in self._known:
            return None
        source = self._try_open(member)
        if source is not None:
            self._follow(len(self.sources) - 1)
        return source

    def close(self) -> None:
        """Ends all following."""
        for log in self.followed.values():
            log.close()
        self.followed.clear()
