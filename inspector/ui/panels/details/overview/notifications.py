"""MCP notifications in words: what changed, how far something is, what was logged, what is called off.

Source: MCP 2025-06-18, Utilities (progress, cancellation, logging) and the list-changed notifications.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.present.wire_text import plain
from inspector.protocol.calls import rpc_id
from inspector.protocol.payloads.outline import nested_in, value_text
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.words import sender_of

_LOOKED_BACK = 50_000
_BAD_LEVELS = frozenset({"error", "critical", "alert", "emergency"})
_LISTS = {
    "notifications/tools/list_changed": "The tools of {} changed.",
    "notifications/prompts/list_changed": "The prompts of {} changed.",
    "notifications/resources/list_changed": "The resources of {} changed.",
    "notifications/roots/list_changed": "The roots of {} changed.",
    "notifications/initialized": "{} is ready: the handshake is over.",
}


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a notification, without chain and envelope."""
    subject = sheet.subject
    params = subject.payload.get("params")
    values: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
    method = subject.method or ""
    if method == "notifications/progress":
        return _progress(sheet, values)
    if method == "notifications/cancelled":
        rows, skip = _cancelled(subject, values), ("requestId", "reason")
    elif method == "notifications/message":
        return _logged(sheet, values)
    elif method == "notifications/resources/updated":
        rows, skip = [words_fact("This resource changed."), fact("Resource", str(values.get("uri")), "mono")], ("uri",)
    elif method in _LISTS:
        rows, skip = [words_fact(_LISTS[method].format(_speaker(subject, method)))], ()
    else:
        rows, skip = [words_fact("A notification: nobody answers it.")], ()
    rows += value_facts(values, skip=(*skip, "_meta"))
    return [sheet.section("Notification", sheet.fact_card(rows, name="notification", label="Notification"))]


def _speaker(subject: Subject, method: str) -> str:
    """Who says it; of plain MCP traffic the side that may."""
    if subject.sender:
        return plain(subject.sender, 80)
    if method == "notifications/initialized":
        return "The client"
    return "the client" if method == "notifications/roots/list_changed" else "the server"


def _progress(sheet: Sheet, values: Mapping[str, Any]) -> list[QWidget]:
    done, total = values.get("progress"), values.get("total")
    rows: list[Fact] = []
    if isinstance(values.get("message"), str):
        rows.append(words_fact(values["message"]))
    if isinstance(done, int | float) and isinstance(total, int | float) and total > 0:
        rows.append(fact("Done", f"{value_text(done)} of {value_text(total)}, {done / total:.0%}".replace("%", " %")))
    elif done is not None:
        rows.append(fact("Done", value_text(done)))
    request = _by_token(sheet.subject, values.get("progressToken"))
    token = value_text(values.get("progressToken"))
    if request is not None:
        rows.append(Fact("Of", (message_part(request), Part(f"  token {token}", "dim"))))
    else:
        rows.append(fact("Token", token, "mono"))
    rows += value_facts(values, skip=("progress", "total", "message", "progressToken", "_meta"))
    return [sheet.section("Progress", sheet.fact_card(rows, name="progress", label="Progress"))]


def _logged(sheet: Sheet, values: Mapping[str, Any]) -> list[QWidget]:
    level = str(values.get("level") or "log")
    ink: Ink = "bad" if level in _BAD_LEVELS else "warn" if level == "warning" else "plain"
    rows = [fact("Level", plain(level, 40), ink)]
    if isinstance(values.get("logger"), str):
        rows.append(fact("Logger", plain(values["logger"], 200), "mono"))
    data = values.get("data")
    inner = nested_in(data)
    sections: list[QWidget] = []
    if isinstance(inner, Mapping):
        rows += value_facts(inner)
    elif data is not None:
        text = sheet.text(value_text(data), name="logText", label="Logged", mono=not isinstance(data, str))
        sections.append(sheet.section("Text", text))
    rows += value_facts(values, skip=("level", "logger", "data", "_meta"))
    return [sheet.section("Logged", sheet.fact_card(rows, name="logged", label="Logged")), *sections]


def _cancelled(subject: Subject, values: Mapping[str, Any]) -> list[Fact]:
    wanted = values.get("requestId")
    request = _by_rpc_id(subject, wanted)
    reason = values.get("reason")
    rows = [fact("Reason", reason, lines=4)] if isinstance(reason, str) and reason else []
    if request is None:
        return [fact("Calls off", f"request {value_text(wanted)}, which was not seen", "warn"), *rows]
    asked = Part(f"  asked by {sender_of(subject.capture, request)}", "dim")
    parts = (message_part(request), asked) if subject.capture.string("sender", request) else (message_part(request),)
    return [Fact("Calls off", parts), *rows]


def _earlier_requests(subject: Subject) -> list[int]:
    """Requests before this one in the same space, the latest first."""
    capture = subject.capture
    low = max(0, subject.message - _LOOKED_BACK)
    columns = capture.columns
    here = columns["kind"][low : subject.message] == (capture.strings.find("mcp/request") or -1)
    here &= columns["space"][low : subject.message] == columns["space"][subject.message]
    return (np.flatnonzero(here) + low)[::-1].tolist()


def _by_rpc_id(subject: Subject, wanted: object) -> int | None:
    if rpc_id(wanted) is None:
        return None
    return next((r for r in _earlier_requests(subject)[:_MOST_READ] if _payload_id(subject, r) == rpc_id(wanted)), None)


_MOST_READ = 300  # earlier requests whose payload is read


def _payload_id(subject: Subject, row: int) -> str | None:
    return rpc_id(subject.capture.payload(row).get("id"))


def _by_token(subject: Subject, token: object) -> int | None:
    """The latest earlier request that asked for progress under this token."""
    if rpc_id(token) is None:
        return None
    for row in _earlier_requests(subject)[:_MOST_READ]:
        params = subject.capture.payload(row).get("params")
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        if isinstance(meta, Mapping) and rpc_id(meta.get("progressToken")) == rpc_id(token):
            return row
    return None
