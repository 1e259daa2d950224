"""Views over the decoded objects of an MSP document: messages, snapshots, policies, sub-sessions, sessions.

`data` is the decoded dict itself, so unknown fields are never lost; a value of a wrong type reads as absent and nothing
here raises. Only `inspector.msp.document` writes, and then into `data`: a view never holds a copy of what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast, overload

from typing_extensions import override

from inspector.protocol.times import written_time

CLOSED = "closed"
DISCARDED = "discarded"
OPEN_STATUSES = ("open", "active")

_OWN, _MAIN = "subsession_only", "main_only"
_LAST_ONES = 50

SUMMARY_OF = "summary_of"
"""Our member of a parent's message that holds a sub-session's summary: the sub-session's id."""

SUMMARIES = "include_summaries"
"""Our member of a context policy: the ids of the sub-sessions beside it whose summaries go along, unmerged."""

MERGED_FROM = "merged_from"
"""Our member of each message a merge wrote into the parent: the sub-session's id."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message of a session's own or of a sub-session; equal to another view of the same object."""

    data: dict[str, Any]
    owner: Session | Subsession

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and other.data is self.data

    @override
    def __hash__(self) -> int:
        return id(self.data)

    @property
    def id(self) -> str | None:
        """As written; None when there is none."""
        return text_of(self.data, "id") or None

    @property
    def role(self) -> str:
        """As written; empty when there is none."""
        return text_of(self.data, "role")

    @property
    def content(self) -> str:
        """As text: a string as it is, the texts of a list of blocks joined, anything else as compact JSON."""
        return content_text(self.data.get("content"))

    @property
    def visibility(self) -> str | None:
        """As written; None when there is none."""
        return text_of(self.data, "visibility") or None

    @property
    def time_ns(self) -> int:
        """When it was written; NO_TIME when that is not known."""
        return written_time(self.data.get("timestamp"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A summary of a stretch of the main messages."""

    data: dict[str, Any]

    @property
    def id(self) -> str | None:
        """As written; None when there is none."""
        return text_of(self.data, "id") or None

    @property
    def covers(self) -> tuple[int, int] | None:
        """The stretch it names, from and to; None when it names none."""
        value = self.data.get("covers_messages")
        if isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value):
            return value[0], value[1]
        return None

    @property
    def content(self) -> str:
        """As text, like a message's."""
        return content_text(self.data.get("content"))

    @property
    def created_ns(self) -> int:
        """When it was made; NO_TIME when that is not known."""
        return written_time(self.data.get("created_at"))


@dataclass(frozen=True, slots=True)
class Policy:
    """What of the parent a sub-session takes along; None where nothing is written."""

    data: dict[str, Any]

    @property
    def include_sub_context(self) -> bool | None:
        """Whether intent, constraints, decisions and facts go along."""
        return self._flag("include_sub_context")

    @property
    def include_snapshots(self) -> bool | None:
        """Whether summary snapshots go along."""
        return self._flag("include_snapshots")

    @property
    def recent_parent_messages(self) -> int | None:
        """How many of the parent's last messages go along."""
        value = self.data.get("recent_parent_messages")
        return value if type(value) is int else None

    @property
    def include_summaries(self) -> list[str]:
        """Ids of the sub-sessions beside it whose summaries go along, each once; our member, the protocol has none."""
        value = self.data.get(SUMMARIES)
        items = cast(list[object], value) if isinstance(value, list) else []
        return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))

    def _flag(self, name: str) -> bool | None:
        value = self.data.get(name)
        return value if isinstance(value, bool) else None


class Messages(Sequence[Message]):
    """The messages of one owner, in the order of the file; a view is made when one is asked for."""

    __slots__ = ("_items", "_owner")

    def __init__(self, items: list[dict[str, Any]], owner: Session | Subsession) -> None:
        self._items = items
        self._owner = owner

    @override
    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    @override
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [Message(data, self._owner) for data in self._items[index]]
        return Message(self._items[index], self._owner)


