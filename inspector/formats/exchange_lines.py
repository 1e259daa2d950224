"""Lines of a recording from the exchanges of any container: an archive, a cassette, flows of a proxy."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from inspector.formats.exchange_entries import entry_to_lines
from inspector.formats.file_conversion import NotConvertedError
from inspector.protocol.tolerant_encoder import to_json


class ExchangeConversion(ABC):
    """Converts the exchanges of a file to lines of a recording, in order of time.

    Attributes:
        progress: bytes read, and the file's size; or exchanges read, and their total.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, path.stat().st_size)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        yield from exchange_lines(self._entries())

    @abstractmethod
    def _entries(self) -> Iterator[Any]:
        """Yields the exchanges as archives have them."""


def exchange_lines(entries: Iterable[Any]) -> Iterator[bytes]:
    """Yields the lines of entries in the order of time, with overlapping exchanges interleaved.

    Args:
        entries: exchanges as archives have them. May raise NotConvertedError, which follows the lines before it.
    """
    waiting: list[tuple[int, int, dict[str, Any]]] = []
    order = 0
    trouble: NotConvertedError | None = None
    try:
        for number, entry in enumerate(entries, 1):
            for time_ns, line in entry_to_lines(entry, number):
                if line["kind"] == "http-request":
                    while waiting and waiting[0][0] <= time_ns:
                        yield _json_line(heapq.heappop(waiting)[2])
                order += 1
                heapq.heappush(waiting, (time_ns, order, line))
    except NotConvertedError as error:
        trouble = error
    while waiting:
        yield _json_line(heapq.heappop(waiting)[2])
    if trouble is not None:
        raise trouble


def _json_line(value: dict[str, Any]) -> bytes:
    return to_json(value) + b"\n"


def header_list(headers: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Returns headers as an archive has them."""
    return [{"name": name, "value": value} for name, value in headers]
