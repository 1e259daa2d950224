"""Model calls in a recording of HTTP: messages of a request and its answer (docs/protocols.md 17).

A request is a row of its own, followed by its messages; so is an answer. A resent message is identified by its content
and its number of earlier occurrences in the same request. So omissions and insertions elsewhere do not make other
messages new.

An answer alone does not identify its request. The reassembler (`formats.wire_recording.reassembly`) supplies the facts
of the call.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector.formats.entry_builders import CHAT, Entry, bytes_of, decoded_object, set_matched_text
from inspector.formats.model_api import operations
from inspector.formats.model_api import reader as api_messages
from inspector.formats.model_api.usage import api_call, stated_cost
from inspector.formats.model_vocabulary import AGENT, CLIENT, SYSTEM, USER, tool_name
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, MODEL_CALL_KEY, ApiCall, DerivedMessage, Payload
from inspector.protocol.record import ModelCall, Record, Shape, Speaker
from inspector.protocol.secrets.masking import MASK
from inspector.protocol.timestamps import NO_TIME, parse_time

_NOTHING: Mapping[str, Any] = {}
_SENT = ("messages", "system", "instructions", "input", "contents", "systemInstruction", "system_instruction")
"""Members of a request's body that contain messages, rows of their own."""
_NO_PARAMETERS = (*_SENT, "prompt", "tools", "toolConfig", "model", "metadata")
_RETRIES = "x-stainless-retry-count"
_FAILED = 400
_CUT = {
    "client-closed": "cut: the client hung up", "server-broke": "cut: the server broke off",
    "cut-by-network": "cut off on the way", "unfinished": "the recording ends in the middle of it",
}  # fmt: skip


def read_request(
    line: bytes, path: object, headers: object, t: object, x: int, label: str, known: Mapping[str, Any] | None = None,
    known_of: Callable[[ModelCall], Mapping[str, Any]] | None = None,
) -> Record | None:  # fmt: skip
    """Returns the record of a request if it goes to a model. Never raises.

    Args:
        line: of the recording.
        path, headers, t, x: members of the line.
        label: the format of the line.
        known: facts from earlier lines.
        known_of: returns such facts for the call, as the request alone describes it; `occurrence_counts` has the sent
            messages.
    """
    value = decoded_object(line)
    body = value.get("message") if value is not None else None
    operation = operations.operation_of(path, body)
    if operation is None or value is None or not isinstance(body, Mapping):
        return None
    call = ModelCall(
        # The time makes the identifier unique, since exchange numbers start anew with each
        # recording.
        identifier=f"exchange-{x}-{t}",
        operation=operation.name,
        model=operations.asked_model(path, body),
        conversation="",
        asked_ns=parse_time(t),
        continued_answer=operations.continued_answer(body),
        # A repeat of a failed request has the same body.
        digest=hashlib.blake2b(bytes_of(dict(body)), digest_size=8).digest(),
        retries=_retries(headers),
    )
    sent = api_messages.entries_of_body(body, certain=True)
    marks = [_message_hash(entry) for entry in sent]
    _name_conversation(call, body, headers, sent)
    if known_of is not None:
        call.occurrence_counts = dict.fromkeys(marks, 1)
        _note_history(call, body, sent, marks)
        known = known_of(call) or None
    told = known or _NOTHING
    call.identifier = _text(told.get("id")) or call.identifier
    call.conversation = _text(told.get("conversation")) or call.conversation
    call.occurrence_counts = _counts(told.get("said"))
    request = _request_entry(body, sent, call, told)
    _identify(sent, marks, call)
    # Ids are assigned last, as they depend on the conversation.
    return _record(line, [request, *sent], call, label, t, known)


