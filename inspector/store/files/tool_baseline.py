"""Baseline of MCP tools: the last tool list of each tapped server, stored by taps, compared later.

It stores names of tools and digests of their definitions. A log is compared with it only on request, so that the same
log has the same findings on every machine.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from inspector.base.atomic_files import read_up_to, replace_file
from inspector.base.file_lock import FileLock
from inspector.base.paths import data_folder
from inspector.protocol.header import ABSENT, NotAnObjectError, read_header
from inspector.protocol.mcp_definitions import Definition, ListPages, definitions_of, tools_in
from inspector.protocol.mcp_notes import McpNote, note_of, server_name_and_version

FILE_NAME = "mcp-tools.json"
_VERSION = 1
_MOST_SERVERS, _MOST_BYTES = 500, 1 << 24
# Lists of tools are far below 4 MB; longer lines are results, and parsing them would delay the writer.
_MOST_ASKED, _LONGEST_LINE = 100, 1 << 22
_LONGEST_NAME = 200

Digests = dict[str, dict[str, str]]
"""Digest of each member of a tool's definition, by tool and member."""


class ServerTools(NamedTuple):
    """A server's tool list.

    Attributes:
        version: the server's own version, or "".
        listed_at: time, RFC 3339 in UTC.
        tools: by name.
        tap: start of the tap as in its capture's header (`opened_ns`); 0 if unknown.
        before: list of an earlier tap, if any.
    """

    version: str
    listed_at: str
    tools: Digests
    tap: int = 0
    before: ServerTools | None = None

    def before_tap(self, tap: int) -> ServerTools | None:
        """Returns the list known when a tap began; this list may be from that tap."""
        return self.before if tap and tap == self.tap else self


def digests_of(listed: Mapping[str, Definition]) -> Digests:
    """Returns the stored digests of definitions."""
    return {name: {part: _digest(said) for part, said in one.aspects.items()} for name, one in listed.items()}


def _digest(said: bytes) -> str:
    return hashlib.blake2b(said, digest_size=8).hexdigest()


def baseline_path() -> Path:
    return data_folder() / FILE_NAME


def read_baseline() -> dict[str, ServerTools]:
    """Returns the known servers by name; empty if the file is damaged or from a newer version."""
    try:
        data = read_up_to(baseline_path(), _MOST_BYTES + 1)
        stored = json.loads(data) if len(data) <= _MOST_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    servers = stored.get("servers") if isinstance(stored, dict) and stored.get("version") == _VERSION else None
    found = ((name, _listed(value)) for name, value in servers.items()) if isinstance(servers, dict) else ()
    return {name: one for name, one in found if one is not None}


def _listed(value: Any) -> ServerTools | None:
    if not isinstance(value, dict) or not isinstance(tools := value.get("tools"), dict):
        return None
    digests = {name: parts for name, parts in tools.items() if isinstance(parts, dict)}
    tap = value.get("tap")
    listed = ServerTools(
        str(value.get("version", "")), str(value.get("seen", "")), digests, tap if isinstance(tap, int) else 0
    )
    earlier = value.get("before")
    before = _listed({**earlier, "before": None}) if isinstance(earlier, dict) else None
    return listed._replace(before=before)


def store_baseline(seen: Mapping[str, ServerTools]) -> None:
    """Merges the new tool lists into the file; keeps the 500 most recent servers.

    A client starts the taps of all its servers at once; the lock serializes them.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    path = baseline_path()
    # Without the lock the file is still replaced whole; only a parallel update may be lost.
    lock = FileLock.acquire(path.with_suffix(".lock"), _PATIENCE_S)
    try:
        known = read_baseline()
        # Removed and added again, so that the order is by last use.
        for name, one in seen.items():
            before = known.pop(name, None)
            before = before.before_tap(one.tap) if before is not None else None
            known[name] = one._replace(before=before._replace(before=None) if before is not None else None)
        latest = list(known.items())[-_MOST_SERVERS:]
        told = {"version": _VERSION, "servers": {name: _as_json(one) for name, one in latest}}
        replace_file(path, json.dumps(told, separators=(",", ":")).encode("utf-8", "replace"))
    finally:
        if lock is not None:
            lock.remove()


_PATIENCE_S = 2.0


def _as_json(one: ServerTools) -> dict[str, Any]:
    return {
        "version": one.version, "seen": one.listed_at, "tools": one.tools, "tap": one.tap,
        "before": _as_json(one.before) if one.before is not None else None,
    }  # fmt: skip


class ToolListWatcher:
    """Collects tool lists from the traffic of a tap; most lines need only a substring search.

    Args:
        tap: its start (`ServerTools.tap`).

    Attributes:
        lists_by_server: last list of each server, by its name.
    """

    def __init__(self, tap: int = 0) -> None:
        self.lists_by_server: dict[str, ServerTools] = {}
        self._tap = tap
        self._unstored = False
        self._asked: dict[str, Any] = {}  # cursor by request id
        self._pages = ListPages()
        self._server = self._version = ""

    def on_message(self, text: str, *, by_server: bool) -> None:
        """Processes a JSON-RPC message. Never raises."""
        # A tap passes every message through here, so most are refused by length and a byte search.
        if len(text) > _LONGEST_LINE or not self._may_matter(text, by_server=by_server):
            return
        try:
            header = read_header(text.encode())
        except (NotAnObjectError, UnicodeEncodeError):
            return
        note = note_of(header) if header.jsonrpc is not ABSENT else None
        if note is None:
            return
        if not by_server:
            if note.method == "tools/list" and note.params is not None:
                self._asked[note.written_id] = note.params.cursor
                # A server that never answers must not let this grow.
                if len(self._asked) > _MOST_ASKED:
                    del self._asked[next(iter(self._asked))]
        else:
            self._on_answer(note)

    def _may_matter(self, text: str, *, by_server: bool) -> bool:
        if not by_server:
            return '"tools/list"' in text
        return "serverInfo" in text or (bool(self._asked) and '"tools"' in text)

    def _on_answer(self, note: McpNote) -> None:
        if note.result is None:
            return
        name, version = server_name_and_version(note.result)
        if name:
            self._server, self._version = name[:_LONGEST_NAME], version[:_LONGEST_NAME]
        # A result without a known request may belong to any method.
        if note.written_id not in self._asked:
            return
        page = tools_in(note.result.tools)
        # Only a complete list is stored: tools of a page that is missing would look removed.
        complete = self._pages.add_page(self._asked.pop(note.written_id), page or [], note.result.next_cursor)
        if complete and self._server:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            tools, known = digests_of(definitions_of(complete)), self.lists_by_server.get(self._server)
            # Clients list tools at each start, mostly without a change, so the file is not written again.
            self._unstored |= known is None or (known.version, known.tools) != (self._version, tools)
            self.lists_by_server[self._server] = ServerTools(self._version, now, tools, self._tap)

    def store(self) -> None:
        """Stores new lists; ignores an OSError."""
        if self._unstored:
            self._unstored = False
            with suppress(OSError):
                store_baseline(self.lists_by_server)
