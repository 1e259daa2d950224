"""Extracts input and output of a model call from a span, as messages, in all conventions.

They become messages of model APIs (role, content, tool calls) for `formats.model_api.reader`. Without recorded
content, as is usual, there are none.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from inspector.formats.entry_builders import bytes_of
from inspector.formats.otlp.spans import Span, plain_value

Message = dict[str, Any]

_ROLES = {
    "human": "user", "ai": "assistant", "tool": "tool", "system": "system", "model": "assistant", "choice": "assistant",
}  # fmt: skip
_NUMBER = re.compile(r"[0-9]{1,4}")


def input_messages(span: Span) -> list[Message]:
    """Returns the input messages of a model, its instructions first."""
    at = span.attributes
    # The present convention first, then older ones and the ones of single libraries.
    structured = _json(at.get("gen_ai.input.messages"))
    if isinstance(structured, list):
        return [
            *_instructions(span),
            *(message for one in structured if isinstance(one, Mapping) for message in _split(one)),
        ]
    for prefix in _PROMPTS:
        flat = _flattened(at, prefix)
        if flat:
            return flat
    flat = _openinference(at, _OPENINFERENCE)
    if flat:
        return flat
    events = _event_messages(span, choices=False)
    if events:
        return events
    request = _json(at.get("gcp.vertex.agent.llm_request"))
    if isinstance(request, Mapping) and request:
        return _of_gemini(request)
    for key in ("ai.prompt.messages", "ai.prompt"):
        found = _of_vercel(_json(at.get(key)))
        if found:
            return found
    return _first_messages(at, _INPUTS, "user")


_PROMPTS = ("gen_ai.prompt", "llm.prompts")
_OPENINFERENCE = "llm.input_messages"
_INPUTS = ("langfuse.observation.input", "mlflow.spanInputs", "gen_ai.prompt", "input.value")
_OUTPUTS = ("langfuse.observation.output", "mlflow.spanOutputs", "gen_ai.completion", "output.value")


def _first_messages(at: Mapping[str, Any], keys: Iterable[str], role: str) -> list[Message]:
    """Returns the messages in the first non-empty attribute; a text becomes one with the role."""
    return next(filter(None, (_as_messages(_json(at.get(key)), role) for key in keys)), [])


ReadMessages = Callable[[], list[Message]]


def written_history(span: Span) -> Iterator[tuple[bytes, ReadMessages]]:
    """Yields each input message as bytes, equal for equal messages, and the function that reads it."""
    at = span.attributes
    given = at.get("gen_ai.input.messages")
    if isinstance(given, str):
        # Raw bytes of each message are compared; a repeated one is never decoded.
        with contextlib.suppress(msgspec.MsgspecError, UnicodeEncodeError):
            listed = _raw_list(given)
            instructions = _instructions(span)
            if instructions:
                yield bytes_of({"messages": instructions}), partial(list, instructions)
            for one in listed:
                yield bytes(one), partial(messages_in, bytes(one))
            return
    fields, read = _flat_history(at)
    if fields:
        for one in fields:
            yield bytes_of(one), partial(read, one)
        return
    for message in input_messages(span):
        yield bytes_of(message), partial(list, [message])


_raw_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def messages_in(written: bytes) -> list[Message]:
    """Returns the messages of one element of `gen_ai.input.messages`."""
    one = _json(written.decode("utf-8", "replace"))
    return _split(one) if isinstance(one, Mapping) else []


def _flat_history(at: Mapping[str, Any]) -> tuple[list[dict[str, Any]], Callable[[dict[str, Any]], list[Message]]]:
    """Returns the fields of each message in a convention with one key per field, and the function that reads them."""
    if not isinstance(at.get("gen_ai.input.messages"), list):
        for prefix in (*_PROMPTS, _OPENINFERENCE):
            read = _of_openinference if prefix == _OPENINFERENCE else _of_flat
            fields = list(_numbered(at, prefix).values())
            if any(map(read, fields)):
                return fields, read
    return [], _of_flat


def _instructions(span: Span) -> list[Message]:
    instructions = _json(span.attributes.get("gen_ai.system_instructions"))
    return [_of_parts({"role": "system", "parts": instructions})] if isinstance(instructions, list) else []


_HISTORY = frozenset((
    "gen_ai.input.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.prompt", "input.value",
    "gcp.vertex.agent.llm_request", "ai.prompt.messages", "ai.prompt", "ai.prompt.tools",
    "langfuse.observation.input",
))  # fmt: skip
_HISTORY_LISTS = ("gen_ai.prompt.", "llm.prompts.", "llm.input_messages.", "llm.tools.", "llm.request.functions.")
_EVENT_LISTS = ("events", "all_messages_events")


def without_input(span: Span) -> dict[str, Any]:
    """Returns a span as written, without its model's input."""
    held = span.given["resourceSpans"][0]
    scope = held["scopeSpans"][0]
    one = dict(scope["spans"][0])
    # The history is stored once, so a span is kept without it.
    given = one.get("attributes")
    if isinstance(given, list):
        one["attributes"] = [
            _without_history(pair) if isinstance(pair, dict) else pair
            for pair in given
            if not (isinstance(pair, dict) and _is_history(pair.get("key")))
        ]
    events = one.get("events")
    if isinstance(events, list):
        one["events"] = [event for event in events if not (isinstance(event, Mapping) and _is_given(event.get("name")))]
    return {"resourceSpans": [{**held, "scopeSpans": [{**scope, "spans": [one]}]}]}