def read_answer(line: bytes, label: str, known: Mapping[str, Any]) -> Record | None:
    """Returns the record of a line if it is a reassembled answer. Never raises.

    Args:
        line: of the recording, or like one.
        label: the format of the line.
        known: facts from earlier lines about the call.
    """
    value = decoded_object(line)
    if value is None:
        return None
    call = _call_from_facts(known)
    entry, *said = _answer_entries(value, call, known)
    _identify(said, [_message_hash(one) for one in said], call, new=True)
    return _record(line, [entry, *said], call, label, value.get("t"), known)


def payload(line: bytes, number: int, known: Mapping[str, Any] = _NOTHING) -> Payload:
    """Returns the payload of message `number`, from 0, with facts from earlier lines. Never raises."""
    value = decoded_object(line)
    if value is None:
        return {}
    body = value.get("message")
    # Payloads are derived again instead of kept, which would take much memory.
    if value.get("kind") == "http-request" and isinstance(body, Mapping):
        operation = operations.operation_of(value.get("path"), body)
        model = operations.asked_model(value.get("path"), body)
        call = ModelCall("", operation.name if operation is not None else "", model, "")
        sent = api_messages.entries_of_body(body, certain=True)
        entries = [_request_entry(body, sent, call, known), *sent]
    else:
        entries = _answer_entries(value, _call_from_facts(known), known)
    return entries[number].payload if number < len(entries) else {}


def _call_from_facts(known: Mapping[str, Any]) -> ModelCall:
    """Returns the facts of an answer's call."""
    return ModelCall(
        identifier=_text(known.get("id")) or "", operation=_text(known.get("operation")) or "",
        model=_text(known.get("model")), conversation=_text(known.get("conversation")) or "",
        asked_ns=_number(known.get("asked"), NO_TIME), occurrence_counts=_counts(known.get("said")),
    )  # fmt: skip


def message_hashes(body: Mapping[str, Any]) -> list[str]:
    """Returns hashes of the messages in a body, equal in any request or answer."""
    return [_message_hash(entry) for entry in api_messages.entries_of_body(body, certain=True)]


def tool_call_hashes(body: Mapping[str, Any]) -> list[str]:
    """Returns the hashes of tool calls with ids of their own, unique to one conversation."""
    made = api_messages.entries_of_body(body, certain=True)
    return [_message_hash(entry) for entry in made if entry.meaning.has_call_id]


def _record(
    line: bytes, entries: Sequence[Entry], call: ModelCall, label: str, t: object, known: Mapping[str, Any] | None
) -> Record:
    means, time_ns = tuple(entry.meaning for entry in entries[:MAX_DERIVED_MESSAGES]), parse_time(t)
    for meaning in means:
        meaning.time_ns = time_ns
    return Record(
        Shape.DERIVED, line, time_ns=time_ns, space=call.conversation or None, derived_messages=means, derived_by=label,
        call=call, known_facts=known,
    )  # fmt: skip


# Requests


def _request_entry(body: Mapping[str, Any], sent: Sequence[Entry], call: ModelCall, known: Mapping[str, Any]) -> Entry:
    """Returns the row of the request itself, without its messages."""
    tools = api_messages.tools_in(body)
    marks = {str(place): entry.cache for place, entry in enumerate(sent, 1) if entry.cache is not None}
    told: dict[str, Any] = {
        "operation": call.operation, "model": call.model, "messages": _sent_messages(body), "entries": len(sent),
        **({"tools": tools} if tools is not None else {}),
        **({"cache_marks": marks} if marks else {}),
        # All other members of the body are parameters, known or not.
        "parameters": {key: one for key, one in body.items() if key not in _NO_PARAMETERS},
    }  # fmt: skip
    previous = operations.continued_answer(body)
    if previous is not None:
        seen = known.get("after") == previous
        told["instructions"] = len(api_messages.instructions_in(body))
        told["goes_on_from"] = previous if seen else f"{previous}, which was not seen: the earlier messages are unknown"
    attempt = _number(known.get("attempt"), 1)
    if attempt > 1:
        told["attempt"] = attempt
    row = DerivedMessage(
        kinds.REQUEST,
        CLIENT,
        (AGENT,),
        identifier=call.identifier,
        method=call.operation,
        target=call.model,
    )
    # Copies of the request have the same mark.
    row.identity = f"call {call.identifier}".encode("utf-8", "surrogatepass")
    entry = Entry(row, {"text": _request_words(call, told, previous), MODEL_CALL_KEY: told})
    row.size = len(bytes_of(entry.payload))
    return entry


