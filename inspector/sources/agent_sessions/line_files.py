"""Sessions in files of JSON Lines: their listing, and their facts from the ends of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from inspector.sources.agent_sessions.files import END_BYTES, FileEnds, Found
from inspector.sources.agent_sessions.session import AgentSession

LINES = ".jsonl"
"""Ending of the files."""
_FIRST_BYTES = 16 << 10
"""Bytes in which most files name their project and first prompt: further ones are read only for the others."""
_T = TypeVar("_T")


class LineFacts(NamedTuple):
    """Facts that one record states about its session; empty for the others.

    Attributes:
        project, prompt: the first one counts.
        other_prompt: of a session without a prompt, the last one counts.
        title: the last one of the highest rank counts.
        model: the last one counts.
    """

    project: str = ""
    prompt: str = ""
    other_prompt: str = ""
    title: str = ""
    model: str = ""
    title_rank: int = 0


NO_FACTS = LineFacts()


def sessions_in(program: str, files: Iterable[Found], project: str = "") -> Iterator[AgentSession]:
    """Yields a session for each file of lines; the name of the file is its identifier.

    Args:
        program: name of the format.
        files: also others.
        project: of all of them.
    """
    for found in files:
        if found.name.endswith(LINES):
            name = found.name.removesuffix(LINES)
            yield AgentSession(program, name, Path(found.path), found.modified, found.size, project)


def complete_from_lines(
    session: AgentSession, decoder: msgspec.json.Decoder[_T], facts_of: Callable[[_T], LineFacts], *,
    titles: tuple[bytes, ...] = (), model: bytes = b'odel"',
) -> None:  # fmt: skip
    """Completes a session from the ends of its file. Never raises OSError.

    Decodes forward to the project and the first prompt, and backward to the last model and the titles. Decoding both
    ends would take half of the time in which 5,000 sessions are listed.

    Args:
        session: with the facts that its place states.
        decoder: of the records; lines that it refuses are skipped.
        facts_of: returns the facts of a record.
        titles: each record with a title contains one of these.
        model: each record with a model contains this.
    """
    facts_in = _facts_reader(decoder, facts_of)
    with FileEnds(str(session.path), END_BYTES) as ends:
        head = ends.read_head(_FIRST_BYTES)
        tail = ends.tail
        other = _complete_beginning(session, head, facts_in)
        if not (session.prompt and session.project) and len(head) < ends.size:
            longer = ends.read_head(END_BYTES)
            for data in (longer[len(head) :], tail):
                other = _complete_beginning(session, data, facts_in) or other
            head = longer
    session.prompt = session.prompt or other
    ranked: dict[int, str] = {}
    for data in (tail, head):
        for facts in map(facts_in, _lines_with((model,), data)) if not session.model else ():
            if facts.model:
                session.model = facts.model
                break
        for facts in map(facts_in, _lines_with(titles, data)):
            if facts.title:
                ranked.setdefault(facts.title_rank, facts.title)
    session.title = ranked[max(ranked)] if ranked else session.title


def _facts_reader(
    decoder: msgspec.json.Decoder[_T], facts_of: Callable[[_T], LineFacts]
) -> Callable[[bytes], LineFacts]:  # fmt: skip
    decode = decoder.decode

    def facts_in(line: bytes) -> LineFacts:
        try:
            return facts_of(decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return NO_FACTS

    return facts_in


def _complete_beginning(session: AgentSession, data: bytes, facts_in: Callable[[bytes], LineFacts]) -> str:
    """Adds the first project and prompt among some lines. Returns the last replacement for a prompt."""
    start, other = 0, ""
    while start < len(data) and not (session.prompt and session.project):
        stop = data.find(b"\n", start)
        stop = stop if stop >= 0 else len(data)
        facts = facts_in(data[start:stop])
        session.project, session.prompt = session.project or facts.project, session.prompt or facts.prompt
        other, start = facts.other_prompt or other, stop + 1
    return other


def _lines_with(marks: tuple[bytes, ...], data: bytes) -> Iterator[bytes]:
    """Yields the lines that contain one of some substrings, the last first."""
    stop = len(data)
    # A search forward takes a tenth of the time of one backward, and most files have no title.
    marks = tuple(mark for mark in marks if mark in data)
    while (place := max((data.rfind(mark, 0, stop) for mark in marks), default=-1)) >= 0:
        start = data.rfind(b"\n", 0, place) + 1
        end = data.find(b"\n", place, stop)
        yield data[start : end if end >= 0 else stop]
        stop = start
