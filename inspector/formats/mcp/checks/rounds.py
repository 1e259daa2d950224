"""Checks multi-request calls: questions before a result, retries, tasks."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.findings.deadlines import OverdueCheck
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.formats.mcp.checks.conversations import McpMessage, McpRequest, seconds_between
from inspector.protocol import mcp_messages
from inspector.protocol.header import ABSENT, NotAnObjectError, decode_json
from inspector.protocol.mcp_notes import CAPABILITIES_KEY
from inspector.protocol.secrets.masking import is_secret_key
from inspector.protocol.timestamps import NO_TIME

UNANSWERED = Check(
    "mcp-input-unanswered", NOTE, "Unanswered question of the server",
    "{detail}, for more than {limit} s.",
    "The call has no result. The model waits for it or continues without it.",
    "Check that the client shows such questions to its user. It may also decline them.",
    "MCP 2026-07-28, Multi round-trip requests", limit=300,
    example="The server waits for an answer to “Which berth?”",
)  # fmt: skip
ALTERED = Check(
    "mcp-retry-altered", ERROR, "Retry differs from the original call",
    "{detail}.",
    "The server cannot assign the retry, or assigns it to another call.",
    "Repeat the same parameters, with requestState unchanged and an answer for each key.",
    "MCP 2026-07-28, Multi round-trip requests: the state must be returned exactly",
    example="The retry lacks the state from the server",
)  # fmt: skip
SAME_ID = Check(
    "mcp-retry-same-id", WARNING, "Retry with the id of the first request",
    "The retry has the id of {other}, which has an answer.",
    "Programs that match by id confuse the two answers.",
    "Give each request a unique id, retries included.",
    "MCP 2026-07-28, Multi round-trip requests; JSON-RPC 2.0, 4",
)  # fmt: skip
NOT_ALLOWED = Check(
    "mcp-input-not-allowed", WARNING, "Question not allowed",
    "{detail}.",
    "Clients do not expect it there and give up the call.",
    "Ask only in answers to tools/call, prompts/get and resources/read, and only for declared capabilities.",
    "MCP 2026-07-28, Multi round-trip requests",
    example="`tools/list` was answered with a question",
)  # fmt: skip
PLAIN = Check(
    "mcp-state-plain", NOTE, "State readable and changeable by the client",
    "{detail}.",
    "A client or proxy may continue with a changed state.",
    "Sign or encrypt requestState, and bind it to its request.",
    "MCP 2026-07-28, Multi round-trip requests: servers must not trust the state",
    example="The server's state is readable: step=2",
)  # fmt: skip
SECRET = Check(
    "mcp-elicit-secret", WARNING, "Form asks the user for a secret",
    "{detail}.",
    "The input passes through the client and its logs.",
    "Ask for it on a page of the server (URL elicitation).",
    "MCP 2025-06-18, Elicitation: servers must not ask for sensitive information; 2025-11-25, URL mode",
    example="The server asks the user for `password` in a form",
)  # fmt: skip
FORGOTTEN = Check(
    "mcp-task-forgotten", NOTE, "Task result not fetched",
    "{detail}.",
    "The work was useless, and the call that became a task has no result.",
    "Poll the task until it ends, and fetch its result or cancel it.",
    "MCP 2025-11-25, Tasks; SEP-2663, tasks extension", limit=600,
    example="The task was created, but its result was never fetched",
)  # fmt: skip
POLLED = Check(
    "mcp-task-hurried", NOTE, "Task polled too often, or changed after its end",
    "{detail}.",
    "Servers may refuse the client. The result of a task that ends twice is unreliable.",
    "Wait for the server's poll interval, and do not change an ended task.",
    "MCP 2025-11-25, Tasks: pollInterval, terminal states; SEP-2663",
    example="Polled after 0.2 s, but the server's interval is 5 s",
)  # fmt: skip
CHECKS = (UNANSWERED, ALTERED, SAME_ID, NOT_ALLOWED, PLAIN, SECRET, FORGOTTEN, POLLED)

_NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_TERMINAL_STATES = ("completed", "failed", "cancelled")
# Questions that no client answers stay open for as long as the capture.
_MAX_OPEN = 1_000
_MIN_EARLY_POLLS = 3
"""Early polls of a client from which they are reported."""


@dataclass(slots=True, eq=False)
class _OpenQuestion:
    """An answer that asks for input, and its request."""

    row: int
    asked: McpRequest
    state: str | None
    keys: frozenset[str]
    words: str


@dataclass(slots=True)
class _Task:
    """State of a task."""

    row: int
    poll_s: float = 0.0
    polled_ns: int = NO_TIME
    early_polls: int = 0
    ended: str = ""


class InputRounds:
    """Tracks questions and retries."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, str, str], list[_OpenQuestion]] = {}
        self._words: dict[int, str] = {}  # by row of an open question: its text
        self._new: list[int] = []
        self._closed: list[int] = []
        self._overdue = OverdueCheck(
            UNANSWERED, self._are_settled, lambda row: self._words.get(row, "The server waits")
        )

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts answers, retries, and forms of older revisions."""
        return answer or method in mcp_messages.RETRIED_METHODS or method == "elicitation/create"

    def on_message(self, heard: McpMessage) -> None:
        note, asked = heard.note, heard.asked
        if note is None:
            return
        if note.method in mcp_messages.RETRIED_METHODS and note.params is not None and not heard.by_server:
            if isinstance(note.params.state, str) or note.params.inputs is not ABSENT:
                self._retry(heard)
        elif note.method == "elicitation/create" and note.params is not None:
            _check_form(heard, note.params.mode, note.params.schema)
        elif (
            note.result is not None
            and asked is not None
            and note.result.type == mcp_messages.INPUT_REQUIRED
            and heard.modern
        ):
            self._add_question(heard, asked)

    def _add_question(self, heard: McpMessage, asked: McpRequest) -> None:
        result = heard.note.result if heard.note is not None else None
        if result is None:
            return
        wanted = result.inputs if isinstance(result.inputs, dict) else {}
        state = result.state if isinstance(result.state, str) else None
        if wrong := _not_allowed(asked, wanted, state):
            heard.report(NOT_ALLOWED, wrong)
        if state is not None and (readable := readable_state(state)):
            heard.report(PLAIN, f"The server's state is readable: {readable}")
        for one in wanted.values():
            params = one.get("params") if isinstance(one, dict) else None
            if isinstance(params, dict) and one.get("method") == "elicitation/create":
                _check_form(heard, params.get("mode"), params.get("requestedSchema"))
        if asked.method not in mcp_messages.RETRIED_METHODS:
            return
        key = heard.conversation.key, asked.method, asked.name
        keys = frozenset(name for name in wanted if isinstance(name, str))
        rounds = self._open.setdefault(key, [])
        rounds.append(_OpenQuestion(heard.row, asked, state, keys, _question(wanted)))
        if len(rounds) > _MAX_OPEN:
            self._close(rounds, rounds[0])
        if keys:
            self._words[heard.row] = f"The server waits for an answer{_question(wanted)}"
            self._new.append(heard.row)

    def _retry(self, heard: McpMessage) -> None:
        note = heard.note
        if note is None or note.params is None:
            return
        params, name = note.params, _name_of(note.params.name, note.params.uri)
        rounds = self._open.get((heard.conversation.key, note.method or "", name), [])
        state = params.state if isinstance(params.state, str) else None
        # Several open rounds of one tool are told apart by state and arguments.
        same = [one for one in rounds if one.state == state and _same_arguments(one.asked, params.arguments)]
        if len(same) > 1 or (not same and len(rounds) != 1):
            return
        one = same[0] if same else rounds[0]
        given = frozenset(params.inputs) if isinstance(params.inputs, dict) else frozenset[str]()
        wrong = ""
        if one.state != state:
            lack = "lacks the state from the server" if state is None else "has a different state from the server's"
            wrong = f"The retry {lack}"
        elif not same:
            wrong = f"The retry calls `{name}` with other arguments than the first call"
        elif one.keys - given:
            wrong = f"The retry has no answer to `{min(one.keys - given)}`"
        if wrong:
            heard.report(ALTERED, wrong, other=one.row)
        elif note.written_id and note.written_id == one.asked.note.written_id:
            heard.report(SAME_ID, other=one.asked.row)
        if same:
            self._close(rounds, one)

    def _close(self, rounds: list[_OpenQuestion], one: _OpenQuestion) -> None:
        rounds.remove(one)
        if self._words.pop(one.row, None) is not None:
            self._closed.append(one.row)

    def _are_settled(self, batch: Batch, rows: Rows) -> Array:
        given_up = batch.links["given_up"][rows] != 0
        return given_up | np.array([row not in self._words for row in rows.tolist()], np.bool_)

    def check_overdue(self, batch: Batch) -> None:
        """Checks questions that wait too long."""
        new, closed = (np.array(sorted(rows), np.int64) if rows else NO_ROWS for rows in (self._new, self._closed))
        self._overdue.feed(batch, new, closed)
        self._new, self._closed = [], []


def _name_of(name: Any, uri: Any) -> str:
    found = name if isinstance(name, str) else uri
    return found if isinstance(found, str) else ""


def _same_arguments(asked: McpRequest, raw: Any) -> bool:
    before = asked.note.params.arguments if asked.note.params is not None else b""
    if bytes(before) == bytes(raw):
        return True
    try:
        # Wrapped, as the decoder takes only objects; equal values may be written in another order.
        return decode_json(b'{"v":' + (bytes(before) or b"{}") + b"}") == decode_json(
            b'{"v":' + (bytes(raw) or b"{}") + b"}"
        )
    except NotAnObjectError:
        return False


def _not_allowed(asked: McpRequest, wanted: dict[str, Any], state: str | None) -> str:
    """Returns the reason for which an answer may not ask for input; "" if it may."""
    if asked.method not in mcp_messages.RETRIED_METHODS:
        return f"`{asked.method}` was answered with a question"
    if not wanted and state is None:
        return f"The answer to `{asked.method}` asks for input, but has neither questions nor a state"
    declared = asked.note.params.meta_value(CAPABILITIES_KEY) if asked.note.params is not None else None
    for one in wanted.values():
        method = one.get("method") if isinstance(one, dict) else None
        need = _NEEDS.get(method) if isinstance(method, str) else None
        if need is None:
            return f"The answer asks for {f'`{method}`' if isinstance(method, str) else 'something without a method'}"
        if isinstance(declared, dict) and need not in declared:
            return f"The answer asks for `{method}`, but the client has not declared {need}"
    return ""


def _question(wanted: dict[str, Any]) -> str:
    for one in wanted.values():
        params = one.get("params") if isinstance(one, dict) else None
        message = params.get("message") if isinstance(params, dict) else None
        if isinstance(message, str) and message:
            return f" to “{' '.join(message.split())[:60]}”"
    return ""


_SECRET_FIELD = re.compile(
    r"pass(?:word|phrase|code)|pin|secret|token|api[_-]?key|credential|private[_-]?key", re.IGNORECASE
)


def _check_form(heard: McpMessage, mode: Any, schema: Any) -> None:
    """Checks a form for secrets; a URL elicitation may ask for them."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if mode == "url" or not isinstance(properties, dict):
        return
    for name in properties:
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name))
        if is_secret_key(plain) and any(_SECRET_FIELD.fullmatch(part) for part in (plain, *plain.split("_"))):
            heard.report(SECRET, f"The server asks the user for `{str(name)[:40]}` in a form")
            return