def _request_words(call: ModelCall, told: Mapping[str, Any], previous: str | None) -> str:
    count, tools = told["messages"], len(told.get("tools", ()))
    words = [f"{count} message{'s' * (count != 1)}"]
    if tools:
        words.append(f"{tools} tool{'s' * (tools != 1)}")
    if previous is not None:
        words.append(f"goes on from {told['goes_on_from']}")
    if "attempt" in told:
        words.append(f"attempt {told['attempt']}")
    return f"{call.model or call.operation}: {', '.join(words)}"


def _sent_messages(body: Mapping[str, Any]) -> int:
    given = next((body[key] for key in ("messages", "contents", "input") if key in body), None)
    return len(given) if isinstance(given, list) else int(given is not None)


def _name_conversation(call: ModelCall, body: Mapping[str, Any], headers: object, sent: Sequence[Entry]) -> None:
    """Names the conversation by the user's first text and by the session, as far as the request contains them.

    The system prompt is not used, since programs change it between requests. Conversations with the same first text are
    separated by `inspector.reading.reassembly.conversations`.
    """
    named = body.get("conversation")
    named = named.get("id") if isinstance(named, Mapping) else named
    if isinstance(named, str) and named:
        call.conversation = named
        return
    call.thread = _thread(body, headers)
    metadata = body.get("metadata")
    session = call.thread or (metadata.get("user_id") if isinstance(metadata, Mapping) else None)
    spoken = [entry for entry in sent if entry.meaning.sender != SYSTEM]
    opening = _leading_user_texts(spoken, 0)
    call.opening_hash = _digest({"session": session, "said": [entry.payload for entry in opening[:1] or spoken]})
    told = len(opening)
    # A client's own text may come first, with an answer that no model gave.
    if told and len(spoken) > told + 1 and _is_text(spoken[told], AGENT):
        opening += _leading_user_texts(spoken, told + 1)
    call.conversation = _digest({"session": session, "said": [entry.payload for entry in opening or spoken]})


def _leading_user_texts(entries: Sequence[Entry], start: int) -> list[Entry]:
    """Returns the user's consecutive texts from a place on."""
    stop = start
    while stop < len(entries) and _is_text(entries[stop], USER):
        stop += 1
    return list(entries[start:stop])


def _is_text(entry: Entry, sender: str) -> bool:
    return entry.meaning.kind == CHAT and entry.meaning.sender == sender


def _digest(said: dict[str, Any]) -> str:
    return f"conversation-{hashlib.blake2b(bytes_of(said), digest_size=8).hexdigest()}"


def _thread(body: Mapping[str, Any], headers: object) -> tuple[str, str] | tuple[()]:
    """Returns the ids that a client uses for its conversations."""
    from inspector.formats.table import AGENT_HEADERS, SESSION_HEADERS  # imported late: the table imports this module

    held = headers if isinstance(headers, Mapping) else {}
    given = {str(name).lower(): one for name, one in held.items() if isinstance(one, str) and one and one != MASK}
    session = next((given[name] for name in SESSION_HEADERS if name in given), "")
    threads = [given[name] for name in AGENT_HEADERS if name in given]
    told = body.get("client_metadata")
    if isinstance(told, Mapping):
        session = session or _unmasked_text(told.get("session_id"))
        threads = threads or [one for one in (_unmasked_text(told.get("thread_id")),) if one]
    return (session, " ".join(threads)) if session or threads else ()


def _unmasked_text(value: object) -> str:
    return value if isinstance(value, str) and value != MASK else ""


