"""Builds the envelope of each projected row; no I/O.

The start and end of sessions and sub-sessions are rows of their own, in the parent context. So a sub-session contains
exactly its messages. These lines are never read back: edits go to the document.

A message names its context by id alone, as a path of one segment. The earlier row that opened the sub-session has the
full place. Readers are ten times as fast with ids as with an object in each message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec

from inspector.msp.document import SessionDocument
from inspector.msp.json_layout import WrittenNumber
from inspector.msp.json_patch import UNREAD
from inspector.msp.links import Owner
from inspector.msp.objects import Session, Subsession, content_text
from inspector.protocol import msp
from inspector.protocol.context_paths import normalise

START_ITEM, END_ITEM = -1, -2
"""Row item for the start, or end, of its owner."""
FIRST_SNAPSHOT = -3
"""Row item of a session's first snapshot; further ones count down from here."""

_LONGEST_UNREAD = 1 << 16  # bytes shown of what could not be read
_VISIBILITY_ROOM = 31
"""Bytes reserved for `,"visibility":"subsession_only"`, so that another value fits in place."""
# Bytes reserved for the policy, so that an edited one fits in place.
_POLICY_SPARE = 160
_OWN_FIELDS = frozenset({"id", "role", "content", "visibility", "timestamp"})
_RESERVED_FIELDS = frozenset({"text", "format", "role", "content", "fields"})


def frame_of(owner: Owner, item: int) -> bytes:
    """Returns the envelope of a row."""
    if item >= 0:
        return _message(owner, owner.items[item])
    if isinstance(owner, Subsession):
        return _subsession_start(owner) if item == START_ITEM else _subsession_end(owner)
    return _session_start(owner) if item == START_ITEM else _snapshot(owner, FIRST_SNAPSHOT - item)


def unread_lines(document: SessionDocument) -> list[bytes]:
    """Returns unreadable parts, one line each: lines of JSON Lines, whole files, and invalid messages."""
    found: list[bytes] = []
    for file in document.files:
        if file.value is UNREAD:
            found.append(_one_line(file.original))
        elif file.lines and UNREAD in file.value:
            # The decoded value has no text, so the original lines are split again.
            texts = [line for line in file.original.splitlines() if line.strip()]
            found += [_one_line(text) for text, value in zip(texts, file.value, strict=False) if value is UNREAD]
    for owner in (*document.sessions, *document.subsessions):
        written = owner.data.get("messages")
        odd = [item for item in written if not isinstance(item, dict)] if isinstance(written, list) else []
        found += [_encoded(item) + b"\n" for item in odd]
    return found


def _one_line(text: bytes) -> bytes:
    return (b" ".join(text[:_LONGEST_UNREAD].split()) or b"(nothing)") + b"\n"


def _message(owner: Owner, data: dict[str, Any]) -> bytes:
    content, role = data.get("content"), data.get("role")
    text = content if isinstance(content, str) else content_text(content)
    rest: dict[str, Any] = {}
    if not data.keys() <= _OWN_FIELDS:
        rest = {key: value for key, value in data.items() if key not in _OWN_FIELDS and key not in _RESERVED_FIELDS}
        # Members with the names of ours move to `fields`, so that none is lost.
        hidden = {key: value for key, value in data.items() if key in _RESERVED_FIELDS and key not in _OWN_FIELDS}
        if hidden:
            rest["fields"] = hidden
    if content is not None and content is not text:
        rest["content"] = content
    if "role" in data:
        rest["role"] = role
    if not isinstance(data.get("timestamp", ""), str):
        rest["timestamp"] = data["timestamp"]
    seen = b',"visibility":' + _encoded(data["visibility"]) if "visibility" in data else b""
    more = b"," + _encoded(rest)[1:] if rest else b"}"
    # Blanks after the visibility leave room for a longer value, without moving later lines.
    payload = b'{"text":%b%b,"format":"markdown"%b' % (_encoded(text), seen.ljust(_VISIBILITY_ROOM), more)
    context = owner.key if isinstance(owner, Subsession) else None
    sender = role if isinstance(role, str) else ""
    return _envelope(_space(owner), data.get("id"), data.get("timestamp"), sender, "chat", context, payload)


