"""Converts protocol exports of MCP Inspector: entries with a message each, a request's with its response and duration.

Each message becomes a line, in order of time. A response comes its duration after the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.formats.document_conversion import DocumentConversion
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.mcp_inspector import FORMAT
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.timestamps import NO_TIME, parse_time

_SORTS = ("request", "response", "notification")
_CLIENT, _SERVER = "client", "server"


def begins_export(head: bytes) -> bool:
    """Returns True for the first bytes of an export."""
    if b'"direction"' not in head or b'"message"' not in head:
        return False
    entry = first_record(head)
    is_entry = entry.get("direction") in _SORTS and {"id", "timestamp"} <= entry.keys()
    return is_entry and "jsonrpc" in mapping_or_empty(entry.get("message"))


def _lines(document: Any, path: Path) -> list[Mapping[str, Any]]:
    del path
    timed = [one for entry in mappings_in(document) for one in _messages(entry)]
    return [line for _, line in sorted(timed, key=lambda one: one[0])]


def _messages(entry: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the lines of an entry with their times in nanoseconds."""
    time_ns, sort = parse_time(entry.get("timestamp")), entry.get("direction")
    # Older versions do not name the sender.
    sender = entry.get("origin") or (_SERVER if sort == "notification" else _CLIENT)
    here, there = (_CLIENT, _SERVER) if sender == _CLIENT else (_SERVER, _CLIENT)
    yield time_ns, {"timestamp": entry.get("timestamp"), "direction": f"{here}->{there}",
                    "message": entry.get("message")}  # fmt: skip
    if isinstance(response := entry.get("response"), Mapping):
        took = number_or_none(entry.get("duration"))
        later = time_ns + int(took * 1e6) if took is not None and took >= 0 and time_ns != NO_TIME else time_ns
        failed = {"client_error": entry["clientError"]} if "clientError" in entry else {}
        yield later, {"timestamp": _written(later, entry), "direction": f"{there}->{here}", **failed,
                      "message": response}  # fmt: skip


def _written(time_ns: int, entry: Mapping[str, Any]) -> object:
    if time_ns == NO_TIME:
        return entry.get("timestamp")
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_export, container=FORMAT.name,
    convert=lambda path: DocumentConversion(path, _lines),
)  # fmt: skip
