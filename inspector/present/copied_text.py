"""Texts for the clipboard: JSON, ids, and filters for values, cells and numbers. Secrets are masked."""

from __future__ import annotations

import json
import math

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.document.document import CaptureDocument
from inspector.filters.field import Field, FieldType
from inspector.filters.parse import MAX_LENGTH
from inspector.filters.payloads import message_text
from inspector.filters.strings import quote
from inspector.present.message_columns import Column
from inspector.present.message_row import RowContent
from inspector.protocol import kinds
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.timestamps import format_time

_FOUND_BY = 80
"""Characters of a text in a filter for it."""


def envelope_or_text(document: CaptureDocument, message: int) -> object:
    """Returns the decoded envelope, or other bytes as text; not masked."""
    records = document.capture.records
    envelope = records.envelope(message)
    return records.envelope_bytes(message).decode("utf-8", "backslashreplace") if envelope is None else envelope


def json_text(envelope: object) -> str:
    """Returns an envelope as indented JSON; a text unchanged."""
    return mask_text(envelope) if isinstance(envelope, str) else pretty_json(mask_secrets(envelope))


def json_line(envelope: object) -> str:
    """Returns an envelope as JSON on one line; a text in an object."""
    value = {"text": envelope} if isinstance(envelope, str) else envelope
    return json.dumps(mask_secrets(value), ensure_ascii=False, separators=(",", ":"))


def numbers_filter(messages: NDArray[np.uint32]) -> str | None:
    """Returns a filter for ascending messages by number; None for no messages, or if it is too long.

    Three or more consecutive messages become a range.
    """
    if not len(messages):
        return None
    # Signed integers, since differences of unsigned ones cannot be negative.
    breaks = np.flatnonzero(np.diff(messages.astype(np.int64)) > 1)
    firsts = messages[np.concatenate(([0], breaks + 1))].tolist()
    lasts = messages[np.concatenate((breaks, [len(messages) - 1]))].tolist()
    if len(firsts) > _MOST_RUNS:
        return None
    single, ranges = list[str](), list[str]()
    for first, last in zip(firsts, lasts, strict=True):
        if last - first < _RANGE - 1:
            single += [str(message + 1) for message in range(first, last + 1)]
        else:
            ranges.append(f"no >= {first + 1} && no <= {last + 1}")
    if len(ranges) > 1 or (ranges and single):
        # `&&` binds tighter than `||`, but readers should not have to know.
        ranges = [f"({one})" for one in ranges]
    one_by_one = [f"no == {single[0]}"] if len(single) == 1 else [f"no in {{{', '.join(single)}}}"] if single else []
    expression = " || ".join(one_by_one + ranges)
    return expression if len(expression) <= MAX_LENGTH else None


_MOST_RUNS = 500  # bounds the work; the length is checked at the end
_RANGE = 3  # messages of the shortest run written as a range


def cell_filter(document: CaptureDocument, content: RowContent, column: int, *, second: bool = False) -> str | None:
    """Returns a filter for the value of a cell, if it has one.

    Args:
        document: the document.
        content: the row.
        column: one of `Column`.
        second: the receiver's half of From -> To.
    """
    capture, message = document.capture, content.message
    if column in (Column.NUMBER, Column.GUTTER):
        return f"no == {message + 1}"
    if column == Column.TIME:
        written = format_time(int(capture.columns["time_ns"][message]))
        return None if written is None else f'time == "{written}"'
    if column == Column.FROM_TO:
        return _end_filter(capture.string("sender", message), capture.recipients(message), content, second=second)
    if column == Column.KIND:
        return _equals_unless_secret("kind", content.kind) if content.kind else None
    if column == Column.CONTEXT:
        path = document.analysis.contexts.paths
        node = document.analysis.contexts.node_of(message)
        return _equals_unless_secret("context", path[node + 1]) if content.path else "!context"
    if column == Column.MESSAGE:
        return _text_filter(document, content)
    if column == Column.LATENCY:
        latency = answer_latency_ns(document.analysis, message)
        return None if latency is None or not content.latency else f"latency >= {latency / 1e6:.15g}"
    return f"size == {int(capture.columns['size'][message])}"


def field_filter(document: CaptureDocument, field: Field, message: int) -> str | None:
    """Returns a filter for a message's value of a field, if possible and not secret."""
    value = field.value(document.analysis, message)
    if value is None or value == []:
        return f"!{field.name}"
    if field.secret_at(document.analysis, message) is not None:
        return None
    if field.type is FieldType.TIME and isinstance(value, int):
        return f"{field.name} == {quote(format_time(value) or '')}"
    if isinstance(value, list) and field.many:
        terms = [f"{field.name} == {quote(one)}" for one in value if isinstance(one, str) and mask_text(one) == one]
        return " && ".join(terms) if len(terms) == len(value) else None
    if isinstance(value, bool):
        return f"{field.name} == {'true' if value else 'false'}"
    if isinstance(value, int):
        return f"{field.name} == {value}" if abs(value) < 1 << 63 else None
    if isinstance(value, float):
        # 17 digits give the same float again.
        return f"{field.name} == {value:.17g}" if math.isfinite(value) else None
    if isinstance(value, str) and mask_text(value) == value:
        return f"{field.name} == {quote(value)}" if len(value) <= _MAX_VALUE else None
    return None


_MAX_VALUE = 500
"""Limit of a value in a filter, in characters."""


def _end_filter(sender: str | None, to: tuple[str, ...], content: RowContent, *, second: bool) -> str | None:
    if second and to:
        return _equals_unless_secret("to", *to)
    if second and content.everyone:
        return "!to"
    return None if sender is None else _equals_unless_secret("from", sender)


def _equals_unless_secret(field: str, *values: str) -> str | None:
    """Returns a filter for values of a field, unless one contains a secret."""
    if any(mask_text(value) != value for value in values):
        return None
    return " && ".join(f"{field} == {quote(value)}" for value in values)


def _text_filter(document: CaptureDocument, content: RowContent) -> str | None:
    """Returns a filter for the tool of a call; else for the text."""
    columns = document.analysis.correlation.columns
    strings = document.capture.strings
    method, target = (int(columns[name][content.message]) for name in ("method", "target"))
    if content.kind in (kinds.REQUEST, kinds.PROPOSAL, kinds.RESPONSE) and target and strings[method] == "tools/call":
        return _equals_unless_secret("tool", strings[target])
    lines = (message_text(document.capture, content.message) or "").strip().splitlines()
    line = lines[0][:_FOUND_BY] if lines else ""
    return f"text contains {quote(line)}" if line and mask_text(line) == line else None


def id_text(document: CaptureDocument, message: int) -> str:
    """Returns the envelope's id with secrets masked; "" without an envelope."""
    return mask_text(document.capture.records.envelope_id(message) or "")
