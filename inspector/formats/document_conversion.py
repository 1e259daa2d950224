"""Converts files of one JSON document to lines, one for each record in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.formats.file_conversion import NotConvertedError
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.tolerant_encoder import to_json

_MAX_BYTES = 1 << 29
"""Limit of a document in bytes: all of it is in memory."""
_BOM = b"\xef\xbb\xbf"


def read_document(path: Path) -> Any:
    """Returns the value of a file of one JSON document. Raises OSError and NotConvertedError."""
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1).removeprefix(_BOM)
    if len(data) > _MAX_BYTES:
        raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
    if is_too_large(data):
        raise NotConvertedError(TOO_LARGE)
    try:
        return decode_json(data)
    except NotAnObjectError as error:
        raise NotConvertedError(f"it is {error}") from None


class DocumentConversion:
    """Converts a file of one JSON document.

    Attributes:
        progress: records converted, and their total.
    """

    def __init__(self, path: Path, records_of: Callable[[Any, Path], list[Mapping[str, Any]]]) -> None:
        """Stores the arguments.

        Args:
            path: of the file.
            records_of: returns the records of a document, each for one line. It never raises for values of any type.
        """
        self._path, self._records_of = path, records_of
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        records = self._records_of(read_document(self._path), self._path)
        for number, record in enumerate(records, 1):
            yield to_json(dict(record)) + b"\n"
            self.progress = (number, len(records))
