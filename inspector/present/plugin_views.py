"""Payload views of plug-ins as plain data: built inside their guards, checked, and with secrets masked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from inspector.analysis.passes.plain_messages import plain_message
from inspector.formats.guards import VIEW_S, GarbageError, check_size
from inspector.plugins.declarations import Code, Facts, Part, Table, Text
from inspector.plugins.loading import payload_views
from inspector.present.subject import Subject
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads import record_tables
from inspector.protocol.secrets.masking import mask_secrets, mask_text

_MAX_BYTES = 1 << 20
_MAX_PARTS = 20
_MAX_FACTS = 200
_MAX_ROWS = 1_000
_MAX_COLUMNS = 50


@dataclass(frozen=True, slots=True)
class ViewSection:
    """Section of one payload view."""

    name: str
    title: str
    parts: tuple[Part, ...]


def view_sections(subject: Subject) -> list[ViewSection]:
    """Returns the sections that plug-ins add to a message. Never raises."""
    sections: list[ViewSection] = []
    for view, guard in payload_views(subject.kind):
        message = plain_message(subject.capture, subject.analysis.correlation, subject.message)
        parts = guard.call(VIEW_S, view.build, message, checked=checked_parts)
        if parts:
            sections.append(ViewSection(view.name, safe_line(view.title, 60), tuple(map(_masked, parts))))
    return sections


def checked_parts(answer: object) -> list[Part]:
    """Returns the parts of a view as plain data; raises GarbageError for anything else."""
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes):
        raise GarbageError(f"it returned {type(answer).__name__[:60]} in place of parts")
    parts: list[Part] = []
    for one in answer:
        if len(parts) == _MAX_PARTS:
            raise GarbageError(f"it returned more than {_MAX_PARTS} parts")
        check_size(one, _MAX_BYTES)
        parts.append(_checked_part(one))
    return parts


def _checked_part(one: object) -> Part:
    if isinstance(one, Facts):
        rows = [(_text(name), _text(value)) for name, value in _bounded(one.rows, _MAX_FACTS)]
        return Facts(rows)
    if isinstance(one, Text):
        return Text(_text(one.text), markdown=one.markdown is True)
    if isinstance(one, Code):
        return Code(_text(one.text))
    if isinstance(one, Table):
        columns = [_text(title) for title in _bounded(one.columns, _MAX_COLUMNS)]
        rows = [[_text(cell) for cell in row] for row in _bounded(one.rows, _MAX_ROWS)]
        if not columns or any(len(row) != len(columns) for row in rows):
            raise GarbageError("it returned a table with rows of other lengths than its columns")
        return Table(columns, rows)
    raise GarbageError(f"it returned {type(one).__name__[:60]} in place of Facts, Text, Code or Table")


def _bounded(values: object, most: int) -> list[Any]:
    if not isinstance(values, list | tuple) or len(values) > most:
        raise GarbageError(f"it returned a part that is no list of at most {most:,} rows")
    return list(values)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise GarbageError(f"it returned {type(value).__name__[:60]} in place of a text")
    # Half of a surrogate pair could not be shown.
    return value.encode("utf-8", "replace").decode()


def _masked(part: Part) -> Part:
    """Masks secrets as in the message's own payload: by names of facts and columns, and in texts."""
    if isinstance(part, Facts):
        return Facts([(mask_text(name), _masked_value(name, value)) for name, value in part.rows])
    if isinstance(part, Table):
        rows = [
            [_masked_value(title, cell) for title, cell in zip(part.columns, row, strict=True)] for row in part.rows
        ]
        return Table([mask_text(title) for title in part.columns], rows)
    if isinstance(part, Text):
        return Text(mask_text(part.text), part.markdown)
    return Code(mask_text(part.text))


def _masked_value(name: str, value: str) -> str:
    return mask_secrets({name: value})[name]


def record_table(table: Table) -> record_tables.Table:
    """Returns a table in the form that the details paint."""
    rows = tuple(tuple(row) for row in table.rows)
    return record_tables.Table(tuple(table.columns), rows, (False,) * len(table.columns), len(rows))
