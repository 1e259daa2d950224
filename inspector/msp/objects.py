"""Typed views of decoded MSP objects: messages, snapshots, policies, sub-sessions, sessions.

`data` is the decoded dict itself, so unknown fields are kept. A value of a wrong type counts as absent, and no view
raises. Only `inspector.msp.document` writes to `data`; views hold no copies.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast, overload

from typing_extensions import override

from inspector.protocol.timestamps import parse_text_time

CLOSED = "closed"
DISCARDED = "discarded"
OPEN_STATUSES = ("open", "active")

_SUBSESSION_ONLY, _MAIN = "subsession_only", "main_only"
_LAST_ONES = 50

SUMMARY_OF = "summary_of"
"""Member of ours in a parent's message with a summary: the sub-session's id."""

SUMMARIES = "include_summaries"
"""Member of ours in a context policy: ids of siblings whose unmerged summaries are included."""

MERGED_FROM = "merged_from"
"""Member of ours in each message that a merge wrote: the sub-session's id."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message of a session or sub-session; equal to other views of the same object."""

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
        return text_of(self.data, "id") or None

    @property
    def role(self) -> str:
        return text_of(self.data, "role")

    @property
    def content(self) -> str:
        """Content as text: a string unchanged, texts of blocks joined, other values as compact JSON."""
        return content_text(self.data.get("content"))

    @property
    def visibility(self) -> str | None:
        return text_of(self.data, "visibility") or None

    @property
    def time_ns(self) -> int:
        """Time of the message, or NO_TIME."""
        return parse_text_time(self.data.get("timestamp"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A summary of a range of main messages."""

    data: dict[str, Any]

    @property
    def id(self) -> str | None:
        return text_of(self.data, "id") or None

    @property
    def covers(self) -> tuple[int, int] | None:
        """Range as written, start and end, if any."""
        value = self.data.get("covers_messages")
        # `type` instead of `isinstance`: `true` is an `int` in Python.
        if isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value):
            return value[0], value[1]
        return None

    @property
    def content(self) -> str:
        """Content as text, as for a message."""
        return content_text(self.data.get("content"))

    @property
    def created_ns(self) -> int:
        """Creation time, or NO_TIME."""
        return parse_text_time(self.data.get("created_at"))


@dataclass(frozen=True, slots=True)
class Policy:
    """Context policy: the parts of the parent that a sub-session includes; None for unset members."""

    data: dict[str, Any]

    @property
    def include_sub_context(self) -> bool | None:
        """Includes intent, constraints, decisions and facts."""
        return self._flag("include_sub_context")

    @property
    def include_snapshots(self) -> bool | None:
        """Includes summary snapshots."""
        return self._flag("include_snapshots")

    @property
    def recent_parent_messages(self) -> int | None:
        """Number of the parent's last messages."""
        value = self.data.get("recent_parent_messages")
        return value if type(value) is int else None

    @property
    def include_summaries(self) -> list[str]:
        """Ids of siblings whose summaries are included, without duplicates; an extension of ours."""
        value = self.data.get(SUMMARIES)
        items = cast(list[object], value) if isinstance(value, list) else []
        return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))

    def _flag(self, name: str) -> bool | None:
        value = self.data.get(name)
        return value if isinstance(value, bool) else None


