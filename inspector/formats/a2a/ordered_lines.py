"""Facts that lines of A2A need from earlier ones: contexts of tasks, tasks that wait, pieces of artifacts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from inspector.base.limited_dicts import set_limited
from inspector.formats.a2a import reader as a2a
from inspector.formats.agent_rpc import (
    CLIENT,
    AgentRequest,
    IdScope,
    OrderedLines,
    text_or_none,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.calls import rpc_id


class A2aLines(OrderedLines):
    """Follows the lines of one source."""

    only_clients_ask = True
    has_pieces_in_answers = True

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, str | None] = OrderedDict()  # tasks that wait for their client
        self._contexts: OrderedDict[str, str] = OrderedDict()  # by task

    def accepts_request(self, method: str, *, in_exchange: bool) -> bool:
        """Returns True for methods that other protocols have as well."""
        del in_exchange
        return method in a2a.SHARED_METHODS

    def side_of(self, method: str, sender: str | None) -> str:
        """Returns the client, which sends all requests."""
        del method, sender
        return CLIENT

    def request_facts(self, scope: IdScope, method: str, params: Mapping[str, Any], side: str) -> dict[str, Any]:
        """Returns known facts of a request: it continues a waiting task, and its task's context."""
        del scope, side
        said = mapping_or_empty(params.get("message"))
        task = text_or_none(said.get("taskId"))
        beside: dict[str, Any] = {}
        if task is not None and task in self._waiting and method in a2a.SENDING_METHODS:
            del self._waiting[task]
            beside["continues"] = True
        named = task or text_or_none(params.get("id")) or text_or_none(params.get("taskId"))
        if named in self._contexts and text_or_none(said.get("contextId")) is None:
            beside["context"] = f"{self._contexts[named]}/{named}" if task is None else self._contexts[named]
        return beside

    def answer_facts(self, scope: IdScope, request: AgentRequest, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the facts known from an answer's request."""
        del scope
        kind, value = a2a.outcome_of(message.get("result"))
        state, task = a2a.state_of(kind, value), a2a.task_of(kind, value)
        beside: dict[str, Any] = {"streamed": True} if request.streamed else {}
        if task is not None:
            beside |= self._note_task(task, state, text_or_none(value.get("contextId")), request)
        return beside

    def _note_task(self, task: str, state: str | None, context: str | None, request: AgentRequest) -> dict[str, Any]:
        beside: dict[str, Any] = {}
        if context is not None:
            set_limited(self._contexts, task, context)
        if state in a2a.WAITING_STATES:
            set_limited(self._waiting, task, context)
        elif state in a2a.ENDED_STATES and task in self._waiting:
            del self._waiting[task]
            if request.method in a2a.CANCELLING_METHODS:
                beside["gives_up"] = True
        return beside

    def is_last_answer(self, message: Mapping[str, Any]) -> bool:
        """Returns True for the last answer of a streamed request."""
        kind, value = a2a.outcome_of(message.get("result"))
        state = a2a.state_of(kind, value)
        return "error" in message or kind in ("", "message") or state in a2a.ENDED_STATES | a2a.WAITING_STATES

    def piece_key(self, message: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Returns the key shared by the pieces of an artifact's text if a message is such a piece."""
        kind, value = a2a.outcome_of(message.get("result")) if "result" in message else ("", {})
        if kind != "artifact-update" or rpc_id(message.get("id")) is None:
            return None
        artifact = mapping_or_empty(value.get("artifact"))
        parts = mappings_in(artifact.get("parts"))
        if not parts or not all(isinstance(one.get("text"), str) for one in parts):
            return None
        return str(value.get("taskId")), str(artifact.get("artifactId"))

    def begins_text(self, message: Mapping[str, Any]) -> bool:
        """Returns True for a piece without `append`, which starts the artifact anew."""
        return a2a.outcome_of(message.get("result"))[1].get("append") is not True

    def ends_text(self, message: Mapping[str, Any]) -> bool:
        """Returns True for the last piece of an artifact."""
        return a2a.outcome_of(message.get("result"))[1].get("lastChunk") is True

    def text_in(self, message: Mapping[str, Any]) -> str:
        """Returns the text of a piece."""
        return "".join(str(one.get("text")) for one in mappings_in(_artifact(message).get("parts")))

    def set_text(self, message: dict[str, Any], whole: str) -> None:
        """Replaces the text of a piece by the whole one."""
        artifact = _artifact(message)
        first = mappings_in(artifact.get("parts"))[0]
        artifact["parts"] = [{**first, "text": whole}]  # type: ignore[index] - decoded JSON objects are dicts


def _artifact(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_or_empty(a2a.outcome_of(message.get("result"))[1].get("artifact"))
