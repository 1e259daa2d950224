"""Detects requests to models, and the facts of their answers (docs/protocols.md 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from inspector.protocol.message_text import compact_json


class Operation(NamedTuple):
    """A model operation.

    Attributes:
        name: as in SDKs.
        path: end of a request's address.
        required_members: members of a request's body; it has at least one.
        names_model: the body names the model too; other servers use the same path for other purposes.
        within: part of the address; other servers use the same end.
        asks_for_cache: the API caches a prompt only if the request asks for it.
    """

    name: str
    path: str
    required_members: tuple[str, ...]
    names_model: bool = False
    within: str = ""
    asks_for_cache: bool = False


ANTHROPIC = Operation("messages.create", "/messages", ("messages",), asks_for_cache=True)
CHAT = Operation("chat.completions.create", "/chat/completions", ("messages",))
RESPONSES = Operation("responses.create", "/responses", ("input", "previous_response_id", "prompt"))
GEMINI = Operation("generateContent", ":generateContent", ("contents",))
GEMINI_STREAM = Operation("streamGenerateContent", ":streamGenerateContent", ("contents",))
OLLAMA_CHAT = Operation("chat", "/api/chat", ("messages",), names_model=True)
OLLAMA_GENERATE = Operation("generate", "/api/generate", ("prompt",), names_model=True)
COMPLETIONS = Operation("completions.create", "/completions", ("prompt",), names_model=True)
PORTKEY_PROMPT = Operation("prompts.completions.create", "/completions", ("variables",), within="/prompts/")
COHERE = Operation("chat", "/v2/chat", ("messages",), names_model=True)
INTERACTIONS = Operation("interactions.create", "/interactions", ("input",))
CONVERSE = Operation("Converse", "/converse", ("messages",), asks_for_cache=True)
CONVERSE_STREAM = Operation("ConverseStream", "/converse-stream", ("messages",), asks_for_cache=True)
INVOKE = Operation("InvokeModel", "/invoke", ("messages", "prompt"), within="/model/", asks_for_cache=True)
INVOKE_STREAM = Operation(
    "InvokeModelWithResponseStream", "/invoke-with-response-stream", ("messages", "prompt"), within="/model/",
    asks_for_cache=True,
)  # fmt: skip

OPERATIONS = (
    ANTHROPIC, CHAT, RESPONSES, GEMINI, GEMINI_STREAM, OLLAMA_CHAT, OLLAMA_GENERATE, PORTKEY_PROMPT, COMPLETIONS,
    COHERE, INTERACTIONS, CONVERSE, CONVERSE_STREAM, INVOKE, INVOKE_STREAM,
)  # fmt: skip
CONTINUABLE = ("response", "interaction")
"""Types of answers that a later request may continue by their id."""
_MOST_NAME = 200


def operation_of(path: object, body: object) -> Operation | None:
    """Returns the operation of a request; None for other requests, such as one that only counts tokens."""
    if not isinstance(path, str) or not isinstance(body, Mapping):
        return None
    path = path.partition("?")[0].rstrip("/")
    found = next((one for one in OPERATIONS if path.endswith(one.path) and one.within in path), None)
    if found is None or (found.names_model and not isinstance(body.get("model"), str)):
        return None
    return found if any(key in body for key in found.required_members) else None


def asked_model(path: object, body: Mapping[str, Any]) -> str | None:
    """Returns the model in a request's body or, for Gemini and Bedrock, in its address."""
    model = next((body[key] for key in ("model", "modelId", "agent") if key in body), None)
    if model is None and isinstance(path, str) and "/models/" in path:
        model = path.rpartition("/models/")[2].partition(":")[0]
    elif model is None and isinstance(path, str) and "/model/" in path:
        model = unquote(path.rpartition("/model/")[2].rpartition("/")[0])
    return model[:_MOST_NAME] if isinstance(model, str) and model else None


def continued_answer(body: Mapping[str, Any]) -> str | None:
    """Returns the id of the answer that a request continues, in place of the history."""
    named = body.get("previous_response_id", body.get("previous_interaction_id"))
    return named if isinstance(named, str) and named else None


def stop_reason(body: Mapping[str, Any]) -> str | None:
    """Returns the stop reason in the words of the API."""
    reason = _stop_reason(body)
    return reason[:_MOST_NAME] if reason else None


def _stop_reason(body: Mapping[str, Any]) -> str | None:
    # Cohere's answers, and bodies of text completions, have their reason at the top.
    for key in ("stop_reason", "stopReason", "finish_reason"):
        if isinstance(reason := body.get(key), str):
            return reason
    # Only the first alternative counts; others are rarely asked for.
    for key, name in (("choices", "finish_reason"), ("candidates", "finishReason")):
        held = body.get(key)
        first = held[0] if isinstance(held, list) and held else None
        if isinstance(first, Mapping) and isinstance(first.get(name), str):
            return first[name]
    if body.get("object") in CONTINUABLE and isinstance(status := body.get("status"), str):
        details = body.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return reason if isinstance(reason, str) else status
    return None


def error_in(body: object) -> dict[str, Any] | None:
    """Returns the error of a body, with `message`, if there is a failure."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, str) and error:
        return {"message": error}
    if not isinstance(error, Mapping) or not error:
        return None
    words = [one for key in ("type", "status", "message") if isinstance(one := error.get(key), str) and one]
    return {**error, "message": ": ".join(words) or compact_json(dict(error))}
