"""Adds a session's tokens to its lines: they are in `SESSION.settings.json`, beside `SESSION.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.factory_droid.reader import READER, SETTINGS_KEY
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES
from inspector.protocol.tolerant_encoder import to_json

_SUFFIX = ".settings.json"
_FACTS = ("model", "reasoningEffort", "interactionMode", "autonomyLevel", "providerLock", "assistantActiveTimeMs",
          "tokenUsage")  # fmt: skip
_MAX_BYTES = 1 << 20
_STEP = 1 << 22


def begins_session(head: bytes) -> bool:
    """Returns True for the first bytes of a session."""
    first = head.lstrip().partition(b"\n")[0]
    return b'"session_start"' in first and READER.read(first) is not None


class _SessionLines:
    """Lines of a session as they are, with a line of its settings behind them (a `GrowingConversion`).

    Attributes:
        progress: bytes read, and the file's size.
        can_grow: it was read to its end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, path.stat().st_size)
        self.can_grow = False
        self._rest = b""  # an unfinished line
        self._is_row = False  # the unfinished line was already output
        self._settings = b""  # as output

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError."""
        with self._path.open("rb") as file:
            while part := file.read(_STEP):
                whole, end, self._rest = (self._rest + part).rpartition(b"\n")
                self.progress = (self.progress[0] + len(part), self.progress[1])
                yield whole + end
        if self._rest:
            yield self._rest + b"\n"
            self._rest, self._is_row = (b"", False) if decoded_object(self._rest) is not None else (self._rest, True)
        yield self._new_settings()
        self.can_grow = True

    def convert_more(self, data: bytes) -> bytes:
        """Returns the lines for appended data; an unfinished one waits for its end."""
        whole, end, rest = (self._rest + data).rpartition(b"\n")
        self._is_row = self._is_row and not end and bool(rest)
        self._rest = rest
        return whole + end + (self._new_settings() if end else b"")

    def finish(self) -> bytes:
        """Returns the rest of this file as a line when another file replaces it."""
        rest, self._rest = self._rest, b""
        return rest + b"\n" if rest and not self._is_row else b""

    def _new_settings(self) -> bytes:
        """Returns the line of the settings if they changed."""
        beside = self._path.with_name(self._path.name.removesuffix(".jsonl") + _SUFFIX)
        try:
            if beside.is_symlink() or not beside.is_file() or beside.stat().st_size > _MAX_BYTES:
                return b""
            told = decoded_object(beside.read_bytes())
        except OSError:
            return b""
        facts: dict[str, Any] = {key: told[key] for key in _FACTS if key in told} if told is not None else {}
        line = to_json({"type": "session_settings", SETTINGS_KEY: self._path.stem, "settings": facts}) + b"\n"
        before, self._settings = self._settings, line
        return line if facts and line != before else b""


def _as_they_come(blocks: Iterable[bytes | None]) -> Iterator[bytes]:
    """Yields the lines of a stream, which has no file beside it."""
    yield from (block for block in blocks if block)


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_session, convert=_SessionLines, container=None,
    convert_stream=_as_they_come,
)  # fmt: skip
