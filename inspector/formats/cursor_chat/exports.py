"""Converts chats that Cursor exported as Markdown: the texts of the user and of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.formats.cursor_chat.reader import COMPOSER_KEY, MODEL, NAME, USER
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.protocol.tolerant_encoder import to_json

_HEAD_BYTES = 1 << 12
_MAX_BYTES = 1 << 29
_BEGIN = re.compile(
    rb"(?:\xef\xbb\xbf)?# [^\n]*(?:\n[^\n]+){0,3}?\r?\n_Exported on [^\n]{1,100} from Cursor(?: \([^\n)]*\))?_"
)
_MESSAGE = re.compile(r"^---\r?\n\r?\n\*\*(User|Cursor)\*\*\r?\n\r?\n", re.MULTILINE)
_EXPORTED = re.compile(r"^_Exported on (.*) from Cursor(?: \((.*)\))?_\s*$", re.MULTILINE)
_TYPES = {"User": USER, "Cursor": MODEL}


class _ExportConversion:
    """Converts an exported chat.

    Attributes:
        progress: messages converted, and their total.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        with self._path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
        records = records_of(data.decode("utf-8-sig", "replace"), self._path.stem)
        for number, record in enumerate(records, 1):
            yield to_json(dict(record)) + b"\n"
            self.progress = (number, len(records))


def records_of(text: str, chat: str) -> list[Mapping[str, Any]]:
    """Returns the chat and its messages."""
    head, *parts = _MESSAGE.split(text)
    told = _EXPORTED.search(head)
    title = " ".join(line.lstrip("# ") for line in head[: told.start() if told else None].splitlines()).strip()
    facts = {"name": title, "exported": told[1], "version": told[2]} if told else {"name": title}
    found: list[Mapping[str, Any]] = [{COMPOSER_KEY: chat, "composer": facts}]
    for number, (speaker, said) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        bubble = {"bubbleId": str(number), "type": _TYPES[speaker], "text": said.strip().removesuffix("---").rstrip()}
        found.append({COMPOSER_KEY: chat, "bubble": bubble})
    return found


CONVERSION = FileConverter(
    head_bytes=_HEAD_BYTES, begins_file=lambda head: _BEGIN.match(head) is not None,
    convert=_ExportConversion, container=NAME,
)  # fmt: skip
