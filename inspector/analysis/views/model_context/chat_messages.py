"""Converts a model context into messages and tools of chat completion APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.reconstruction import Entry, Moment
from inspector.protocol.message_text import compact_json
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text


def content_of(moment: Moment, place: int) -> str:
    """Returns the content of an entry: its summary if collapsed, else the counted text of its message."""
    context = moment.context
    row = int(context.rows[place])
    if place in context.sent.tools:
        return compact_json(context.sent.tools[place])
    if place in context.sent.texts:
        return context.sent.texts[place]
    if moment.collapsed[place]:
        return context.analysis.transients.summary(row) or ""
    return whole_content(context.analysis, row)


def content_of_entry(moment: Moment, entry: Entry) -> str:
    return content_of(moment, int(np.searchsorted(moment.context.rows, entry.message)))


def whole_content(analysis: Analysis, message: int) -> str:
    """Returns the content of a message that is not collapsed."""
    return counted_text(analysis.capture.string("kind", message) or "", analysis.capture.records.payload(message))


def messages_of(moment: Moment, *, secrets: bool = False) -> Iterator[dict[str, Any]]:
    """Yields the entries of a context, oldest first, without tool definitions (`tools_of`).

    APIs accept calls and results only in pairs, so a call or result without its counterpart is skipped.

    Args:
        secrets: True to include secrets; otherwise they are masked.
    """
    roles = moment.context.roles[moment.places]
    places = np.flatnonzero(moment.included & (roles != Role.TOOLS) & ~_halves(moment))
    for place in moment.in_order(places).tolist():
        made = _message(moment, place)
        yield made if secrets else mask_secrets(made)


def tools_of(moment: Moment) -> list[Any]:
    """Returns the tool definitions in the context, as the servers wrote them."""
    context = moment.context
    tools: list[Any] = []
    for place in np.flatnonzero(moment.included & (context.roles[moment.places] == Role.TOOLS)).tolist():
        if place in context.sent.tools:
            tools.extend(context.sent.tools[place])
            continue
        result = context.analysis.capture.records.payload(int(context.rows[place])).get("result")
        listed = result.get("tools") if isinstance(result, dict) else None
        tools.extend(listed if isinstance(listed, list) else [])
    return tools


def _halves(moment: Moment) -> NDArray[np.bool_]:
    """Mask of calls without a result in the context, and of results without their call."""
    context = moment.context
    rows, whys = context.rows[moment.places], context.whys[moment.places]
    calls = moment.included & np.isin(whys, (Why.CALLED, Why.PROPOSED))
    results = moment.included & (context.roles[moment.places] == Role.TOOL)
    answered = _calls_of(context.analysis, rows[results], whys[results])
    halves = np.zeros(len(rows), np.bool_)
    halves[calls] = ~np.isin(rows[calls], answered)
    halves[results] = ~np.isin(answered, rows[calls])
    return halves


def _calls_of(analysis: Analysis, rows: NDArray[np.int64], whys: NDArray[np.uint8]) -> NDArray[np.int64]:
    """(n,) the call or proposal of each result as the model knows it; NO_ROW."""
    cause = analysis.correlation.columns["cause"]
    found = cause[rows].astype(np.int64)
    proposed = (whys == Why.FULFILLED) & (found != NO_ROW)
    found[proposed] = cause[found[proposed]]
    return found


def _message(moment: Moment, place: int) -> dict[str, Any]:
    context = moment.context
    row, role = int(context.rows[place]), Role(int(context.roles[place]))
    if context.whys[place] in (Why.CALLED, Why.PROPOSED):
        return {"role": role.word, "content": None, "tool_calls": [_call(context.analysis, row)]}
    made: dict[str, Any] = {"role": role.word}
    if role is Role.TOOL:
        call = _calls_of(context.analysis, context.rows[place : place + 1], context.whys[place : place + 1])
        made["tool_call_id"] = _call_id(context.analysis, int(call[0]))
    elif role is Role.USER and (sender := context.analysis.capture.string("sender", row)):
        made["name"] = sender
    made["content"] = content_of(moment, place)
    return made


def _call(analysis: Analysis, row: int) -> dict[str, Any]:
    params = analysis.capture.records.payload(row).get("params")
    params = params if isinstance(params, dict) else {}
    arguments = json.dumps(params.get("arguments") or {}, ensure_ascii=False)
    name = params.get("name") or analysis.capture.strings[int(analysis.correlation.columns["target"][row])]
    function = {"name": name if isinstance(name, str) else str(name), "arguments": arguments}
    return {"id": _call_id(analysis, row), "type": "function", "function": function}


def _call_id(analysis: Analysis, row: int) -> str | None:
    """Returns the id that joins call and result: the envelope's, else the call's number: JSON-RPC ids repeat."""
    if row == NO_ROW:
        return None
    return analysis.capture.records.envelope_id(row) or f"call-{row + 1}"
