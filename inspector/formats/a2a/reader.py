"""Format: the Agent2Agent protocol, versions 0.2 to 1.0, as JSON-RPC (docs/protocols.md 18).

An answer may come in many events under one id. Every task repeats its messages; their ids identify the copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats import agent_rpc
from inspector.formats.agent_rpc import (
    AGENT,
    CLIENT,
    answer_entry,
    control_row,
    request_entry,
    text_or_none,
)
from inspector.formats.entry_builders import CHAT, Entry, bytes_of, media_words, text_entry
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol import kinds
from inspector.protocol.header import Header
from inspector.protocol.message_text import compact_json

LABEL = "a2a"
NAMESPACE = "a2a/"

SENDING_METHODS = frozenset(("message/send", "message/stream", "SendMessage", "SendStreamingMessage", "tasks/send",
                     "tasks/sendSubscribe"))  # fmt: skip
"""Methods that carry a message."""
CANCELLING_METHODS = frozenset(("tasks/cancel", "CancelTask"))
_METHODS = frozenset(
    ("tasks/resubscribe", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask", "GetExtendedAgentCard",
     "agent/getAuthenticatedExtendedCard", *SENDING_METHODS)
)  # fmt: skip
SHARED_METHODS = frozenset(("tasks/get", "tasks/list", "tasks/cancel"))
"""Methods that MCP has as well."""
_ABOUT_A_TASK = CANCELLING_METHODS | SHARED_METHODS | {"GetTask", "ListTasks"}
"""Methods that succeed even if they report a failed task, or end it."""
_KINDS = ("task", "message", "status-update", "artifact-update")
_WRAPPED = {"task": "task", "message": "message", "statusUpdate": "status-update", "artifactUpdate": "artifact-update"}
ENDED_STATES = frozenset(("completed", "failed", "rejected", "canceled"))
WAITING_STATES = frozenset(("input-required", "auth-required"))
_FAILED = frozenset(("failed", "rejected", "canceled"))


def is_own(header: Header) -> bool:
    """Returns True if a request alone identifies this protocol."""
    method = header.method
    if not isinstance(method, str):
        return False
    return method in _METHODS or (method.startswith("tasks/pushNotification") or "TaskPushNotificationConfig" in method)


def derive_entries(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a message, at least one."""
    method = text_or_none(message.get("method"))
    return _request_entries(message, method, known) if method is not None else _answer_entries(message, known)


def outcome_of(result: object) -> tuple[str, Mapping[str, Any]]:
    """Returns the content of an answer: one of `task`, `message`, `status-update`, `artifact-update`; "" for others."""
    value = mapping_or_empty(result)
    # The older form names its content by `kind`, the newer one by a wrapper.
    if value.get("kind") in _KINDS:
        return str(value["kind"]), value
    for name, kind in _WRAPPED.items():
        if isinstance(value.get(name), Mapping):
            return kind, value[name]
    return ("task", value) if "id" in value and isinstance(value.get("status"), Mapping) else ("", value)


def state_of(kind: str, value: Mapping[str, Any]) -> str | None:
    """Returns the task state in an answer, in the words of 0.3."""
    state = (
        text_or_none(mapping_or_empty(value.get("status")).get("state")) if kind in ("task", "status-update") else None
    )
    if state is None:
        return None
    words = state.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return "canceled" if words == "cancelled" else words


def task_of(kind: str, value: Mapping[str, Any]) -> str | None:
    """Returns the task id of an answer."""
    return text_or_none(value.get("id")) if kind == "task" else text_or_none(value.get("taskId"))


def question_id(task: str) -> str:
    """Returns the id of the question to the client while a task waits for it."""
    return f"{task} waits"


# Requests


def _request_entries(message: Mapping[str, Any], method: str, known: Mapping[str, Any]) -> list[Entry]:
    params = mapping_or_empty(message.get("params"))
    said = mapping_or_empty(params.get("message"))
    parts = [_part(one) for one in mappings_in(said.get("parts"))]
    task = text_or_none(said.get("taskId")) or text_or_none(params.get("id")) or text_or_none(params.get("taskId"))
    row = request_entry(message, CLIENT, words=", ".join(parts) or task or method)
    # A message to a waiting task answers its question.
    if known.get("continues") is True and task is not None:
        row.meaning.correlation = question_id(task)
    found = [row, *_message_entries(said, CLIENT)]
    context = _context(
        text_or_none(said.get("contextId")) or text_or_none(known.get("context")), task if said else None
    )
    for entry in found:
        entry.meaning.context = context
    return found


def _message_entries(message: Mapping[str, Any], sender: str) -> Iterator[Entry]:
    """Yields the parts of a message, with marks for its repetitions in tasks."""
    for number, part in enumerate(mappings_in(message.get("parts"))):
        entry = text_entry(CHAT, sender, CLIENT if sender == AGENT else AGENT, _part(part))
        if (identifier := text_or_none(message.get("messageId"))) is not None:
            entry.meaning.identifier = f"{identifier}#{number}" if number else identifier
            entry.meaning.identity = f"a2a message {identifier} {number}".encode("utf-8", "replace")
        yield entry


