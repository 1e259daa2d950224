"""Interns histories repeated by spans of model calls: each message is emitted once, by the first span with it.

Spans are processed in time order. Messages are identified by hashes of their raw form. So a repeated one costs one
hash, and memory grows only with new messages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from inspector.formats.entry_builders import Entry, bytes_of
from inspector.formats.otlp import content, message_marks
from inspector.formats.otlp.content import Message
from inspector.formats.otlp.spans import Span

_HASH_BYTES = 12
_PLACE_BYTES = 4


class HistoryInterner:
    """Set of emitted messages by agent."""

    def __init__(self) -> None:
        self._parts: dict[bytes, tuple[str | bytes, ...]] = {}  # digests or marks of its entries, by raw message
        self._told: set[bytes] = set()  # raw messages with their place among equal ones
        self._marks: set[bytes] = set()

    def take_new_input(self, span: Span, speaker: str) -> tuple[list[Message], int, Counter[str]]:
        """Processes the input of a model.

        Returns:
            The new messages, the number of the others, and the count of each entry in the history.
        """
        base = f"{span.trace}\0{speaker}\0".encode("utf-8", "replace")
        seen, places = Counter[str](), Counter[bytes]()
        new: list[Message] = []
        repeated = 0
        for written, read in content.written_history(span):
            # Hashes instead of texts, since a trace repeats its history in each call.
            key = hashlib.blake2b(base + written, digest_size=_HASH_BYTES).digest()
            places[key] += 1
            parts = self._parts.get(key)
            if parts is None:
                parts = self._parts[key] = tuple(_parts(read(), message_marks.given_entries, speaker, span.trace))
            for part in parts:
                if isinstance(part, str):
                    seen[part] += 1
            # The same text at another count is another message.
            place = key + places[key].to_bytes(_PLACE_BYTES, "big")
            if place in self._told:
                repeated += 1
                continue
            self._told.add(place)
            if self._note(parts, seen):
                new += read()
            else:
                repeated += 1
        return new, repeated, seen

    def add_output(self, span: Span, speaker: str, seen: Counter[str]) -> dict[str, int]:
        """Processes the output of a model.

        Args:
            span: the model call.
            speaker: its agent.
            seen: count of each entry in its history.

        Returns:
            The entries that the answer repeats, with their counts.
        """
        parts = list(_parts(content.output_messages(span), message_marks.answer_entries, speaker, span.trace))
        again = {part: seen[part] for part in parts if isinstance(part, str) and seen[part]}
        for part in parts:
            if isinstance(part, str):
                seen[part] += 1
            self._note((part,), seen)
        return again

    def add_mark(self, mark: bytes) -> None:
        """Adds a message by its mark."""
        self._marks.add(_hash_of(mark))

    def _note(self, parts: Iterable[str | bytes], seen: Counter[str]) -> bool:
        """Adds entries; returns True if any is new."""
        is_new = False
        for part in parts:
            mark = _hash_of(message_marks.content_mark(part, seen[part]) if isinstance(part, str) else part)
            if mark not in self._marks:
                self._marks.add(mark)
                is_new = True
        return is_new


def _parts(
    messages: Iterable[Message], entries_of: Callable[[dict[str, Any]], Iterator[Entry]], speaker: str, trace: str
) -> Iterator[str | bytes]:
    """Yields the mark of each entry with an id, and the digest of any other."""
    for message in messages:
        for entry in entries_of(message):
            message_marks.name_speaker(entry, speaker)
            own = message_marks.id_mark(entry, trace)
            yield own or message_marks.content_digest(entry, bytes_of(entry.payload), speaker, trace)


def _hash_of(mark: bytes) -> bytes:
    return hashlib.blake2b(mark, digest_size=_HASH_BYTES).digest()
