"""Reads events of OpenHands: actions of the agent and the user, and observations of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import text_of, token_count
from inspector.formats.message_runs import set_usage
from inspector.formats.run_files import facts_event, number_or_none, run_reader
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

LABEL = "openhands"
VOICE = Voice(agent="agent", program="openhands", namespace="openhands/")
_UNTOLD = ("null", "change_agent_state", "agent_state_changed", "recall", "loop_recovery")
"""Types of events that the program makes for itself."""
_BESIDE = (
    "thought",
    "is_confirmed",
    "confirmation_state",
    "security_risk",
    "hidden",
    "blocking",
    "is_input",
    "is_static",
)


def has_usage(event: Mapping[str, Any]) -> bool:
    """Returns True if an event tells the tokens of its model call."""
    return bool(_response(event).get("usage"))


def _response(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_or_empty(mapping_or_empty(event.get("tool_call_metadata")).get("model_response"))


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    event = mapping_or_empty(record)
    if is_sdk_event(event):
        found = list(_sdk_event(event))
    elif "action" in event:
        found = list(_action(event, line))
    elif "observation" in event:
        found = [_observation(event, line)]
    elif event.get("source") == "user" and isinstance(event.get("message"), str):
        found = [VOICE.prompt(event["message"])]
    else:
        found = [facts_event(VOICE, "event", event)]
    if totals := mapping_or_empty(line.get("totals")):
        set_usage(VOICE, found[0], totals, model=totals.get("model"))
    cost = number_or_none(mapping_or_empty(event.get("llm_metrics")).get("accumulated_cost"))
    if cost:
        found[0].meaning.cost, found[0].meaning.is_total = cost, True
    for one in found:
        place_event(one, time_ns=parse_time(event.get("timestamp")))
    return found


def is_sdk_event(event: Mapping[str, Any]) -> bool:
    """Returns True for an event of OpenHands' SDK, the newest version."""
    return event.get("kind") in SDK_KINDS or ("kind" in event and {"id", "timestamp", "source"} <= event.keys())


SDK_KINDS = (
    "MessageEvent", "SystemPromptEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation",
    "Condensation", "ConversationStateUpdateEvent",
)  # fmt: skip


def _sdk_event(event: Mapping[str, Any]) -> Iterator[Event]:
    sort, called, tool = (
        str(event["kind"]),
        text_or_none(event.get("tool_call_id")),
        text_or_none(event.get("tool_name")),
    )
    message, observation = mapping_or_empty(event.get("llm_message")), mapping_or_empty(event.get("observation"))
    if thought := text_of(event.get("reasoning_content") or message.get("reasoning_content")):
        yield VOICE.thought(thought)
    if sort == "MessageEvent":
        text = text_of(message.get("content"))
        by_agent = event.get("source") == "agent"
        yield VOICE.answer(text) if by_agent else VOICE.prompt(text)
    elif sort == "SystemPromptEvent":
        yield VOICE.instructions(text_of(event.get("system_prompt")))
    elif sort == "ActionEvent":
        if text := text_of(event.get("thought")):
            yield VOICE.answer(text)
        given = mapping_or_empty(event.get("tool_call")).get("arguments", event.get("action"))
        yield VOICE.usage(
            VOICE.call(called, tool, given), model=None, identifier=text_or_none(event.get("llm_response_id"))
        )
    elif sort == "ObservationEvent":
        code = observation.get("exit_code", mapping_or_empty(observation.get("metadata")).get("exit_code"))
        failed = observation.get("is_error") is True or (number_or_none(code) or 0) > 0
        yield VOICE.result(called, observation.get("content", observation.get("output")), tool=tool, failed=failed)
    elif sort == "AgentErrorEvent":
        yield VOICE.result(called, event.get("error"), tool=tool, failed=True)
    elif sort == "UserRejectObservation":
        result = VOICE.result(called, event.get("rejection_reason"), tool=tool)
        result.meaning.declined = True
        yield result
    elif sort == "Condensation":
        yield VOICE.compaction(text_of(event.get("summary")))
    else:
        yield from _state(event)