def _part(part: Mapping[str, Any]) -> str:
    if isinstance(words := part.get("text"), str):
        return words
    if "data" in part and not isinstance(part["data"], str):
        return compact_json(part["data"])
    held = mapping_or_empty(part.get("file")) or part
    # The file is in the part itself, or in a member.
    data = held.get("bytes", held.get("raw"))
    if isinstance(data, str):
        sort = held.get("mimeType") or held.get("mediaType") or held.get("name") or "file"
        return f"file, {sort}, {len(data) * 3 // 4:,} B"
    return f"file, {held['uri']}" if isinstance(held.get("uri"), str) else media_words(part)


def _sender(message: Mapping[str, Any]) -> str:
    return CLIENT if str(message.get("role")).lower().removeprefix("role_") == "user" else AGENT


def _context(context: str | None, task: str | None) -> str | None:
    return f"{context}/{task}" if context is not None and task is not None else context or task


# Answers


def _answer_entries(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    if "error" in message:
        return [answer_entry(message, known, AGENT)]
    kind, value = outcome_of(message.get("result"))
    state, task = state_of(kind, value), task_of(kind, value)
    if not kind:
        return [answer_entry(message, known, AGENT)]
    words = f"task {state}" if state is not None else kind
    # Events of a stream are progress; a final state answers the request.
    goes_on = (
        known.get("streamed") is True
        and kind != "message"
        and (state is None or state not in ENDED_STATES | WAITING_STATES)
    )
    if not goes_on:
        # A request about a failed task has not failed itself.
        failed = state in _FAILED and known.get("method") not in _ABOUT_A_TASK
        found = [answer_entry(message, known, AGENT, words=words, failed=failed)]
    elif state is not None:
        found = [control_row("participant/status", AGENT, words, status=state)]
        found[0].meaning.correlation = agent_rpc.call_id(known.get("method"), message.get("id"))
    else:
        found = []
    found += _contained_entries(kind, value, task)
    if state in WAITING_STATES and task is not None:
        found.append(_question(value, task, str(state)))
    if known.get("gives_up") is True and task is not None:
        found.append(control_row(kinds.REJECT, CLIENT, "the task was cancelled"))
        found[-1].meaning.correlation = question_id(task)
    if state in ENDED_STATES and task is not None:
        found.append(_end_entry(value, task, str(state)))
    found = found or [answer_entry(message, known, AGENT, words=words)]  # an event without other content
    context = _context(text_or_none(value.get("contextId")), task)
    for entry in found:
        entry.meaning.context = context
    return found


def _contained_entries(kind: str, value: Mapping[str, Any], task: str | None) -> Iterator[Entry]:
    """Yields messages and artifacts in an answer."""
    if kind == "message":
        yield from _message_entries(value, _sender(value))
    # A history repeats known messages; their marks recognize them.
    for message in mappings_in(value.get("history")):
        yield from _message_entries(message, _sender(message))
    said = mapping_or_empty(mapping_or_empty(value.get("status")).get("message"))
    yield from _message_entries(said, _sender(said))
    held = (
        [mapping_or_empty(value.get("artifact"))] if kind == "artifact-update" else mappings_in(value.get("artifacts"))
    )
    for artifact in held:
        words = "".join(_part(one) for one in mappings_in(artifact.get("parts")))
        name = text_or_none(artifact.get("name")) or text_or_none(artifact.get("artifactId")) or "artifact"
        entry = text_entry(CHAT, AGENT, CLIENT, f"{name}: {words}")
        told = (task, artifact.get("artifactId"), words)
        # An artifact repeats in later answers; the mark recognizes it.
        entry.meaning.identity = f"a2a artifact {told}".encode("utf-8", "replace")
        yield entry


def _question(value: Mapping[str, Any], task: str, state: str) -> Entry:
    """Returns the row of a task that waits for its client."""
    said = mapping_or_empty(mapping_or_empty(value.get("status")).get("message"))
    words = ", ".join(_part(one) for one in mappings_in(said.get("parts"))) or state.replace("-", " ")
    entry = text_entry(kinds.PROPOSAL, AGENT, CLIENT, words)
    entry.payload["state"] = state
    entry.meaning.identifier = question_id(task)
    entry.meaning.identity = f"a2a waits {task} {said.get('messageId')} {words}".encode("utf-8", "replace")
    return entry


def _end_entry(value: Mapping[str, Any], task: str, state: str) -> Entry:
    """Returns the row of a task's end, equal for repeated queries."""
    kind = "reasoning/conclusion" if state == "completed" else "reasoning/cancel"
    entry = control_row(
        kind,
        AGENT,
        f"task {state}",
        status=bytes_of(dict(mapping_or_empty(value.get("status")))).decode("utf-8", "replace"),
    )
    entry.meaning.identity = f"a2a state {task} {state}".encode("utf-8", "replace")
    return entry


READER = agent_rpc.RpcReader(LABEL, is_own, derive_entries)
