"""Converts the database of goose, `sessions.db`, and exports of one session, to lines with the session's id."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.databases import (
    DatabaseConversion,
    ReadLimit,
    SessionDatabase,
    has_tables,
    refuse_computed,
    rows_of,
    table_names,
)
from inspector.formats.document_conversion import DocumentConversion
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.goose.reader import NAME, SESSION_KEY
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.header import json_or_none
from inspector.protocol.json_size import is_too_large
from inspector.protocol.tolerant_encoder import to_json

DATABASE = "sessions.db"
_TABLES, _LEDGER, _BY_ID = ("sessions", "messages"), "usage_ledger", "id, rowid"
_COLUMNS = {"sessions": ("id", "created_at"), "messages": ("session_id", "role", "content_json")}
_EXPORT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^\x00]{0,4000}?"working_dir"\s*:[^\x00]*?"conversation"\s*:\s*[\[{n]')
_HEAD_BYTES = 1 << 16


def has_sessions(path: Path) -> bool:
    """Returns True for a database of goose. Raises OSError."""
    return has_tables(path, _COLUMNS)


def store_of(path: Path) -> SessionDatabase | None:
    """Returns the database that a path names, if it is one."""
    return SessionDatabase(path, NAME, _lines).find_database(has_sessions=has_sessions, name=DATABASE)


def _lines(read: DatabaseConversion, connection: sqlite3.Connection, limit: ReadLimit) -> Iterator[bytes]:
    tables = (*_TABLES, *((_LEDGER,) if _LEDGER in table_names(connection) else ()))
    for table in tables:
        refuse_computed(connection, table, "goose")
    wanted = read.session
    sessions = [
        row
        for row in rows_of(connection, "sessions", limit, order="created_at, rowid")
        if wanted in (None, row.get("id"))
    ]
    if not sessions and wanted is not None:
        raise NotConvertedError(f"it has no session {wanted}")
    for number, session in enumerate(sessions, 1):
        name = str(session.get("id"))
        calls = list(rows_of(connection, _LEDGER, limit, name, order=_BY_ID)) if _LEDGER in tables else []
        facts = {
            **session,
            "has_ledger": bool(calls),
            "model_config": _decoded(session.pop("model_config_json", None)),
        }
        yield to_json({SESSION_KEY: name, "session": facts}) + b"\n"
        messages = [_message(row) for row in rows_of(connection, "messages", limit, name, order=_BY_ID)]
        lines = [(_time(one.get("created")), {SESSION_KEY: name, "message": one}) for one in messages]
        lines += [(_time(one.get("created_timestamp")), {SESSION_KEY: name, "usage": one}) for one in calls]
        for _, line in sorted(lines, key=lambda one: one[0]):
            yield to_json(line) + b"\n"
        read.progress = (number, len(sessions))


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    identifier = text_or_none(row.get("message_id")) or str(row.get("id"))
    content = _decoded(row.get("content_json"))
    return {"id": identifier, "role": row.get("role"), "created": row.get("created_timestamp"), "content": content}


def _time(value: object) -> float:
    """Returns a time in seconds, which newer versions may store in milliseconds."""
    seconds = value if isinstance(value, int | float) else 0
    return seconds / 1000 if seconds > 1e11 else seconds


def _decoded(data: object) -> Any:
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else b""
    return json_or_none(raw) if raw and not is_too_large(raw) else None


def _exported(document: Any, path: Path) -> list[Mapping[str, Any]]:
    session = dict(mapping_or_empty(document))
    name = text_or_none(session.get("id")) or path.stem
    talk = session.pop("conversation", None)
    messages = mappings_in(talk if isinstance(talk, list) else mapping_or_empty(talk).get("messages"))
    return [{SESSION_KEY: name, "session": session}, *({SESSION_KEY: name, "message": one} for one in messages)]


CONVERSION = FileConverter(
    head_bytes=_HEAD_BYTES, begins_file=lambda head: _EXPORT.match(head) is not None,
    convert=partial(DocumentConversion, records_of=_exported), container=NAME,
)  # fmt: skip
