"""Detects MSP documents by the members of their first object."""

from __future__ import annotations

import json
import re
from typing import Any, cast

HEAD_BYTES = 1 << 18
"""Number of first bytes examined."""

_DEEPEST = 1000
_SESSION_MEMBERS = frozenset(("sub_context", "summary_snapshots", "subsessions", "messages"))
_SUBSESSION_MEMBERS = frozenset(("parent_session_id", "context_policy", "messages", "label", "status", "closed_at"))
_BARE_SESSION = {"session_id", "created_at", "label", "title"}

_FOREIGN_MEMBERS = frozenset(
    ("jsonrpc", "protocol", "kind", "history", "envelope", "method", "call_type", "model", "system_prompt", "base_url")
)
"""Members of envelopes, JSON-RPC messages, log lines, gateway histories and agents' sessions, and of no MSP object."""

_BOX_MEMBERS = ("session", "sessions", "subsession", "subsessions")


def is_msp(head: bytes) -> bool:
    """Returns True if the first bytes are of an MSP document, according to the first object."""
    return _is_msp_members(_first_members(head)[0])


def is_msp_stream(head: bytes) -> bool | None:
    """Returns True if the start of a stream is of an MSP document; None until its first object is complete."""
    members, whole = _first_members(head)
    # A member of another protocol decides at once, without the rest of the object.
    if whole or len(head) >= HEAD_BYTES or _is_foreign(set(members)):
        return _is_msp_members(members)
    return None


def is_msp_value(value: object) -> bool:
    """Returns True if a decoded value is or contains an MSP object."""
    if isinstance(value, list):
        return any(is_msp_value(item) for item in cast(list[object], value) if isinstance(item, dict))
    if not isinstance(value, dict):
        return False
    members: dict[str, set[str]] = {}
    for name, member in cast(dict[str, object], value).items():
        first = (
            next((item for item in cast(list[object], member) if isinstance(item, dict)), None)
            if isinstance(member, list)
            else member
        )
        members[name] = set(cast(dict[str, object], first)) if isinstance(first, dict) else set()
    return _is_msp_members(members)


def is_session(names: set[str] | dict[str, Any]) -> bool:
    """Returns True if an object with these members is a session."""
    if "session_id" not in names or "subsession_id" in names or _is_foreign(names):
        return False
    return any(name in names for name in _SESSION_MEMBERS) or _BARE_SESSION >= set(names) != {"session_id"}


def is_subsession(names: set[str] | dict[str, Any]) -> bool:
    """Returns True if an object with these members is a sub-session."""
    return "subsession_id" in names and any(name in names for name in _SUBSESSION_MEMBERS) and not _is_foreign(names)


def _is_foreign(names: set[str] | dict[str, Any]) -> bool:
    return any(name in names for name in _FOREIGN_MEMBERS)


def _is_msp_members(members: dict[str, set[str]]) -> bool:
    names = set(members)
    if _is_foreign(names):
        return False
    if is_session(names) or is_subsession(names):
        return True
    return any("session_id" in inner or is_subsession(inner) for inner in map(members.get, _BOX_MEMBERS) if inner)


# A string may end with the text: a quote inside it must not begin another one.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)


def _first_members(head: bytes) -> tuple[dict[str, set[str]], bool]:
    """Returns the first object's members, each with the members of its first inner object, from a truncated text.

    The second value is True if later text cannot change the result.
    """
    members: dict[str, set[str]] = {}
    head = head[:HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        # PowerShell writes redirected output as UTF-16.
        head = head.decode("utf-16", "replace").encode()
    head = head.lstrip()
    if head[:1] not in (b"{", b"["):
        return members, bool(head)
    shape: list[bytes] = []
    objects = 0  # number of open objects
    name = ""
    seen: set[str] = set()  # members with a complete first object
    before = b""
    for token in _TOKEN.finditer(head):
        mark = token[0]
        if mark == b":" and shape and shape[-1] == b"{" and before[:1] == b'"':
            if objects == 1:
                name = _key(before)
                members[name] = set()
            elif objects == 2 and name in members and name not in seen:
                members[name].add(_key(before))
        elif mark in (b"{", b"["):
            shape.append(mark)
            objects += mark == b"{"
            if len(shape) > _DEEPEST:
                return members, True
        elif mark in (b"}", b"]"):
            if shape.pop() == b"{":
                objects -= 1
                if objects == 1:
                    seen.add(name)
            if objects == 0 and (mark == b"}" or not shape):
                return members, True
        before = mark
    return members, False


def _key(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1].decode("utf-8", "replace")