def _state(event: Mapping[str, Any]) -> Iterator[Event]:
    """Yields an update of the state. Its totals up to now replace earlier ones: a row for each use of a model."""
    value = mapping_or_empty(event.get("value"))
    told = mapping_or_empty(
        value.get("usage_to_metrics") or mapping_or_empty(value.get("stats")).get("usage_to_metrics")
    )
    metrics = {name: mapping_or_empty(one) for name, one in told.items()}
    used = {name: mapping_or_empty(one.get("accumulated_token_usage")) for name, one in metrics.items()}
    used = {name: one for name, one in used.items() if token_count(one, "prompt_tokens", "completion_tokens")}
    rows = [facts_event(VOICE, "event", event) for _ in used] or [facts_event(VOICE, "event", event)]
    for row, (name, tokens) in zip(rows, used.items(), strict=False):
        set_usage(VOICE, row, tokens, model=metrics[name].get("model_name"), identifier=f"all calls of {name}")
    if cost := sum(number_or_none(one.get("accumulated_cost")) or 0 for one in metrics.values()):
        rows[-1].meaning.cost, rows[-1].meaning.is_total = cost, True
    yield from rows


def _action(event: Mapping[str, Any], line: Mapping[str, Any]) -> Iterator[Event]:
    sort, by_user = str(event["action"]), event.get("source") == "user"
    args = mapping_or_empty(event.get("args")) or {
        key: one for key, one in event.items() if key not in ("action", "source")
    }
    text = text_of(args.get("content")) or text_of(event.get("message"))
    if sort == "message":
        # The first message of an old version is the task.
        is_prompt = by_user or ("source" not in event and line.get("number") == 0)
        yield VOICE.prompt(text) if is_prompt else VOICE.answer(text)
    elif sort == "system":
        yield VOICE.instructions(text)
    elif sort == "condensation":
        yield VOICE.compaction(text_of(args.get("summary")) or text)
    elif sort in _UNTOLD or by_user or event.get("source") == "environment":
        yield facts_event(VOICE, sort, event)
    else:
        yield from _call(event, sort, args, line)


def _call(event: Mapping[str, Any], sort: str, args: Mapping[str, Any], line: Mapping[str, Any]) -> Iterator[Event]:
    """Yields the call of a tool with the model's text before it."""
    told, response = mapping_or_empty(event.get("tool_call_metadata")), _response(event)
    choices = mappings_in(response.get("choices"))
    message = mapping_or_empty(choices[0].get("message")) if choices else {}
    identifier = text_or_none(told.get("tool_call_id"))
    calls = mappings_in(message.get("tool_calls"))
    written = next((one.get("function") for one in calls if one.get("id") == identifier), None)
    given = mapping_or_empty(written).get("arguments")
    if given is None:
        given = {key: one for key, one in args.items() if key not in _BESIDE}
    name = text_or_none(told.get("function_name")) or sort
    final = text_of(args.get("final_thought")) or text_of(mapping_or_empty(args.get("outputs")).get("content"))
    events: list[Event] = []
    if text := text_of(args.get("thought")) or (final if sort == "finish" else ""):
        events.append(VOICE.answer(text))
    called = _number(event, line)  # observations name the event, and not always the call
    if sort == "delegate":
        label = text_or_none(mapping_or_empty(args.get("inputs")).get("task"))
        events.append(VOICE.agent_started(called, label=label, prompt=label, tool=name, arguments=given))
    else:
        events.append(VOICE.call(called, name, given))
    if sort == "finish":  # ends the run
        events.append(VOICE.result(called, None, tool=name))
    if response:
        # Several calls of one answer repeat its usage.
        named = text_or_none(response.get("id"))
        set_usage(VOICE, events[0], response.get("usage"), model=response.get("model"), identifier=named)
    yield from events


def _observation(event: Mapping[str, Any], line: Mapping[str, Any]) -> Event:
    sort, content, extras = str(event["observation"]), event.get("content"), mapping_or_empty(event.get("extras"))
    told = mapping_or_empty(event.get("tool_call_metadata"))
    called = text_or_none(told.get("tool_call_id"))
    if sort == "recall":
        return VOICE.instructions(text_of(content))
    if sort in _UNTOLD:
        return facts_event(VOICE, sort, event)
    if called is None and event.get("cause") is None and "number" not in line:
        return VOICE.error(text_of(content)) if sort == "error" else facts_event(VOICE, sort, event)
    code = mapping_or_empty(extras.get("metadata")).get("exit_code", extras.get("exit_code", event.get("exit_code")))
    failed = sort == "error" or event.get("success") is False or (number_or_none(code) or 0) > 0
    called = called if event.get("cause") is None and "number" not in line else _number(event, line, "cause")
    name = text_or_none(told.get("function_name")) or sort
    if sort == "delegate":
        return VOICE.agent_ended(None, content, call=called, failed=failed)
    return VOICE.result(called, content, tool=name, failed=failed)


def _number(event: Mapping[str, Any], line: Mapping[str, Any], key: str = "id") -> str:
    return f"event-{event.get(key, line.get('number'))}"


READER = run_reader(LABEL, VOICE, _events)