_MIN_STATE_CHARS = 8
_MAX_STATE_CHARS = 4_096
_WORDS = re.compile(r"[a-z]{3,}")
_TOKENS = re.compile(r"[A-Za-z0-9]+")


def readable_state(state: str) -> str:
    """Returns the start of a readable state; "" if it is sealed, signed or very short.

    RULE: readable are JSON, plain or in Base64, and words with names and short numbers between them. A token in three
    parts is signed. A state with a random-looking part is not judged.
    """
    if not _MIN_STATE_CHARS < len(state) <= _MAX_STATE_CHARS or state.count(".") == 2:
        return ""
    for text in (state, _from_base64(state)):
        if text and (_is_json(text) or _is_words(text)):
            return " ".join(text.split())[:40]
    return ""


def _from_base64(state: str) -> str:
    try:
        data = base64.b64decode(state.translate(_URL_SAFE) + "=" * (-len(state) % 4), validate=True)
        text = data.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return text if text.isprintable() else ""


_URL_SAFE = str.maketrans("-_", "+/")


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        value = decode_json(f'{{"v":{text}}}'.encode())
    except (NotAnObjectError, UnicodeEncodeError):
        return False
    inner = value.get("v") if isinstance(value, dict) else None
    sealed = isinstance(inner, dict) and any(str(key).lower() in _SEALS for key in inner)
    return bool(inner) and not sealed