def _session_start(session: Session) -> bytes:
    left_out = ("messages", "summary_snapshots")
    payload = {**_without_members(session.data, left_out), "label": session.label}
    return _structure(msp.SESSION, session, session, session.data.get("created_at"), _encoded(payload))


def _snapshot(session: Session, number: int) -> bytes:
    snapshot = session.snapshots[number]
    payload = {**snapshot.data, "text": snapshot.content}
    name = f"{session.key}:{snapshot.id or number + 1}"
    return _structure(msp.SNAPSHOT, session, session, snapshot.data.get("created_at"), _encoded(payload), name=name)


def _subsession_start(sub: Subsession) -> bytes:
    """Builds the start of a sub-session; members that its end changed belong to the end row."""
    left_out = ("messages", "closed_at", "summary", "context_policy", "status", "subsession_id")
    payload = {"subsession_id": sub.key, **_without_members(sub.data, left_out), "label": sub.label}
    if "status" in sub.data:
        payload["status"] = sub.data["status"] if sub.is_open else "open"
    written = sub.data.get("context_policy")
    policy = b',"context_policy":' + _encoded(written) if "context_policy" in sub.data else b""
    encoded = _encoded(payload)[:-1] + policy.ljust(_POLICY_SPARE) + b"}"
    return _structure(msp.SUBSESSION_OPENED, sub, sub.parent or sub, sub.data.get("created_at"), encoded)


def _subsession_end(sub: Subsession) -> bytes:
    status = (
        msp.DISCARDED_STATUS if sub.discarded else sub.status if sub.status not in ("", "open", "active") else "closed"
    )
    payload = {"subsession_id": sub.key, "label": sub.label, "status": status}
    payload |= {key: sub.data[key] for key in ("closed_at", "summary") if sub.data.get(key) is not None}
    return _structure(msp.SUBSESSION_CLOSED, sub, sub.parent or sub, sub.data.get("closed_at"), _encoded(payload))


def _structure(kind: str, about: Owner, within: Owner, ts: object, payload: bytes, *, name: str | None = None) -> bytes:
    context = within.key if isinstance(within, Subsession) and within is not about else None
    return _envelope(_space(about), f"{kind}:{name or about.key}", ts, "", kind, context, payload)


def _without_members(data: Mapping[str, Any], left_out: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in left_out}


def _space(owner: Owner) -> str:
    session = owner if isinstance(owner, Session) else owner.session
    return session.key if session is not None else ""


def _envelope(
    space: str, identifier: object, ts: object, sender: str, kind: str, context: str | None, payload: bytes
) -> bytes:
    parts = [b'{"protocol":"msp"']
    if space:
        parts += (b',"space":', _encoded(space))
    if identifier is not None:
        parts += (b',"id":', _encoded(identifier))
    if isinstance(ts, str):  # not a time otherwise; the capture would read a number as one
        parts += (b',"ts":', _encoded(ts))
    if sender:
        parts += (b',"from":', _encoded(sender))
    parts += (b',"kind":', _encoded(kind))
    if context is not None:
        # A context that is not a path, or not an id, becomes an object.
        plain = normalise(context) and not context.startswith("\0")
        parts += (b',"context":', _encoded(context if plain else {"id": context}))
    return b"".join((*parts, b',"payload":', payload, b"}"))


def _encode_number(value: object) -> object:
    """Encodes a number as written; as text if readers would refuse it."""
    if isinstance(value, WrittenNumber):
        return msgspec.Raw(value.text.encode()) if isfinite(value) else value.text
    raise NotImplementedError  # as msgspec asks; decoded JSON has no such value


_encode = msgspec.json.Encoder(enc_hook=_encode_number).encode


def _encoded(value: object) -> bytes:
    """Encodes any decoded value as JSON on one line."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError, RecursionError, ValueError):
        try:
            # msgspec refuses lone surrogates and huge integers; Python writes both.
            return json.dumps(value, separators=(",", ":")).encode()
        except (RecursionError, ValueError):
            return b'"nested too deeply to show"'
