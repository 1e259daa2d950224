"""Converts HTTP archives (HAR) of browsers, proxies and test tools, entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.exchange_lines import ExchangeConversion
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.har import FORMAT
from inspector.protocol.array_elements import ElementScanner, trim_span
from inspector.protocol.header import NotAnObjectError, decode_json, decode_object
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.truncated_json import complete_json

_HEAD_BYTES = 1 << 16
"""Number of first bytes needed for detection."""

_LOG = re.compile(rb'"log"\s*:\s*\{')
_ENTRIES = re.compile(rb'"entries"\s*:\s*\[')
_KEYS = frozenset({"version", "creator", "browser", "pages", "entries"})
_BOM = b"\xef\xbb\xbf"
_BLOCK_BYTES = 1 << 20
_MAX_ENTRY = 1 << 28
"""Limit in bytes of a decoded entry; a longer one is an error."""


def is_archive(head: bytes) -> bool:
    """Returns True for the first bytes of an HTTP archive.

    Programs add fields of their own, as Polly does: their names begin with an underscore.
    """
    if _LOG.search(head, 0, _HEAD_BYTES) is None:
        return False
    begin = complete_json(head[:_HEAD_BYTES].removeprefix(_BOM).lstrip())
    value = decode_object(begin) if begin is not None else {}
    log = value.get("log")
    if not isinstance(log, dict) or _first_key(value) != "log":
        return False
    return _first_key(log) in _KEYS


def _first_key(value: Mapping[str, Any]) -> str | None:
    """Returns the first key that the archive's own format has."""
    return next((key for key in value if not key.startswith("_") and key != "comment"), None)


class HarConversion(ExchangeConversion):
    """Converts the exchanges of an archive."""

    def _entries(self) -> Iterator[Any]:
        yield from (_decoded_entry(one, number) for number, one in enumerate(self._encoded_entries(), 1))

    def _encoded_entries(self) -> Iterator[bytes]:
        """Yields the entries, with one at a time in memory."""
        with self._path.open("rb") as file:
            begin = self._begin(file)
            file.seek(0)
            scanner = ElementScanner(begin=begin)
            held = b""  # from `at` on: a possible start of an unfinished entry
            at = 0
            while data := file.read(_BLOCK_BYTES):
                held += data
                for start, stop in scanner.scan(data):
                    span = trim_span(held, (start - at, stop - at))
                    if span is not None and start >= begin:
                        yield held[span[0] : span[1]]
                self.progress = (scanner.position, self.progress[1])
                if scanner.closed_at is not None:
                    return
                keep = max(scanner.unfinished_start, at)
                held, at = held[keep - at :], keep
        raise NotConvertedError("it ends in the middle of its entries")

    def _begin(self, file: Any) -> int:
        """Returns the offset of the first entry."""
        head = b""
        while data := file.read(_BLOCK_BYTES):
            head += data
            found = _ENTRIES.search(head)
            if found is not None:
                return found.end()
            if len(head) > _MAX_ENTRY:
                break
        raise NotConvertedError("it has no entries")


CONVERSION = FileConverter(head_bytes=_HEAD_BYTES, begins_file=is_archive, convert=HarConversion, container=FORMAT.name)


def _decoded_entry(entry: bytes, number: int) -> Any:
    if len(entry) > _MAX_ENTRY:
        raise NotConvertedError(f"its entry {number} has {len(entry) / 1e6:,.0f} MB")
    if is_too_large(entry):
        raise NotConvertedError(f"of its entry {number}: {TOO_LARGE}")
    try:
        return decode_json(entry)
    except NotAnObjectError as error:
        raise NotConvertedError(f"its entry {number} is {error}") from None
