"""Finds tasks of Cline, Roo Code and Kilo Code: `<extension>/tasks/<task>/api_conversation_history.json`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import editor_folders, user_folder
from inspector.formats.cline import FORMAT
from inspector.formats.cline.reader import typed_text
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_PUBLISHERS = ("saoudrizwan.", "rooveterinaryinc.", "kilocode.")
"""Beginnings of the extensions' names."""
_HISTORY, _ITEM = "api_conversation_history.json", "history_item.json"
_MOST_BYTES = 16 << 20


class _Task(msgspec.Struct, gc=False):
    id: str = ""
    task: str = ""
    workspace: str | None = None
    model: str | None = msgspec.field(default=None, name="modelId")
    folder: str | None = msgspec.field(default=None, name="cwdOnTaskInitialization")


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Any = None


_task = msgspec.json.Decoder(_Task)
_tasks = msgspec.json.Decoder(list[_Task])
_messages = msgspec.json.Decoder(list[_Message])


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the storages of editors' extensions, and the folders of the programs for a terminal."""
    home = user_folder(environment)
    own, data = environment.get("CLINE_DIR"), environment.get("CLINE_DATA_DIR")
    cline = Path(data) if data else (Path(own) if own else home / ".cline") / "data"
    return (
        *(one / "globalStorage" for one in editor_folders(environment)),
        cline,
        home / ".kilocode" / "cli" / "global",
    )


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields tasks from their places; `complete` adds details from files beside them."""
    for extension, publisher in listing.folders(str(root)):
        if publisher.startswith(_PUBLISHERS):
            yield from _tasks_in(Path(extension), listing)
    yield from _tasks_in(root, listing)


def _tasks_in(storage: Path, listing: Listing) -> Iterator[AgentSession]:
    for task, name in listing.folders(str(storage / "tasks")):
        for found in listing.files(task):
            if found.name == _HISTORY:
                yield AgentSession(FORMAT.name, name, Path(found.path), found.modified, found.size)


def complete(session: AgentSession) -> None:
    """Reads project, prompt and model from the task's own file, or from the extension's list of tasks."""
    own = read_whole(str(session.path.with_name(_ITEM)), _MOST_BYTES)
    try:
        found = _task.decode(own) if own else _listed(session.path.parents[2]).get(session.identifier)
        if found is not None:
            session.prompt, session.model = found.task, found.model or ""
            session.project = found.workspace or found.folder or ""
        session.prompt = session.prompt or _first_prompt(session.path)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return


def _listed(storage: Path) -> dict[str, _Task]:
    """Returns the tasks in an extension's list by id."""
    path = storage / "state" / "taskHistory.json"
    try:
        facts = path.lstat()
    except OSError:
        return {}
    return _read_list(str(path), facts.st_mtime_ns, facts.st_size)


# The list names all tasks: reading it again for each of them would take quadratic time.
@functools.lru_cache(maxsize=4)
def _read_list(path: str, modified: int, size: int) -> dict[str, _Task]:
    del modified, size  # a changed file is read again
    return {one.id: one for one in _tasks.decode(read_whole(path, _MOST_BYTES))}


def _first_prompt(path: Path) -> str:
    messages = _messages.decode(read_whole(str(path), _MOST_BYTES))
    return next(filter(None, (typed_text(one.content) for one in messages if one.role == "user")), "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
