"""Finds sessions of Continue: `sessions/<session>.json`, with titles and projects in `sessions/sessions.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.continue_dev import FORMAT
from inspector.formats.entry_builders import text_of
from inspector.formats.file_records import first_record
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.sources.agent_sessions.files import FileEnds, Listing, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_INDEX, _SUFFIX = "sessions.json", ".json"
_MOST_BYTES, _HEAD_BYTES = 16 << 20, 1 << 16
"""Limits in bytes of the index, and of the part of a session's file that is read for its facts."""


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    session_id: str = ""
    title: str = ""
    workspace_directory: str = ""


_index = msgspec.json.Decoder(list[_Entry])


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the home folder of Continue."""
    return (Path(environment.get("CONTINUE_GLOBAL_DIR") or user_folder(environment) / ".continue"),)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names of files and the index."""
    found = list(listing.files(str(root / "sessions")))
    known = next((_entries(one.path, listing) for one in found if one.name == _INDEX), {})
    for one in found:
        name = one.name.removesuffix(_SUFFIX)
        if one.name.endswith(_SUFFIX) and one.name != _INDEX:
            entry = known.get(name, _Entry())
            project = entry.workspace_directory.removeprefix("file://")
            yield AgentSession(FORMAT.name, name, Path(one.path), one.modified, one.size, project, entry.title)


def _entries(path: str, listing: Listing) -> dict[str, _Entry]:
    try:
        return {entry.session_id: entry for entry in _index.decode(read_whole(path, _MOST_BYTES))}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        listing.unreadable.append(path)
        return {}


def complete(session: AgentSession) -> None:
    """Reads title, project and the first prompt from the beginning of a session's file."""
    with FileEnds(str(session.path), 0) as ends:
        found = first_record(ends.read_head(_HEAD_BYTES))
    session.title = session.title or text_or_none(found.get("title")) or ""
    session.project = session.project or (text_or_none(found.get("workspaceDirectory")) or "").removeprefix("file://")
    messages = (mapping_or_empty(item.get("message")) for item in mappings_in(found.get("history")))
    prompts = (text_of(one.get("content")) for one in messages if one.get("role") == "user")
    session.prompt = session.prompt or next(prompts, "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
