"""Payloads of lines with many messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import Entry, payload_at, text_entry


def test_a_line_is_decoded_once_for_all_of_its_messages() -> None:
    decoded: list[bytes] = []

    def decode(line: bytes) -> Mapping[str, Any] | None:
        decoded.append(line)
        return {"words": line.decode().split()} if line != b"foreign" else None

    def entries_of(value: Mapping[str, Any]) -> list[Entry]:
        return [text_entry("chat", "user", "agent", word) for word in value["words"]]

    def reversed_entries_of(value: Mapping[str, Any]) -> list[Entry]:
        return entries_of(value)[::-1]

    line = b"one two three"
    assert [payload_at(line, n, entries_of, decode).get("text") for n in range(4)] == ["one", "two", "three", None]
    assert decoded == [line]
    assert payload_at(line, 0, reversed_entries_of, decode) == {"text": "three"}
    assert payload_at(b"foreign", 0, entries_of, decode) == {}