_SEALS = frozenset({"sig", "signature", "mac", "hmac", "ciphertext", "tag", "iv", "nonce"})


def _is_words(text: str) -> bool:
    tokens = _TOKENS.findall(text)
    words = [token for token in tokens if _WORDS.fullmatch(token)]
    short = [token for token in tokens if token.isdigit() and len(token) <= 6]
    return len(words) >= 2 and len(words) + len(short) == len(tokens)


class Tasks:
    """Tracks tasks from their creation."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[int, str], _Task] = {}  # by source and id
        self._new: list[int] = []
        self._cancelled: dict[int, None] = {}  # rows of tasks that were cancelled
        self._overdue = OverdueCheck(
            FORGOTTEN, self._are_over, lambda _: "The task was created, but its result was never fetched"
        )

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts answers, which may create tasks, and messages about tasks."""
        return answer or method.startswith(("tasks/", "notifications/tasks"))

    def on_message(self, heard: McpMessage) -> None:
        note, asked = heard.note, heard.asked
        if note is None:
            return
        if note.method is not None and note.params is not None and isinstance(note.params.task_id, str):
            task = self._tasks.get((heard.conversation.source, note.params.task_id))
            if task is not None and note.method == "tasks/get":
                self._poll(heard, task)
            elif task is not None and note.method == "tasks/cancel":
                self._add_cancelled(task)
            elif task is not None and note.method.startswith("notifications/tasks"):
                self._update_status(heard, task, note.params.status)
        elif note.result is not None and asked is not None:
            told = note.result.task if isinstance(note.result.task, dict) else None
            identifier = told.get("taskId") if told is not None else note.result.task_id
            status = told.get("status") if told is not None else note.result.status
            if not isinstance(identifier, str):
                return
            key = heard.conversation.source, identifier
            if not asked.method.startswith("tasks/"):
                self._tasks[key] = _Task(heard.row)
                self._new.append(heard.row)
                if len(self._tasks) > _MAX_TASKS:
                    del self._tasks[next(iter(self._tasks))]
            task = self._tasks.get(key)
            if task is not None:
                every = told.get("pollInterval") if told is not None else note.result.poll_ms_2025
                every = note.result.poll_ms if every is None else every
                task.poll_s = (
                    every / 1_000 if isinstance(every, int | float) and 0 < every < _MAX_POLL_MS else task.poll_s
                )
                self._update_status(heard, task, status)

    def _poll(self, heard: McpMessage, task: _Task) -> None:
        if NO_TIME not in (task.polled_ns, heard.time_ns):
            apart = seconds_between(heard.time_ns, task.polled_ns)
            task.early_polls += 0 <= apart < task.poll_s / 2
            if task.early_polls == _MIN_EARLY_POLLS and apart < task.poll_s / 2:
                words = f"Polled after {max(apart, 0):.1f} s, but the server's interval is {task.poll_s:g} s"
                heard.report(POLLED, words, other=task.row)
                # One more, so that a task is reported once.
                task.early_polls += 1
        task.polled_ns = heard.time_ns

    def _update_status(self, heard: McpMessage, task: _Task, status: Any) -> None:
        if not isinstance(status, str):
            return
        if task.ended and status != task.ended:
            heard.report(POLLED, f"The task is {status[:40]} after it was {task.ended}", other=task.row)
        elif status in _TERMINAL_STATES:
            task.ended = status

    def _add_cancelled(self, task: _Task) -> None:
        self._cancelled[task.row] = None
        if len(self._cancelled) > _MAX_TASKS:
            del self._cancelled[next(iter(self._cancelled))]

    def _are_over(self, batch: Batch, rows: Rows) -> Array:
        """(n,) bool: True for tasks whose call has a result, was given up, or was cancelled."""
        rounds = batch.passes.correlation.rounds
        causes = batch.links["cause"][rows].astype(np.int64)
        first = [rounds.first.get(cause, cause) for cause in map(int, causes.tolist())]
        ended = [(call := rounds.calls.get(row)) is None or call.result >= 0 for row in first]
        gone = batch.links["given_up"][np.array(first, np.int64)] != 0
        left = np.isin(rows, list(self._cancelled)) if self._cancelled else np.zeros(len(rows), np.bool_)
        return np.array(ended, np.bool_) | gone | left

    def check_overdue(self, batch: Batch) -> None:
        """Checks tasks without a fetched result."""
        fetched = batch.findings.rows_of(FORGOTTEN) if batch.findings.count_of(FORGOTTEN) else NO_ROWS
        self._overdue.feed(batch, np.array(self._new, np.int64), np.sort(fetched))
        self._new = []


# Tasks stay after their end, to notice one that changes its state again.
_MAX_TASKS = 10_000
# Eleven days; a larger number is no interval.
_MAX_POLL_MS = 1e9