@dataclass(eq=False, slots=True)
class Subsession:
    """A side conversation below a session, or below another sub-session."""

    data: dict[str, Any]
    key: str
    """Unique among the document's sessions and sub-sessions: the id, else made so."""
    items: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The decoded messages that are objects."""
    parent: Session | Subsession | None = field(default=None, repr=False)
    children: list[Subsession] = field(default_factory=list, repr=False)
    merged: bool = False
    """Whether a merge wrote it into its parent."""
    summarized: bool = False
    """Whether the parent has a message with its summary."""
    place: str = ""
    """File and JSON path."""

    @property
    def id(self) -> str:
        """As written; empty when there is none."""
        return text_of(self.data, "subsession_id")

    @property
    def label(self) -> str:
        """What it is called; its id, else its key, when it has no label."""
        return text_of(self.data, "label") or self.id or self.key

    @property
    def status(self) -> str:
        """As written; empty when there is none."""
        return text_of(self.data, "status")

    @property
    def is_open(self) -> bool:
        """Whether it goes on: it was closed neither by its status nor by a time."""
        return self.status.casefold() not in (CLOSED, DISCARDED) and self.data.get("closed_at") is None

    @property
    def discarded(self) -> bool:
        """Whether it was closed to be forgotten: no summary, no merge."""
        return self.status.casefold() == DISCARDED

    @property
    def created_ns(self) -> int:
        """When it was opened; NO_TIME when that is not known."""
        return written_time(self.data.get("created_at"))

    @property
    def closed_ns(self) -> int:
        """When it was closed; NO_TIME when it was not, or when that is not known."""
        return written_time(self.data.get("closed_at"))

    @property
    def policy(self) -> Policy:
        """What of the parent it takes along."""
        return Policy(dict_of(self.data, "context_policy"))

    @property
    def summary(self) -> str | None:
        """What came of it, when that was written down."""
        return text_of(self.data, "summary") or None

    @property
    def messages(self) -> Sequence[Message]:
        """Its own, in the order of the file."""
        return Messages(self.items, self)

    @property
    def session(self) -> Session | None:
        """The session at the root."""
        above = self.parent
        while isinstance(above, Subsession):
            above = above.parent
        return above

    @property
    def path(self) -> str:
        """Keys from the first sub-session down to this one, as `s1/s2`."""
        keys = [quoted(self.key)]
        above = self.parent
        while isinstance(above, Subsession):
            keys.append(quoted(above.key))
            above = above.parent
        return "/".join(reversed(keys))


@dataclass(eq=False, slots=True)
class Session:
    """A main conversation with what was agreed in it."""

    data: dict[str, Any]
    key: str
    """Unique among the document's sessions and sub-sessions: the id, else made so."""
    items: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The decoded messages that are objects."""
    children: list[Subsession] = field(default_factory=list, repr=False)
    implied: bool = False
    """Only named by a sub-session: no object of it was read."""
    place: str = ""
    """File and JSON path."""

    @property
    def id(self) -> str:
        """As written; empty when there is none."""
        return text_of(self.data, "session_id")

    @property
    def label(self) -> str:
        """What it is called: its label or title when it has one, else its id."""
        return text_of(self.data, "label") or text_of(self.data, "title") or self.id or self.key

    @property
    def intent(self) -> str:
        """What the session is for; empty when it is not said."""
        return text_of(dict_of(self.data, "sub_context"), "intent")

    @property
    def constraints(self) -> list[str]:
        """What must hold."""
        return self._agreed("constraints")

    @property
    def decisions(self) -> list[str]:
        """What was decided."""
        return self._agreed("decisions")

    @property
    def facts(self) -> list[str]:
        """What is known."""
        return self._agreed("facts")

    @property
    def snapshots(self) -> list[Snapshot]:
        """Summaries of its messages, in the order of the file."""
        return [Snapshot(item) for item in objects_of(self.data, "summary_snapshots")]

    @property
    def messages(self) -> Sequence[Message]:
        """Its own (the protocol shows none, but many write them), in the order of the file."""
        return Messages(self.items, self)

    @property
    def created_ns(self) -> int:
        """When it began; NO_TIME when that is not known."""
        return written_time(self.data.get("created_at"))

    def _agreed(self, name: str) -> list[str]:
        value = dict_of(self.data, "sub_context").get(name)
        items = cast(list[object], value) if isinstance(value, list) else [] if value is None else [value]
        return [content_text(item) for item in items]


def usual_visibility(owner: Session | Subsession) -> str | None:
    """The visibility of a new message: `subsession_only` in a sub-session; in a chat that of the messages before it.

    A chat whose messages name none goes on so: `main_only` would keep its recent messages out of sub-sessions, and
    `global` would send them for ever.
    """
    if isinstance(owner, Subsession):
        return _OWN
    last = owner.items[-_LAST_ONES:]
    usual = bool(last) and all(item.get("visibility") in (_MAIN, "global") for item in last)
    return _MAIN if usual and any(item.get("visibility") == _MAIN for item in last) else None


def summary_entry(sub: Subsession, summary: str) -> str:
    """A summary with whose it is: what a merge writes into the parent, and what a reference sends."""
    return f"Summary of the sub-session “{sub.label}”:\n\n{summary}"


def text_of(data: dict[str, Any], name: str) -> str:
    """A member that is a text; empty when it is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def dict_of(data: dict[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object; an empty one, not in `data`, when it is none."""
    value = data.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def objects_of(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a member that is a list: the list itself when it holds nothing else."""
    value = data.get(name)
    if not isinstance(value, list):
        return []
    items = cast(list[Any], value)
    return items if set(map(type, items)) <= {dict} else [item for item in items if isinstance(item, dict)]


def content_text(value: object) -> str:
    """A content as text: a string as it is, the texts of a list of blocks joined, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        blocks = cast(list[object], value)
        return "\n\n".join(_block_text(block) for block in blocks)
    return _compact(value)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and isinstance(text := cast(dict[str, object], block).get("text"), str):
        return text
    return _compact(block)


def _compact(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):  # nested deeper than the reader that read it cared
        return "…"


def quoted(key: str) -> str:
    """A key as one part of a path."""
    return key.replace("%", "%25").replace("/", "%2F")