def _note_history(call: ModelCall, body: Mapping[str, Any], sent: Sequence[Entry], marks: Sequence[str]) -> None:
    """Records the properties that requests of one conversation share."""
    pairs = zip(sent, marks, strict=True)
    history = [(entry, mark) for entry, mark in pairs if entry.meaning.sender != SYSTEM]
    call.history = array("Q", (int(mark, 16) for _, mark in history))
    call.speakers = bytes(_speaker(entry) for entry, _ in history)
    tools = api_messages.tools_in(body)
    prompts = [str(entry.payload.get("text")) for entry in sent if entry.meaning.sender == SYSTEM]
    if tools:
        names = {"tools": [tool_name(tool) for tool in tools]}
        call.tools_hash = hashlib.blake2b(bytes_of(names), digest_size=8).digest()
    # Prompts contain dates and versions; the longest one begins with the model's identity.
    begins = max(prompts, key=len, default="")[:_PROMPT_BEGINS]
    call.system_prompt_hash = hashlib.blake2b(begins.encode("utf-8", "replace"), digest_size=8).digest()


_PROMPT_BEGINS = 80


def _speaker(entry: Entry) -> Speaker:
    meaning = entry.meaning
    if meaning.kind == kinds.RESPONSE:
        return Speaker.RESULT
    if meaning.has_call_id:
        return Speaker.CALL
    return Speaker.USER if meaning.sender == USER else Speaker.ASSISTANT


def _retries(headers: object) -> int:
    """Returns the number of earlier attempts, by the client's header."""
    written = headers.get(_RETRIES) if isinstance(headers, Mapping) else None
    return int(written) if isinstance(written, str) and written.isdecimal() and len(written) < _LONGEST_COUNT else 0


_LONGEST_COUNT = 4

# Answers


def _answer_entries(value: Mapping[str, Any], call: ModelCall, known: Mapping[str, Any]) -> list[Entry]:
    """Returns the row of the answer itself, and the model's messages in it."""
    body = value.get("message")
    body = body if isinstance(body, Mapping) else {}
    said = api_messages.entries_of_body(body, certain=True) if body else []
    status = _number(value.get("status"), 0)
    error = operations.error_in(body)
    # A server may fail with status 200, after its head was sent.
    failed = error is not None or status >= _FAILED or value.get("how") == "server-broke"
    reported = api_call(body)
    first = _number(known.get("first"), NO_TIME)
    answered = reported or ApiCall(call.identifier, call.model)
    if reported is not None:
        answered.identifier = answered.identifier or call.identifier
        answered.model = answered.model or call.model
        # The report names the answer, so retries are found by the request.
        answered.attempts = call.identifier
    answered.stop = operations.stop_reason(body)
    if NO_TIME not in (first, call.asked_ns) and first >= call.asked_ns:
        answered.first_token_ns = first - call.asked_ns
    told = {
        key: one
        for key, one in (
            ("model", answered.model), ("stop_reason", answered.stop),
            ("usage", body.get("usage", body.get("usageMetadata"))), ("events", known.get("events")),
            ("how", value.get("how")), ("status", status or None), ("id", body.get("id")),
        )
        if one is not None
    }  # fmt: skip
    if answered.first_token_ns >= 0:
        told["first_token_ms"] = round(answered.first_token_ns / 1e6, 3)
    row = DerivedMessage(
        kinds.RESPONSE, AGENT, (CLIENT,), identifier=f"{call.identifier}/answer",
        correlation=call.identifier, method=call.operation or None, target=call.model, failed=failed, call=answered,
    )  # fmt: skip
    row.cost = stated_cost(body)
    words = _answer_words(value, answered, told)
    if failed:
        error = error if error is not None else {"message": _text(value.get("text")) or words}
        status_words = f"status {status} " if status >= _FAILED else ""
        entry = Entry(row, {"error": {**error, "message": status_words + error["message"]}, MODEL_CALL_KEY: told})
    else:
        entry = Entry(row, {"text": words, MODEL_CALL_KEY: told})
    row.size = len(bytes_of(entry.payload))
    # The messages belong to the call, but only the answer's row reports its tokens.
    for one in said:
        one.meaning.call = ApiCall(answered.identifier, answered.model)
    return [entry, *said]


