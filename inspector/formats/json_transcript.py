"""Reader of transcripts that are JSON objects, one a line: search of marks, decoding, record and payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.formats.entry_builders import Entry, decoded_object, payload_at, record_of
from inspector.protocol.derived_messages import Payload
from inspector.protocol.record import Record

Marks = tuple[bytes, ...]
"""Byte strings that all occur in a line."""


def _no_session(value: Mapping[str, Any]) -> object:
    del value
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTranscript:
    """Reads the lines of one transcript format; its `read` and `payload` are the members of a `Format`.

    Attributes:
        name: of the format.
        marks: alternatives: a line needs all byte strings of one of them. Searching bytes is far quicker than
            decoding, and each reader sees lines of all formats.
        is_known: returns True for a decoded line of this format; with `unknown` also for records of newer types.
        events_of: returns the rows of a line, at least one (`inspector.formats.vocabulary`).
        session_of: returns the id of a line's session, used if it is a text.
    """

    name: str
    marks: tuple[Marks, ...]
    is_known: Callable[[Mapping[str, Any], bool], bool]
    events_of: Callable[[Mapping[str, Any]], Sequence[Entry]]
    session_of: Callable[[Mapping[str, Any]], object] = _no_session

    def read(self, line: bytes, *, unknown: bool = False) -> Record | None:
        """Reads one line without its end, if it is of this format. Never raises."""
        # Plain loops: generators take longer than the searches, for every format and every line.
        for marks in self.marks:
            for mark in marks:
                if mark not in line:
                    break
            else:
                break
        else:
            return None
        value = decoded_object(line)
        if value is None or not self.is_known(value, unknown):
            return None
        try:
            return record_of(line, self.name, self.events_of(value), self.session_of(value))
        except RecursionError:  # nested as deeply as can be decoded, too deeply to be encoded
            return None

    def payload(self, line: bytes, number: int) -> Payload:
        """Returns the payload of message `number` of a record, from 0. Never raises."""
        return payload_at(line, number, self.events_of)


def converted_transcript(
    name: str, key: str, records: Sequence[str], events_of: Callable[[Mapping[str, Any]], Sequence[Entry]]
) -> JsonTranscript:  # fmt: skip
    """Returns the reader of lines that a conversion made; records of newer types are identified by their key.

    Args:
        name: of the format.
        key: member of a line with the id of its session.
        records: members; a line has one of them.
        events_of: returns the rows of a line, at least one.
    """

    def is_known(value: Mapping[str, Any], _unknown: bool) -> bool:
        return isinstance(value.get(key), str) and any(isinstance(value.get(one), Mapping) for one in records)

    return JsonTranscript(
        name=name, marks=((f'"{key}"'.encode(),),), is_known=is_known, events_of=events_of,
        session_of=lambda value: value.get(key),
    )  # fmt: skip