class Messages(Sequence[Message]):
    """The messages of one owner in file order; creates views on access."""

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
    """A side conversation below a session or another sub-session."""

    data: dict[str, Any]
    key: str
    """Unique among the document's sessions and sub-sessions: the id, with a suffix if repeated."""
    items: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The decoded messages that are objects."""
    parent: Session | Subsession | None = field(default=None, repr=False)
    children: list[Subsession] = field(default_factory=list, repr=False)
    merged: bool = False
    """A merge wrote it to its parent."""
    summarized: bool = False
    """The parent has a message with its summary."""
    place: str = ""
    """File and JSON path."""

    @property
    def id(self) -> str:
        """Id as written, or ""."""
        return text_of(self.data, "subsession_id")

    @property
    def label(self) -> str:
        """Label, else id, else key."""
        return text_of(self.data, "label") or self.id or self.key

    @property
    def status(self) -> str:
        """Status as written, or ""."""
        return text_of(self.data, "status")

    @property
    def is_open(self) -> bool:
        """Returns True unless its status or a time marks it as closed."""
        # Files of other programs set only one of the two.
        return self.status.casefold() not in (CLOSED, DISCARDED) and self.data.get("closed_at") is None

    @property
    def discarded(self) -> bool:
        """Returns True if it was discarded: no summary, no merge."""
        return self.status.casefold() == DISCARDED

    @property
    def created_ns(self) -> int:
        """Opening time, or NO_TIME."""
        return parse_text_time(self.data.get("created_at"))

    @property
    def closed_ns(self) -> int:
        """Closing time, or NO_TIME."""
        return parse_text_time(self.data.get("closed_at"))

    @property
    def policy(self) -> Policy:
        """Its context policy."""
        return Policy(dict_of(self.data, "context_policy"))

    @property
    def summary(self) -> str | None:
        """Its summary, if any."""
        return text_of(self.data, "summary") or None

    @property
    def messages(self) -> Sequence[Message]:
        """Its own messages in file order."""
        return Messages(self.items, self)

    @property
    def session(self) -> Session | None:
        """The root session."""
        above = self.parent
        while isinstance(above, Subsession):
            above = above.parent
        return above

    @property
    def path(self) -> str:
        """Keys from the first sub-session down to this one, such as `s1/s2`."""
        keys = [escape_key(self.key)]
        above = self.parent
        while isinstance(above, Subsession):
            keys.append(escape_key(above.key))
            above = above.parent
        return "/".join(reversed(keys))


@dataclass(eq=False, slots=True)
class Session:
    """A main conversation with its sub-context."""

    data: dict[str, Any]
    key: str
    """Unique among the document's sessions and sub-sessions: the id, with a suffix if repeated."""
    items: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The decoded messages that are objects."""
    children: list[Subsession] = field(default_factory=list, repr=False)
    implied: bool = False
    """Only named by a sub-session, without an object of its own."""
    place: str = ""
    """File and JSON path."""

    @property
    def id(self) -> str:
        """Id as written, or ""."""
        return text_of(self.data, "session_id")

    @property
    def label(self) -> str:
        """Label, else title, else id, else key."""
        return text_of(self.data, "label") or text_of(self.data, "title") or self.id or self.key

    @property
    def intent(self) -> str:
        """Purpose of the session, or ""."""
        return text_of(dict_of(self.data, "sub_context"), "intent")

    @property
    def constraints(self) -> list[str]:
        """Agreed constraints."""
        return self._agreed("constraints")

    @property
    def decisions(self) -> list[str]:
        """Agreed decisions."""
        return self._agreed("decisions")

    @property
    def facts(self) -> list[str]:
        """Agreed facts."""
        return self._agreed("facts")

    @property
    def snapshots(self) -> list[Snapshot]:
        """Summary snapshots in file order."""
        return [Snapshot(item) for item in objects_of(self.data, "summary_snapshots")]

    @property
    def messages(self) -> Sequence[Message]:
        """Its own messages in file order; the protocol shows none, but many files have them."""
        return Messages(self.items, self)

    @property
    def created_ns(self) -> int:
        """Creation time, or NO_TIME."""
        return parse_text_time(self.data.get("created_at"))

    def _agreed(self, name: str) -> list[str]:
        value = dict_of(self.data, "sub_context").get(name)
        items = cast(list[object], value) if isinstance(value, list) else [] if value is None else [value]
        return [content_text(item) for item in items]


def usual_visibility(owner: Session | Subsession) -> str | None:
    """Returns the default visibility of a new message: `subsession_only`, or in a chat that of earlier ones.

    A chat without visibilities stays so: `main_only` would keep its recent messages out of sub-sessions, and `global`
    would send them forever.
    """
    if isinstance(owner, Subsession):
        return _SUBSESSION_ONLY
    last = owner.items[-_LAST_ONES:]
    # Only recent messages: an old chat may have begun without visibilities.
    usual = bool(last) and all(item.get("visibility") in (_MAIN, "global") for item in last)
    return _MAIN if usual and any(item.get("visibility") == _MAIN for item in last) else None


def summary_entry(sub: Subsession, summary: str) -> str:
    """Formats a summary with its sub-session's label, for a merge or a reference."""
    return f"Summary of the sub-session “{sub.label}”:\n\n{summary}"


def text_of(data: dict[str, Any], name: str) -> str:
    """Returns a text member, or ""."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def dict_of(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns an object member, or a new empty dict."""
    value = data.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def objects_of(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns the objects in a list member; the list itself if it has only objects."""
    value = data.get(name)
    if not isinstance(value, list):
        return []
    items = cast(list[Any], value)
    # The list itself, so that appended messages reach the file's data.
    return items if set(map(type, items)) <= {dict} else [item for item in items if isinstance(item, dict)]


def content_text(value: object) -> str:
    """Formats content as text: a string unchanged, texts of blocks joined, other values as compact JSON."""
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
    except (ValueError, RecursionError):  # nested deeper than the encoder allows
        return "…"


def escape_key(key: str) -> str:
    """Escapes a key as one segment of a path."""
    # `%` first, since the other replacement writes one.
    return key.replace("%", "%25").replace("/", "%2F")