def _answer_words(value: Mapping[str, Any], answered: ApiCall, told: Mapping[str, Any]) -> str:
    words = [_CUT.get(str(value.get("how"))) or answered.stop or "answered"]
    if answered.has_usage:
        given = answered.input + answered.cache_read + answered.cache_write
        cached = [
            f"{count:,} {what}"
            for count, what in ((answered.cache_read, "from a cache"), (answered.cache_write, "written to one"))
            if count
        ]
        from_caches = f" ({', '.join(cached)})" if cached else ""
        words.append(f"{given:,} tokens in{from_caches}, {answered.output:,} out")
    if "first_token_ms" in told:
        words.append(f"first token after {told['first_token_ms']:,.0f} ms")
    return "; ".join(words)


# Identity of messages


def _message_hash(entry: Entry) -> str:
    """Returns the hash of a message, without its number of occurrences."""
    meaning = entry.meaning
    digest = hashlib.blake2b(digest_size=8)
    told = (meaning.kind, meaning.sender, meaning.identifier, meaning.correlation)
    digest.update("\0".join(map(str, told)).encode("utf-8", "replace"))
    digest.update(bytes_of(entry.payload))
    return digest.hexdigest()


def _identify(entries: Sequence[Entry], marks: Sequence[str], call: ModelCall, *, new: bool = False) -> None:
    """Assigns ids to messages, equal in every request of the conversation and in their first answer.

    Tool calls have their own. If these are names, results follow the order of the calls.

    Args:
        entries: the messages.
        marks: hash of each.
        call: their model call.
        new: they have no earlier occurrence.
    """
    seen, calls = Counter(call.occurrence_counts), api_messages.OpenCalls()
    prompts: set[str] = set()  # not inherited by a request that continues this one
    for entry, own in zip(entries, marks, strict=True):
        meaning = entry.meaning
        seen[own] += 1
        if meaning.sender == SYSTEM:
            prompts.add(own)
        # Counted, since a user may write the same text twice.
        mark = hashlib.blake2b(f"{call.conversation}\0{own}\0{seen[own]}".encode("utf-8", "replace"), digest_size=8)
        meaning.identity, meaning.is_new = mark.digest(), new
        meaning.size = len(bytes_of(entry.payload))
        if not _has_own_id(meaning, calls):
            set_matched_text(entry)
        # Some APIs use the name of a tool as id; such a call needs one of its own.
        if meaning.kind == kinds.REQUEST and meaning.identifier is not None and meaning.identifier != meaning.target:
            meaning.given = bytes_of({"given": entry.payload.get("params")})
            calls.add_call(meaning, meaning.identifier)
            continue
        if meaning.identifier is not None:
            calls.add_call(meaning, mark.hexdigest())
        meaning.identifier = mark.hexdigest()
        if meaning.correlation is not None:
            meaning.correlation = calls.call_of(meaning.correlation)
    call.occurrence_counts = {own: count for own, count in seen.items() if own not in prompts}


def _has_own_id(meaning: DerivedMessage, calls: api_messages.OpenCalls) -> bool:
    """Returns True for a call, or its result, with an id; some APIs name a call by its tool alone."""
    if meaning.kind == kinds.REQUEST:
        return meaning.has_call_id
    called = meaning.correlation
    return meaning.kind == kinds.RESPONSE and called is not None and not calls.have_no_ids(called)


# Values of any type


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else otherwise


def _counts(value: object) -> dict[str, int]:
    given = value.items() if isinstance(value, Mapping) else ()
    return {key: max(_number(one, 0), 0) for key, one in given if isinstance(key, str)}
