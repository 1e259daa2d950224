"""SQL tables `tool_calls` (requests joined with answers), `proposals`, `deliveries` and `tokens`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded, Interned, Numbers
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.document.document import CaptureDocument
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW
from inspector.tables.columns import Content, Rows, SqlType, Table, TableColumn, boolean_column, message_number_column
from inspector.tables.messages import FIELD_OF_COLUMN, column_of, field_column
from inspector.tables.payloads import payload_column

_T = SqlType


def _fields(*names: str) -> tuple[TableColumn, ...]:
    """Returns columns of fields of the row's message."""
    return tuple([column_of(FIELD_OF_COLUMN[name]) for name in names])


def _content(
    analysis: Analysis, rows: Rows, names: Collection[str], own: Mapping[str, Callable[[], Column]]
) -> Content:
    """Returns rows about messages: the table's own columns, else fields of the messages."""
    columns = {
        name: own[name]() if name in own else field_column(analysis, FIELD_OF_COLUMN[name].name, rows)
        for name in names
    }  # fmt: skip
    return Content(len(rows), columns)


def _values_at(values: Any, rows: Rows, absent: int) -> Any:
    """Returns values of messages; `absent` for NO_ROW."""
    return np.where(rows == NO_ROW, absent, values[np.where(rows == NO_ROW, 0, rows)] if len(values) else absent)


def _part_of(analysis: Analysis, rows: Rows, *path: str) -> Column:
    """Returns the JSON at a path in the payloads of messages."""
    parts = payload_column(analysis.capture, *path)

    def many(places: Rows) -> Iterator[object]:
        # Rows without a message stay in the result, as NULL.
        messages = rows[places]
        found = parts.values(messages[messages != NO_ROW])
        return (next(found) if message != NO_ROW else None for message in messages.tolist())

    def one(row: int) -> object:
        return next(many(np.array([row])))

    return Decoded(one, len(rows), decode_many=many, masked=True)


def _tool_calls(document: CaptureDocument, names: Collection[str]) -> Content:
    analysis = document.analysis
    calls = calls_of(analysis)
    rows, answers, failed = calls.rows, calls.answers, calls.failed
    columns = analysis.capture.columns
    latency = partial(field_column, analysis, "latency")

    def took() -> Column:
        # NaN means NULL in a column of numbers.
        values = np.full(len(rows), np.nan)
        there = answers != NO_ROW
        found = latency(answers[there])
        assert isinstance(found, Numbers)
        values[there] = found.values[slice(None)]
        return Numbers(values)

    own: dict[str, Callable[[], Column]] = {
        "answered": lambda: message_number_column(answers, NO_ROW),
        "answered_time": lambda: Numbers(_values_at(columns["time_ns"], answers, NO_TIME), NO_TIME),
        "latency": took,
        "failed": lambda: boolean_column(failed),
        "arguments": lambda: _part_of(analysis, rows, "params", "arguments"),
        "result": lambda: _part_of(analysis, answers, "result"),
    }
    return _content(analysis, rows, names, own)


TOOL_CALLS = Table("tool_calls", "A row for each call of a tool, its request joined with its answer; each call once.", (
    *_fields("no", "time", "from", "to", "tool", "context", "state"),
    TableColumn("answered", _T.INTEGER, "No. of the answer; NULL where there is none."),
    TableColumn("answered_time", _T.TIME, "When that came."),
    TableColumn("latency", _T.NUMBER, "Milliseconds between the two."),
    TableColumn("failed", _T.BOOLEAN, "The answer is a failure, or a gateway refused it."),
    TableColumn("arguments", _T.JSON, "Arguments of the call.", is_decoded=True),
    TableColumn("result", _T.JSON, "Result in the answer.", is_decoded=True),
    *_fields("space", "source"),
), _tool_calls)  # fmt: skip


def _proposals(document: CaptureDocument, names: Collection[str]) -> Content:
    analysis = document.analysis
    links, columns, strings = analysis.correlation.columns, analysis.capture.columns, analysis.capture.strings
    rows = np.flatnonzero(columns["kind"] == (strings.find(kinds.PROPOSAL) or -1))

    def first(kind: str) -> Rows:
        """Returns (n,) for each proposal the first message of a kind that names it, or NO_ROW."""
        found = np.full(len(columns), NO_ROW, np.int64)
        # Reversed, so that the first message of a kind is written last and stays.
        said = np.flatnonzero((columns["kind"] == (strings.find(kind) or -1)) & (links["cause"][:] != NO_ROW))[::-1]
        found[links["cause"][said].astype(np.int64)] = said
        return found[rows]

    own: dict[str, Callable[[], Column]] = {
        "fulfilled_by": lambda: message_number_column(first(kinds.REQUEST), NO_ROW),
        "rejected_by": lambda: message_number_column(first(kinds.REJECT), NO_ROW),
        "withdrawn_by": lambda: message_number_column(first(kinds.WITHDRAW), NO_ROW),
    }
    return _content(analysis, rows, names, own)


PROPOSALS = Table("proposals", "A row for each proposal, with its outcome.", (
    *_fields("no", "time", "from", "to", "method", "target", "context", "proposal_state"),
    TableColumn("fulfilled_by", _T.INTEGER, "No. of the request that fulfils it."),
    TableColumn("rejected_by", _T.INTEGER, "No. of the first message that rejects it."),
    TableColumn("withdrawn_by", _T.INTEGER, "No. of the message that withdraws it."),
    *_fields("space", "source"),
), _proposals)  # fmt: skip


def _deliveries(document: CaptureDocument, names: Collection[str]) -> Content:
    capture = document.capture
    columns = capture.deliveries
    sources = ("", *(source.name for source in capture.sources))
    made: dict[str, Callable[[], Column]] = {
        "no": lambda: message_number_column(columns["message"], NO_ROW),
        "participant": lambda: Interned(columns["participant"], capture.strings),
        "event": lambda: Interned(columns["event"], capture.strings),
        # 0 means no source, so the numbers are one higher.
        "source": lambda: Interned(columns["source"].astype(np.uint32) + 1, sources),
    }
    return Content(len(columns), {name: made[name]() for name in names})


DELIVERIES = Table("deliveries", "A row for each copy of a message in a gateway's log, in the order of the log.", (
    TableColumn("no", _T.INTEGER, "No. of the message."),
    TableColumn("participant", _T.TEXT, "The participant that received it, or did not."),
    TableColumn("event", _T.TEXT, "delivered or rejected."),
    TableColumn("source", _T.TEXT, "File that says so."),
), _deliveries)  # fmt: skip


def _tokens(document: CaptureDocument, names: Collection[str]) -> Content:
    analysis = document.analysis
    counted = np.flatnonzero(analysis.tokens.columns["tokens"] != NOT_COUNTED)
    return _content(analysis, np.union1d(counted, analysis.usage.reports()).astype(np.int64), names, {})


TOKENS = Table("tokens", "A row for each message that was counted or whose model call reports tokens, once a call.", (
    *_fields("no", "time", "from", "kind", "tool", "context", "tokens", "model", "usage_input", "usage_output",
             "usage_cache_read", "usage_cache_write", "source"),
), _tokens)  # fmt: skip
