"""Reads steps of trajectories in ATIF, versions 1.0 to 1.7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import text_of, token_count
from inspector.formats.run_files import facts_event, number_or_none, run_reader
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.kinds import RESPONSE
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "atif"
VOICE = Voice(agent="agent", program="harness", namespace="atif/")


def refs_of(step: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the id and the reference of each sub-agent's trajectory in a step."""
    for result in mappings_in(mapping_or_empty(step.get("observation")).get("results")):
        for ref in mappings_in(result.get("subagent_trajectory_ref")):
            name = ref.get("trajectory_id") or ref.get("session_id") or ref.get("trajectory_path")
            if isinstance(name, str) and name:
                yield name, ref


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    step = mapping_or_empty(record)
    agent, model = text_or_none(line.get("agent")), text_or_none(line.get("model"))
    events = (
        list(_of_step(step, model, mapping_or_empty(line.get("totals")), is_last=line.get("last") is True))
        if "source" in step
        else [facts_event(VOICE, "trajectory", step)]
    )
    for event in events:
        # A step has one time: that of its results is not known.
        time_ns = NO_TIME if event.meaning.kind == RESPONSE else parse_time(step.get("timestamp"))
        place_event(event, time_ns=time_ns, agent=agent)
    return events


def _of_step(
    step: Mapping[str, Any], model: str | None, totals: Mapping[str, Any], *, is_last: bool
) -> Iterator[Event]:  # fmt: skip
    source, text = step.get("source"), text_of(_content(step.get("message")))
    observation = mapping_or_empty(step.get("observation"))
    if step.get("is_copied_context") is True:
        yield VOICE.instructions(text)
    elif source == "user":
        yield VOICE.prompt(text)
    elif source == "agent":
        yield from _of_agent(step, text, model, totals, is_last=is_last)
        return
    elif mapping_or_empty(mapping_or_empty(step.get("extra")).get("context_management")).get("type") == "compaction":
        results = mappings_in(observation.get("results"))
        yield VOICE.compaction("\n".join(text_of(one.get("content")) for one in results) or text)
        return
    else:
        yield VOICE.instructions(text)
    for result in mappings_in(observation.get("results")):
        if content := text_of(result.get("content")):
            yield VOICE.instructions(content)
    for name, ref in refs_of(step):
        yield VOICE.agent_linked(None, agent=name, label=_label(ref))


def _of_agent(
    step: Mapping[str, Any], text: str, model: str | None, totals: Mapping[str, Any], *, is_last: bool
) -> Iterator[Event]:  # fmt: skip
    """Yields the events of a model's step; `totals` are the metrics of a run whose steps have none."""
    events: list[Event] = []
    if thought := text_of(step.get("reasoning_content")):
        events.append(VOICE.thought(thought))
    calls = mappings_in(step.get("tool_calls"))
    if text or not calls:
        events.append(VOICE.answer(text))
    events += [
        VOICE.call(_id(call, "tool_call_id"), text_or_none(call.get("function_name")), call.get("arguments"))
        for call in calls
    ]
    # A step with `llm_call_count` 0 was made by a program.
    if step.get("llm_call_count") != 0:
        metrics = mapping_or_empty(step.get("metrics")) or {key.removeprefix("total_"): totals[key] for key in totals}
        _set_usage(events[-1], metrics, text_or_none(step.get("model_name")) or model)
    yield from events
    tools = {_id(call, "tool_call_id"): text_or_none(call.get("function_name")) for call in calls}
    answers = [*_answers(step, [*tools])]
    if is_last:  # a call that ends the run has no result
        answers += [(call, {}) for call in tools if call not in {called for called, _ in answers}]
    for called, result in answers:
        for name, ref in refs_of({"observation": {"results": [result]}}):
            yield VOICE.agent_linked(called, agent=name, label=_label(ref))
        failed = mapping_or_empty(result.get("extra")).get("is_error") is True
        yield VOICE.result(called, _content(result.get("content")), tool=tools.get(called), failed=failed)


def _answers(step: Mapping[str, Any], calls: list[str | None]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yields the results of a step, each with the id of its call. Results need not name their calls."""
    results = mappings_in(mapping_or_empty(step.get("observation")).get("results"))
    named = {_id(one, "source_call_id") for one in results}
    waiting = [call for call in calls if call not in named]
    unnamed = [one for one in results if _id(one, "source_call_id") not in calls]
    if len(unnamed) == 1:
        # A terminal answers all commands of a step by one text: it is the result of the last of them.
        yield from ((call, {}) for call in waiting[:-1])
        waiting = waiting[-1:]
    for result in results:
        called = _id(result, "source_call_id")
        yield (waiting.pop(0) if called not in calls and waiting else called), result


def _id(value: Mapping[str, Any], key: str) -> str | None:
    return text_or_none(value.get(key))


def _content(value: object) -> object:
    """Returns a content with the paths of its images, as other formats name them."""
    if not isinstance(value, list):
        return value
    return [
        {"type": "image", "url": source["path"]}
        if isinstance(one, Mapping) and isinstance(source := one.get("source"), Mapping) and "path" in source
        else one
        for one in value
    ]


def _label(ref: Mapping[str, Any]) -> str | None:
    return text_or_none(mapping_or_empty(ref.get("extra")).get("summary"))


def _set_usage(event: Event, metrics: Mapping[str, Any], model: str | None) -> None:
    """Sets the tokens of a step; cached tokens are part of the prompt's."""
    if not metrics:
        VOICE.usage(event, model=model)
        return
    read = token_count(metrics, "cached_tokens")
    VOICE.usage(
        event, model=model, input=max(token_count(metrics, "prompt_tokens") - read, 0),
        output=token_count(metrics, "completion_tokens"), cache_read=read,
        cost=number_or_none(metrics.get("cost_usd")),
    )  # fmt: skip


READER = run_reader(LABEL, VOICE, _events)
