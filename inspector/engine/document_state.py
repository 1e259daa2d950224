"""State of a document besides its messages, for status bars and notices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from inspector.engine.targets import Target, target_of_choice
from inspector.formats import guards
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.recorder_messages import ConnectionState as ConnectionState
from inspector.store.columns.block import ServerEnd
from inspector.store.columns.flags import Flag

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.document.live import LiveSession


class FollowedState(msgspec.Struct, frozen=True):
    """State of a followed log.

    Attributes:
        rotations: number of rotations and truncations.
        missing: no file has the log's name.
        trouble: reason for the end of following, as a sentence.
        server_end: end of the server behind a tap.
    """

    rotations: int
    missing: bool
    trouble: str | None
    server_end: ServerEnd


class SourceState(msgspec.Struct, frozen=True):
    """A source of a document.

    Attributes:
        name, path: display name and file.
        is_read: False for a source of unknown format, which is left out.
    """

    name: str
    path: Path
    is_read: bool = True


class DocumentState(msgspec.Struct, frozen=True, kw_only=True):
    """State of a document.

    Attributes:
        name, format: display name, and format of most lines of the first source.
        path: the opened file, or the capture file of a live source.
        messages, unreadable, failed_calls: numbers of messages, unreadable ones and failed calls.
        is_live, is_arriving, may_grow: traffic arrives, messages arrive, or may arrive.
        has_backlog: unread messages or checks are pending.
        received, received_any: number of messages from others; any besides the gateway's greeting.
        is_sessions, is_one_session: editable sessions; one agent's session with its sub-agents.
        has_choice: several contexts, spaces or sources, or more participants than a session of one agent has.
        has_turns: an agent's session or editable sessions, with prompts of a person.
        has_decisions: a gateway's decisions lie beside the log.
        can_continue: a cancelled reading can continue where it stopped.
        sources: the sources.
        choices: targets that open the same sources again; empty if they cannot be opened again.
        session_files: files and folders of editable sessions.
        spool: temporary file with the lines of a single source that is no plain file; None for converted lines.
        origin_url: address of the recorded gateway, or "".
        troubles: problems with reading or following the sources, as sentences for the user.
        unchecked: problems with checks that ended by an error.
        plugin_failures: parts of plug-ins that were switched off since the document was opened, as sentences.
        memory_full: a sentence if reading stopped at the memory limit; `continue` raises it.
        size_bytes, unread_bytes: bytes of the sources, and unread ones.
        is_checking: postponed checks are running.
        counted, uncounted, uncounted_bytes: messages with and without counted tokens, and bytes of the latter.
        counting_trouble: reason why tokens cannot be counted, as a sentence.
        unsaved: path of the program's own capture file until it is saved under a name.
        marks: number of marks and comments.
        lag_ns: delay of arriving messages on a slow link, in nanoseconds; None without delay.
        followed, connection: the followed log and the gateway, if any.
    """

    name: str = ""
    format: str | None = None
    path: Path | None = None
    messages: int = 0
    unreadable: int = 0
    failed_calls: int = 0
    is_live: bool = False
    is_arriving: bool = False
    may_grow: bool = False
    has_backlog: bool = False
    received: int = 0
    received_any: bool = False
    is_sessions: bool = False
    is_one_session: bool = False
    has_choice: bool = False
    has_turns: bool = False
    has_decisions: bool = False
    can_continue: bool = False
    sources: list[SourceState] = []
    choices: list[Target] = []
    session_files: list[Path] = []
    spool: Path | None = None
    origin_url: str = ""
    troubles: list[str] = []
    unchecked: list[str] = []
    plugin_failures: list[str] = []
    memory_full: str | None = None
    size_bytes: int = 0
    unread_bytes: int = 0
    is_checking: bool = False
    counted: int = 0
    uncounted: int = 0
    uncounted_bytes: int = 0
    counting_trouble: str | None = None
    unsaved: Path | None = None
    marks: int = 0
    lag_ns: int | None = None
    followed: FollowedState | None = None
    connection: ConnectionState | None = None

    @property
    def read_sources(self) -> int:
        """The number of sources that are read."""
        return sum(one.is_read for one in self.sources)


def state_of(
    document: CaptureDocument,
    session: LiveSession | None,
    *,
    is_checking: bool,
    received: tuple[int, int] = (0, 0),
    unsaved: Path | None = None,
) -> DocumentState:
    """Returns the state of a document and its gateway session."""
    sources, memory = document.sources, document.memory
    tokens, files, several = document.analysis.tokens, sources.files, sources.several
    read = set(map(id, files))
    return DocumentState(
        name=document.name,
        format=document.format,
        path=document.path,
        messages=len(document.capture),
        unreadable=document.unreadable,
        failed_calls=document.capture.failed_count,
        is_live=document.live,
        is_arriving=document.is_arriving,
        may_grow=document.may_grow,
        has_backlog=document.has_backlog,
        received=received[0],
        received_any=received[0] > received[1],
        is_sessions=document.msp is not None,
        is_one_session=several is not None and several.is_one_session,
        has_choice=_has_choice(document),
        has_turns=_has_turns(document),
        has_decisions=document.decisions.found is not None,
        can_continue=sources.can_go_on,
        sources=[SourceState(one.name, one.path, id(one) in read) for one in document.capture.sources],
        choices=[target_of_choice(one) for one in document.choices],
        session_files=document.msp.paths if document.msp is not None else [],
        spool=_spool(document),
        origin_url=_origin_url(document),
        troubles=sources.troubles,
        unchecked=document.failed_checks,
        plugin_failures=[mask_text(trip.sentence) for trip in guards.trips()],
        memory_full=memory.full_message if memory.is_full else None,
        size_bytes=document.msp.size if document.msp is not None else sum(one.size for one in files),
        unread_bytes=sources.unread_bytes,
        is_checking=is_checking,
        counted=tokens.counted,
        uncounted=tokens.uncounted,
        uncounted_bytes=tokens.bytes_left,
        counting_trouble=document.counting.failure_message,
        unsaved=unsaved,
        marks=len(document.analysis.marks),
        lag_ns=document.lag_ns(),
        followed=_followed_state(document),
        connection=None
        if session is None
        else msgspec.structs.replace(session.recorder.connection, complete=session.complete),
    )


def _spool(document: CaptureDocument) -> Path | None:
    files = document.sources.files
    one = files[0] if len(files) == 1 else None
    return None if one is None or one.feed is None or one.container is not None else one.feed.path


def _origin_url(document: CaptureDocument) -> str:
    sources = document.capture.sources
    origin = sources[0].origin.get("origin") if sources else None
    url = origin.get("url") if isinstance(origin, dict) else None
    return url if isinstance(url, str) else ""


def _followed_state(document: CaptureDocument) -> FollowedState | None:
    followed, sources = document.sources.followed, document.capture.sources
    if followed is None or not sources:
        return None
    return FollowedState(followed.rotations, followed.missing, followed.trouble, sources[0].server_end)


_FIRST_MESSAGES = 4_096
"""Messages among which the first prompt of a session is looked for."""


def _has_turns(document: CaptureDocument) -> bool:
    several = document.sources.several
    if document.msp is not None or (several is not None and not several.is_one_session):
        return document.msp is not None
    capture, stop = document.capture, min(len(document.capture), _FIRST_MESSAGES)
    columns, find = capture.columns, capture.strings.find
    asked = columns["flags"][:stop] & np.uint32(Flag.DERIVED.value) != 0
    asked &= (columns["kind"][:stop] == (find("chat") or -1)) & (columns["sender"][:stop] == (find("user") or -1))
    return bool(asked.any())


_FEW_PARTICIPANTS = 5
"""In a session of one agent: the user, the agent, its tools, its program, and a gateway or server."""


def _has_choice(document: CaptureDocument) -> bool:
    analysis = document.analysis
    contexts = analysis.contexts
    return (
        len(contexts.tree) > 0
        or len(contexts.spaces) > 1
        or len(document.capture.sources) > 1
        or len(analysis.participants.all) > _FEW_PARTICIPANTS
    )