def _without_history(pair: dict[str, Any]) -> Mapping[str, Any]:
    key = pair.get("key")
    if key == "mlflow.spanInputs":
        return _with_model(pair)
    return _with_choices(pair) if key in _EVENT_LISTS else pair


def _is_history(key: object) -> bool:
    return isinstance(key, str) and (key in _HISTORY or key.startswith(_HISTORY_LISTS))


def _is_given(name: object) -> bool:
    """Returns True if an event of that name contains a model's input."""
    return isinstance(name, str) and name.startswith("gen_ai.") and name != "gen_ai.choice"


def _with_model(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reduces MLflow's request attribute to the model's name."""
    request = _json(plain_value(pair.get("value")))
    model = request.get("model") if isinstance(request, Mapping) else None
    return {**pair, "value": {"stringValue": _words({"model": model} if isinstance(model, str) else {})}}


def _with_choices(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reduces a list attribute of events to answers."""
    listed = _json(plain_value(pair.get("value")))
    if not isinstance(listed, list):
        return pair
    kept = [one for one in listed if not (isinstance(one, Mapping) and _is_given(one.get("event.name")))]
    return {**pair, "value": {"stringValue": _words(kept)}}


def output_messages(span: Span) -> list[Message]:
    """Returns the output messages of a model."""
    at = span.attributes
    structured = _json(at.get("gen_ai.output.messages"))
    if isinstance(structured, list):
        return [
            message
            for one in structured
            if isinstance(one, Mapping)
            for message in _split({"role": "assistant", **one})
        ]
    flat = _flattened(at, "gen_ai.completion", role="assistant")
    if flat:
        return flat
    flat = _openinference(at, "llm.output_messages")
    if flat:
        return flat
    events = _event_messages(span, choices=True)
    if events:
        return events
    response = _json(at.get("gcp.vertex.agent.llm_response"))
    if isinstance(response, Mapping) and isinstance(content := response.get("content"), Mapping):
        return [{"role": "assistant", "parts": content.get("parts")}] if isinstance(content.get("parts"), list) else []
    said = at.get("gen_ai.output")
    if isinstance(listed := _json(said), list):
        called = [one for one in listed if isinstance(one, Mapping)]
        return [{"role": "assistant", "tool_calls": [_call(None, one.get("tool.name"), one.get("tool.args"))
                                                     for one in called]}]  # fmt: skip
    if isinstance(said, str):
        return [{"role": "assistant", "content": said}]
    return _vercel_answer(at) or _first_messages(at, _OUTPUTS, "assistant")


def output_calls(span: Span) -> list[tuple[str, str]]:
    """Returns ids and names of the tools that a model called; "" for an id that is not recorded."""
    return _calls_in(output_messages(span))


def input_calls(span: Span) -> list[tuple[str, str]]:
    """Returns ids and names of the calls in a model's input."""
    return _calls_in(input_messages(span))


def _calls_in(messages: list[Message]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            made = call.get("function") if isinstance(call, Mapping) else None
            named = made if isinstance(made, Mapping) else call
            if isinstance(call, Mapping) and isinstance(named, Mapping):
                found.append((str(call.get("id") or ""), str(named.get("name") or "")))
        content = message.get("content")
        parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
        used = [part for part in parts if part.get("type") == "tool_use"]
        found += [(str(part.get("id") or ""), str(part.get("name") or "")) for part in used]
        if message.get("type") == "function_call":
            found.append((str(message.get("call_id") or ""), str(message.get("name") or "")))
        found += [(str(part.get("id") or ""), str(part.get("name") or "")) for part in _gemini_calls(message)]
    return [(call, tool) for call, tool in found if tool]


def with_call_ids(messages: list[Message], ids: Iterable[str]) -> list[Message]:
    """Returns messages whose calls without an id have the given ones, as far as they go."""
    left = iter(ids)
    for message in messages:
        calls = message.get("tool_calls")
        for call in (*(calls if isinstance(calls, list) else ()), *_gemini_calls(message)):
            if isinstance(call, dict) and not call.get("id") and (identifier := next(left, None)):
                call["id"] = identifier
    return messages


def _gemini_calls(message: Message) -> list[Mapping[str, Any]]:
    """Returns the calls in a message of Google's models, which may have no ids."""
    parts = message.get("parts")
    held = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    calls = [part.get("functionCall", part.get("function_call")) for part in held]
    return [one for one in calls if isinstance(one, Mapping)]


# Present conventions: {role, parts: [{type, content...}]}


def _split(message: Mapping[str, Any]) -> list[Message]:
    """Splits a message of parts: tool results become separate messages."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return [dict(message)]
    answers = [one for one in parts if isinstance(one, Mapping) and one.get("type") == "tool_call_response"]
    others = [one for one in parts if one not in answers]
    found = [_of_parts({**message, "parts": others})] if others else []
    for one in answers:
        said = one.get("response", one.get("result", one.get("content")))
        found.append({"role": "tool", "tool_call_id": one.get("id"), "name": one.get("name"), "content": _words(said)})
    return found


def _call(identifier: object, name: object, arguments: object) -> dict[str, Any]:
    return {"id": identifier, "function": {"name": name, "arguments": arguments}}


def _of_parts(message: Mapping[str, Any]) -> Message:
    content: list[Any] = []
    calls: list[Any] = []
    for part in message.get("parts") or ():
        sort = part.get("type") if isinstance(part, Mapping) else None
        if sort == "text":
            content.append({"type": "text", "text": _words(part.get("content", part.get("text")))})
        elif sort in ("reasoning", "thinking"):
            content.append({"type": "thinking", "thinking": _words(part.get("content"))})
        elif sort in ("tool_call", "server_tool_call"):
            calls.append(_call(part.get("id"), part.get("name"), part.get("arguments")))
        else:
            content.append(part)
    return {"role": message.get("role"), "content": content, "tool_calls": calls}


# Flattened names: gen_ai.prompt.0.role, llm.input_messages.0.message.tool_calls.0...


def _numbered(at: Mapping[str, Any], prefix: str) -> dict[int, dict[str, Any]]:
    """Returns the members below each number after a prefix, by number; they may be unordered, or have gaps."""
    found: dict[str, dict[str, Any]] = {}
    start = prefix + "."
    length = len(start)
    for key, value in at.items():
        if key.startswith(start):
            number, _, rest = key[length:].partition(".")
            fields = found.get(number)
            if fields is None:
                fields = found[number] = {}
            if rest:
                fields[rest] = value
    numbers = {number: int(number) for number in found if _NUMBER.fullmatch(number)}
    # Numbers are sorted as numbers: as texts, 10 would precede 2.
    return {numbers[number]: found[number] for number in sorted(numbers, key=numbers.__getitem__) if found[number]}


def _flattened(at: Mapping[str, Any], prefix: str, role: str | None = None) -> list[Message]:
    return [message for fields in _numbered(at, prefix).values() for message in _of_flat(fields, role)]


def _of_flat(fields: Mapping[str, Any], role: str | None = None) -> list[Message]:
    """Returns the message of the fields below one number, if it has a text or a call."""
    calls = [
        _call(call.get("id"), call.get("name"), call.get("arguments"))
        for call in _numbered(fields, "tool_calls").values()
    ]
    content = _json(fields.get("content"))
    message = {
        "role": fields.get("role", role),
        "content": _split({"role": "x", "parts": content})[0]["content"]
        if _are_parts(content)
        else fields.get("content"),
        "tool_calls": calls,
        "tool_call_id": fields.get("tool_call_id"),
    }
    return [message] if message["content"] or calls else []


def _are_parts(content: object) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(one, Mapping) and "type" in one for one in content)
    )


def _openinference(at: Mapping[str, Any], prefix: str) -> list[Message]:
    return [message for fields in _numbered(at, prefix).values() for message in _of_openinference(fields)]


def _of_openinference(numbered: Mapping[str, Any]) -> list[Message]:
    """Returns the message of the fields below one number, if it has a text or a call."""
    fields = {key.removeprefix("message."): value for key, value in numbered.items()}
    calls = [
        _call(call.get("tool_call.id"), *(call.get(f"tool_call.function.{key}") for key in ("name", "arguments")))
        for call in _numbered(fields, "tool_calls").values()
    ]
    parts = [
        {"type": "text", "text": part.get("message_content.text")}
        for part in _numbered(fields, "contents").values()
        if part.get("message_content.text")
    ]
    message = {
        "role": fields.get("role"), "content": fields.get("content") or parts, "tool_calls": calls,
        "tool_call_id": fields.get("tool_call_id"), "name": fields.get("name"),
    }  # fmt: skip
    return [message] if message["content"] or calls else []


# Events: gen_ai.user.message, gen_ai.choice; also as a list in an attribute


def _event_messages(span: Span, *, choices: bool) -> list[Message]:
    listed = _json(span.attributes.get("events", span.attributes.get("all_messages_events")))
    # Some exporters list the events in an attribute.
    told: Iterable[tuple[str, Mapping[str, Any]]] = (
        [(str(one.get("event.name", "")), one) for one in listed if isinstance(one, Mapping)]
        if isinstance(listed, list)
        else [(event.name, event.attributes) for event in span.events]
    )
    found: list[Message] = []
    for name, fields in told:
        part = name.removeprefix("gen_ai.")
        if not name.startswith("gen_ai.") or (part == "choice") is not choices:
            continue
        inner = _json(fields.get("message")) if choices else fields
        inner = inner if isinstance(inner, Mapping) else fields
        role = inner.get("role") or part.removesuffix(".message")
        content = inner.get("content")
        found.append({
            "role": _ROLES.get(str(role), role), "content": content, "tool_calls": _json(inner.get("tool_calls")) or [],
            "tool_call_id": inner.get("id") if role == "tool" else None, "name": inner.get("name"),
        })  # fmt: skip
    return [one for one in found if one["content"] or one["tool_calls"]]


# Requests and answers of APIs and frameworks, whole in one attribute


_HOLDERS = (
    "messages", "input", "contents", "output", "choices", "generations", "candidates", "prompt", "text", "prompts",
)  # fmt: skip


def _as_messages(value: object, role: str) -> list[Message]:
    """Returns messages in a value that is a body of an API, or LangChain's; empty for others.

    Args:
        value: decoded.
        role: of a text.
    """
    if isinstance(value, Mapping) and "role" in value and value.keys() & {"content", "tool_calls", "parts"}:
        return _of_framework(value)
    if isinstance(value, Mapping):
        beside = [
            {"role": "system", "content": given}
            for key in ("system", "instructions")
            if isinstance(given := value.get(key), str | list) and given
        ]
        held = next((value[key] for key in _HOLDERS if key in value), None)
        return [*beside, *_as_messages(_json(held), role)]
    # A batch with a single conversation or prompt.
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | str):
        value = value[0]
    if isinstance(value, str) and value:
        return [{"role": role, "content": value}]
    held = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    found = [message for one in held for message in _of_framework(_choice(one, role)) if message]
    _name_results(found)
    return found


def _name_results(messages: list[Message]) -> None:
    """Restores results whose role is the name of their tool: each belongs to the last call of it."""
    calls: dict[str, str] = {}
    for message in messages:
        calls.update({tool: call for call, tool in _calls_in([message]) if call})
        named = message.get("role")
        if isinstance(named, str) and named in calls and "tool_call_id" not in message:
            message.update(role="tool", name=named, tool_call_id=calls[named])


def _choice(one: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    """Returns the message in one of several answers: a choice, a generation, a candidate; else itself."""
    for key in ("message", "content"):
        if "role" not in one and isinstance(inner := one.get(key), Mapping):
            return (
                {"role": role, **inner} if key == "message" and "kwargs" not in inner and "data" not in inner else inner
            )
    if isinstance(text := one.get("text"), str) and one.keys() <= _OF_GENERATIONS:
        return {"role": role, "content": text}
    return one


_OF_GENERATIONS = {"text", "generation_info", "index", "finish_reason", "logprobs", "type"}


# Vercel's AI SDK


def _of_vercel(value: object) -> list[Message]:
    """Returns messages of the AI SDK; its tool calls and results have their own names."""
    found: list[Message] = []
    if isinstance(value, Mapping):
        system, prompt = value.get("system"), value.get("prompt")
        found += [{"role": "system", "content": system}] if isinstance(system, str) and system else []
        found += [{"role": "user", "content": prompt}] if isinstance(prompt, str) and prompt else []
        value = value.get("messages", prompt)
    for one in value if isinstance(value, list) else ():
        if isinstance(one, Mapping):
            found += _vercel_message(one)
    return found


def _vercel_message(one: Mapping[str, Any]) -> Iterator[Message]:
    parts = one.get("content")
    if not isinstance(parts, list):
        yield dict(one)
        return
    content: list[Any] = []
    calls: list[Any] = []
    results: list[Message] = []
    for part in parts:
        sort = part.get("type") if isinstance(part, Mapping) else None
        if sort == "tool-call":
            calls.append(_vercel_call(part))
        elif sort == "tool-result":
            given = part.get("output", part.get("result"))
            if isinstance(given, Mapping) and given.keys() >= {"type", "value"}:
                given = given["value"]
            results.append({
                "role": "tool", "tool_call_id": part.get("toolCallId"), "name": part.get("toolName"),
                "content": _words(given),
            })  # fmt: skip
        elif sort == "reasoning":
            content.append({"type": "thinking", "thinking": _words(part.get("text"))})
        else:
            content.append(part)
    # Results are messages of their own.
    if content or calls:
        yield {"role": one.get("role"), "content": content, "tool_calls": calls}
    yield from results


def _vercel_call(part: Mapping[str, Any]) -> dict[str, Any]:
    return _call(part.get("toolCallId"), part.get("toolName"), part.get("input", part.get("args")))


def _vercel_answer(at: Mapping[str, Any]) -> list[Message]:
    said = next((at[key] for key in ("ai.response.text", "ai.result.text", "ai.response.object") if at.get(key)), None)
    listed = _json(at.get("ai.response.toolCalls", at.get("ai.result.toolCalls")))
    calls = [_vercel_call(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    thought = at.get("ai.response.reasoning")
    if said is None and not calls and not thought:
        return []
    return [{"role": "assistant", "content": _words(said), "reasoning": thought, "tool_calls": calls}]


def _of_framework(one: Mapping[str, Any]) -> list[Message]:
    parts = one.get("parts")
    if _are_parts(parts):
        return _split(one)
    data = one.get("data") or one.get("kwargs")
    # Serialized messages of LangChain keep their members in `data` or `kwargs`.
    if isinstance(data, Mapping):
        sort = one.get("type") if one.get("type") != "constructor" else data.get("type") or _class_of(one)
        role = _ROLES.get(str(sort), "user")
        calls = [
            _call(call.get("id"), call.get("name"), call.get("args"))
            for call in data.get("tool_calls") or ()
            if isinstance(call, Mapping)
        ]
        return [{
            "role": role, "content": data.get("content"), "tool_calls": calls,
            "tool_call_id": data.get("tool_call_id"),
        }]  # fmt: skip
    content = one.get("content")
    if one.get("role") == "tool" and isinstance(content, Mapping) and isinstance(content.get("function"), Mapping):
        return []  # Langfuse lists the definitions of tools as messages
    more = one.get("additional_kwargs")
    if isinstance(more, Mapping) and isinstance(calls := more.get("tool_calls"), list) and not one.get("tool_calls"):
        return [{**one, "tool_calls": calls}]
    return [dict(one)]


def _class_of(one: Mapping[str, Any]) -> str:
    """Returns the type of a message by the name of its class, as "human" of "HumanMessage"."""
    path = one.get("id")
    return str(path[-1]).partition("Message")[0].lower() if isinstance(path, list) and path else ""


def _of_gemini(request: Mapping[str, Any]) -> list[Message]:
    config = request.get("config")
    system = config.get("system_instruction") if isinstance(config, Mapping) else None
    found: list[Message] = [{"role": "system", "content": system}] if isinstance(system, str) else []
    contents = request.get("contents")
    held = [one for one in contents if isinstance(one, Mapping)] if isinstance(contents, list) else []
    return found + [
        {"role": one.get("role", "user"), "parts": [_gemini_part(part) for part in one["parts"]]}
        for one in held
        if isinstance(one.get("parts"), list)
    ]


def _gemini_part(part: object) -> object:
    """Returns a part with Google's names in place of its Python SDK's snake case."""
    if not isinstance(part, Mapping):
        return part
    names = {"function_call": "functionCall", "function_response": "functionResponse"}
    return {names.get(key, key): value for key, value in part.items()}


def _json(given: object) -> Any:
    """Decodes a value that may be JSON in a text; returns other values unchanged."""
    if not isinstance(given, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return given


def _words(given: object) -> str:
    if isinstance(given, str):
        return given
    try:
        return msgspec.json.encode(given).decode() if given is not None else ""
    except (msgspec.MsgspecError, TypeError, UnicodeError, RecursionError):
        return str(given)
