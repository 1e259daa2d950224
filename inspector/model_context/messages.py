"""A context as chat messages in JSON, as chat completion interfaces take them: role, content, tool_calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.capture.hashes import NO_ROW
from inspector.model_context.reasons import Role, Why
from inspector.model_context.story import Moment
from inspector.protocol.secrets import mask_secrets
from inspector.tokens.text import counted_text


def content_of(moment: Moment, place: int) -> str:
    """What the model is given of an entry: its summary when it is collapsed, else what counts of the message."""
    row = int(moment.context.rows[place])
    if moment.collapsed[place]:
        return moment.context.analysis.transients.summary(row) or ""
    return whole_content(moment.context.analysis, row)


def whole_content(analysis: Analysis, message: int) -> str:
    """What a model would be given of a message that is not collapsed."""
    return counted_text(analysis.capture.string("kind", message) or "", analysis.capture.payload(message))


def messages_of(moment: Moment, *, secrets: bool = False) -> Iterator[dict[str, Any]]:
    """The entries that stand in the context, oldest first; definitions of tools are no messages (`tools_of`).

    Args:
        secrets: give secrets in clear; else they are masked.
    """
    roles = moment.context.roles[moment.places]
    for place in np.flatnonzero(moment.included & (roles != Role.TOOLS)).tolist():
        made = _message(moment, place)
        yield made if secrets else mask_secrets(made)


def tools_of(moment: Moment) -> list[Any]:
    """The tools the model was told of, as their servers describe them."""
    context = moment.context
    tools: list[Any] = []
    for place in np.flatnonzero(moment.included & (context.roles[moment.places] == Role.TOOLS)).tolist():
        result = context.analysis.capture.payload(int(context.rows[place])).get("result")
        listed = result.get("tools") if isinstance(result, dict) else None
        tools.extend(listed if isinstance(listed, list) else [])
    return tools


def _message(moment: Moment, place: int) -> dict[str, Any]:
    context = moment.context
    row, role = int(context.rows[place]), Role(int(context.roles[place]))
    if context.whys[place] in (Why.CALLED, Why.PROPOSED):
        return {"role": role.word, "content": None, "tool_calls": [_call(context.analysis, row)]}
    made: dict[str, Any] = {"role": role.word}
    if role is Role.TOOL:
        made["tool_call_id"] = _call_id(context.analysis, int(context.analysis.correlation.columns["cause"][row]))
    elif role is Role.USER and (sender := context.analysis.capture.string("sender", row)):
        made["name"] = sender
    made["content"] = content_of(moment, place)
    return made


def _call(analysis: Analysis, row: int) -> dict[str, Any]:
    params = analysis.capture.payload(row).get("params")
    params = params if isinstance(params, dict) else {}
    arguments = json.dumps(params.get("arguments") or {}, ensure_ascii=False)
    name = params.get("name") or analysis.capture.strings[int(analysis.correlation.columns["target"][row])]
    function = {"name": name if isinstance(name, str) else str(name), "arguments": arguments}
    return {"id": _call_id(analysis, row), "type": "function", "function": function}


def _call_id(analysis: Analysis, row: int) -> str | None:
    """The id that joins a call and its result: the envelope's, else the call's number, as JSON-RPC ids come again."""
    if row == NO_ROW:
        return None
    return analysis.capture.envelope_id(row) or f"call-{row + 1}"
