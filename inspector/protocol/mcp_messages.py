"""Reads MCP revisions, requests for input, and tasks from JSON-RPC messages (docs/protocols.md 13)."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import msgspec

from inspector.protocol.header import ABSENT, Header
from inspector.protocol.json_values import REFUSALS, decode_one

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of every request since 2026-07-28."""
FIRST_MODERN = "2026-07-28"
"""First revision with a version in each request; before, `initialize` negotiates it."""
LISTEN_METHOD = "subscriptions/listen"
"""A request that stays open while the client listens."""
SERVER_METHODS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
"""Requests of servers to clients."""
_OWN = (
    "tools/", "resources/", "prompts/", "skills/", "notifications/tools/", "notifications/resources/",
    "notifications/prompts/", "notifications/skills/",
)  # fmt: skip
_ALSO_OWN = SERVER_METHODS | {
    "completion/complete", "logging/setLevel", "server/discover", LISTEN_METHOD, "notifications/initialized",
    "tasks/result",
}  # fmt: skip
_SHARED = ("notifications/", "tasks/")
INPUT_REQUIRED = "input_required"
RETRIED_METHODS = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Methods whose answer may ask for input since 2026-07-28; the client repeats them with the input."""
TASK = "task"
RELATED_TASK_KEY = "io.modelcontextprotocol/related-task"

_MAX_VERSION_LENGTH = 64


def is_own_method(method: str) -> bool:
    """Returns True for a method that only MCP has."""
    return method in _ALSO_OWN or method.startswith(_OWN)


def is_shared_method(method: str) -> bool:
    """Returns True for a method that MCP has, and that other protocols over JSON-RPC may have too."""
    return method in ("initialize", "ping") or method.startswith(_SHARED)


class TaskStatus(enum.IntEnum):
    """State of a task; NONE if unknown."""

    NONE = 0
    WORKING = 1
    INPUT_REQUIRED = 2
    COMPLETED = 3
    FAILED = 4
    CANCELLED = 5


class Task(NamedTuple):
    """Task facts in a message."""

    identifier: str
    status: TaskStatus = TaskStatus.NONE
    has_result: bool = False
    """It contains the result, or the error, of the call behind the task."""
    failed: bool = False
    """The call failed."""
    is_created: bool = False
    """It answers a call with a task; other answers may name tasks too, also of other protocols."""


class _Meta(msgspec.Struct, rename={"version": VERSION_KEY}, gc=False):
    version: Any = None


class _Params(msgspec.Struct, rename={"meta": "_meta", "state": "requestState", "inputs": "inputResponses"}, gc=False):
    meta: _Meta | None = None
    state: Any = None
    inputs: Any = ABSENT


class _Result(
    msgspec.Struct, rename={"version": "protocolVersion", "type": "resultType", "state": "requestState"}, gc=False
):
    version: Any = None
    type: Any = None
    state: Any = None


_decode_params = msgspec.json.Decoder(_Params).decode
_decode_result = msgspec.json.Decoder(_Result).decode


def version_in(header: Header) -> str | None:
    """Returns the revision in a request, or in the answer to `initialize`. Never raises."""
    raw = bytes(header.params) if isinstance(header.method, str) else bytes(header.result)
    # A byte search first: few messages contain a revision.
    if b"rotocolVersion" not in raw:
        return None
    try:
        if isinstance(header.method, str):
            meta = _decode_params(raw).meta
            found = meta.version if meta is not None else None
        else:
            found = _decode_result(raw).version
    except REFUSALS:
        return None
    return found if isinstance(found, str) and 0 < len(found) <= _MAX_VERSION_LENGTH else None


def state_in(header: Header) -> str | None:
    """Returns the state that links a request for input to its retry, "" without a state.

    Returns None for every other message. Never raises.
    """
    raw = bytes(header.params) if isinstance(header.method, str) else bytes(header.result)
    try:
        if isinstance(header.method, str):
            # The same here, since decoding costs more than both searches.
            if b"inputResponses" not in raw and b"requestState" not in raw:
                return None
            params = _decode_params(raw)
            given, state = params.inputs is not ABSENT or params.state is not None, params.state
        else:
            if INPUT_REQUIRED.encode() not in raw:
                return None
            result = _decode_result(raw)
            given, state = result.type == INPUT_REQUIRED, result.state
    except REFUSALS:
        return None
    return (state if isinstance(state, str) else "") if given else None


class _RelatedTask(msgspec.Struct, rename={"identifier": "taskId"}, gc=False):
    identifier: Any = None


class _TaskMeta(msgspec.Struct, rename={"task": RELATED_TASK_KEY}, gc=False):
    task: _RelatedTask | None = None


class _InlineResult(msgspec.Struct, rename={"is_error": "isError"}, gc=False):
    is_error: Any = None


class _TaskState(msgspec.Struct, rename={"identifier": "taskId", "type": "resultType", "meta": "_meta"}, gc=False):
    """Parameters or result; in 2025-11-25, `task` of the answer contains the task."""

    identifier: Any = None
    status: Any = None
    type: Any = None
    task: Any = None
    result: _InlineResult | None = None
    error: msgspec.Raw = msgspec.Raw(b"")
    meta: _TaskMeta | None = None


_decode_task = msgspec.json.Decoder(_TaskState).decode


def task_in(header: Header) -> Task | None:
    """Returns the task facts of a message: a request about it, its creation, its state, its result.

    Returns None for every other message. Never raises.
    """
    raw = bytes(header.params) if isinstance(header.method, str) else bytes(header.result)
    if b'"taskId"' not in raw:
        return None
    found = decode_one(_decode_task, raw)
    if found is None:
        return None
    # The creation of a task has it inside of `task`; answers about it have it at the top.
    inner = found.task if isinstance(found.task, dict) else {}
    identifier, status = inner.get("taskId", found.identifier), inner.get("status", found.status)
    if not isinstance(identifier, str) and found.meta is not None and found.meta.task is not None:
        identifier = found.meta.task.identifier
    if not isinstance(identifier, str) or not identifier:
        return None
    has_error = bool(found.error) and bytes(found.error) != b"null"
    failed = has_error or (found.result is not None and found.result.is_error is True)
    word = status.upper() if isinstance(status, str) else ""
    known = TaskStatus[word] if word in TaskStatus.__members__ else TaskStatus.NONE
    return Task(identifier, known, found.result is not None or has_error, failed, bool(inner) or found.type == TASK)


ERAS = ("legacy", "modern")


def era_of(version: str) -> str:
    """Returns `modern` if each request names its revision, else `legacy`."""
    return ERAS[version >= FIRST_MODERN]
