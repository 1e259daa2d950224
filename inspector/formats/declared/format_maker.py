"""Makes a format of a declaration, read in the same way as a built-in one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from inspector.formats.declared.declaration import Declaration, LineForm, parse_declaration
from inspector.formats.declared.events import EventMaker, RecordMatch
from inspector.formats.declared.line_pattern import LinePattern
from inspector.formats.declared.record_paths import InnerRecord, value_at
from inspector.formats.entry_builders import decoded_object, payload_at, record_of
from inspector.formats.format import Format, Origin, Participants, Stage
from inspector.formats.registry import Recipe, register
from inspector.formats.vocabulary import Event
from inspector.protocol.derived_messages import Payload
from inspector.protocol.record import Record


class DeclaredReader:
    """Reads the records of a declared format.

    Attributes:
        events: makes the rows of a record.
    """

    def __init__(self, declaration: Declaration) -> None:
        self.events = EventMaker(declaration)
        self._name, self._match = declaration.name, RecordMatch(declaration.match)
        match = declaration.match
        pattern = LinePattern(declaration.lines.regex) if declaration.lines.regex is not None else None
        self._values_of: Callable[[bytes], Mapping[str, Any] | None] = (
            decoded_object if pattern is None else pattern.groups_of
        )
        self._inner_path = declaration.lines.path if declaration.lines.form is LineForm.JSON_LINES else ()
        self._is_detected = bool(match.keys or match.values) or (pattern is not None and not pattern.matches_anything)
        self._marks = () if pattern is not None else tuple(_key_mark(path[0]) for path in match.keys)

    def read(self, line: bytes, *, unknown: bool = False) -> Record | None:
        """Reads one record; `unknown` if the user chose the format. Never raises."""
        if not (self._is_detected or unknown) or not all(mark in line for mark in self._marks):
            return None
        values = self._values_of(line)
        if values is None or not self._match.is_met(values):
            return None
        return record_of(line, self._name, self._events_in(values), self.events.session_of(values))

    def payload(self, line: bytes, number: int) -> Payload:
        """Returns the payload of message `number` of a record, from 0. Never raises."""
        return payload_at(line, number, self._events_in, self._values_of)

    def _events_in(self, values: Mapping[str, Any]) -> list[Event]:
        """Returns the rows of a line, at least one."""
        found = value_at(values, self._inner_path) if self._inner_path else None
        if not isinstance(found, list) or not found:
            return self.events.events_of(values)
        events = [event for element in found for event in self.events.events_of(InnerRecord(element, values))]
        used: set[str] = set()
        for number, event in enumerate(events):
            meaning = event.meaning
            # Elements may have the id of their line in common.
            if meaning.identifier is not None and meaning.identifier in used:
                meaning.identifier = f"{meaning.identifier}#{number}"
            used.add(meaning.identifier or "")
        return events


def _key_mark(key: str) -> bytes:
    """Returns bytes that occur in any record with a key; searching them is quicker than decoding."""
    is_plain = key.isascii() and json.dumps(key) == f'"{key}"' and "/" not in key
    return f'"{key}"'.encode() if is_plain else b""


def make_format(declaration: Declaration) -> Format:
    """Returns the format of a declaration."""
    reader, lines = DeclaredReader(declaration), declaration.lines
    return Format(
        name=declaration.name,
        title=declaration.title,
        reads=declaration.title,
        stage=Stage.DECLARED,
        traffic=declaration.traffic,
        read=reader.read,
        payload=reader.payload,
        participants=Participants(agent=reader.events.agent, program=reader.events.program),
        namespace=reader.events.namespace,
        names_sessions=bool(declaration.fields.session),
        origin=Origin.DECLARED,
        array_path=lines.path if lines.form is LineForm.JSON_ARRAY and lines.path else None,
    )


def format_of_text(text: str) -> Format:
    """Returns the format of a declaration's text. Raises DeclarationError."""
    return make_format(parse_declaration(text))


def register_declaration(text: str) -> Format:
    """Adds the format of a declaration's text to the registry, and returns it. Raises DeclarationError."""
    made = format_of_text(text)
    register(made, Recipe(f"{__name__}:format_of_text", (text,)))
    return made
