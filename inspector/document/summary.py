"""Summaries of a document, its findings, contexts, participants and messages as plain objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.correlation_names import NamedThing
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.participants.capabilities import HeldCapability
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.views.account.compactions import compaction_rows
from inspector.analysis.views.account.mcp_totals import rpc_totals
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.analysis.views.causes.chain import ChainStep
from inspector.analysis.views.causes.likely_links import LikelyLink
from inspector.analysis.views.latency.latency import Latency, latency_by_model, latency_by_participant, latency_by_tool
from inspector.analysis.views.model_context.outcome import outcomes
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.time_split import are_bounded_by_agents
from inspector.analysis.views.summaries.context_summary import naming_problem_codes, sizes_of
from inspector.analysis.views.summaries.lifecycles import lifecycle_json, pending_results
from inspector.analysis.views.summaries.participant_queries import Tool, shown_participants
from inspector.analysis.views.summaries.unlogged_agents import unlogged_agents
from inspector.document.conclusions import conclusion_row
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import ParticipantStory, Permission, Refused, judge_message, story_of
from inspector.document.token_summary import tokens_of
from inspector.filters.fields import all_fields
from inspector.filters.payloads import message_text
from inspector.protocol import kinds
from inspector.protocol.context_places import PLACE_NAMES, ContextSource
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME, format_time
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.columns.large_headers import HEAD_BYTES
from inspector.store.messages.capture import Sighting
from inspector.tokens.counter import TOKENIZER

MOST_PENDING = 100
"""Limit of listed pending results; the rest is counted."""


def summary(document: CaptureDocument, file: str, steps: StepTable | None = None) -> dict[str, Any]:
    """Returns the summary of a capture; `tokens` and `context` are None unless tokens were counted.

    Args:
        document: the capture.
        file: its display name.
        steps: its steps, if they are known.
    """
    analysis, capture = document.analysis, document.capture
    counted = analysis.tokens.done
    contexts = analysis.contexts
    main = np.flatnonzero(contexts.nodes() == MAIN)
    names = dict.fromkeys(name for _, name in shown_participants(analysis))
    shown = {name: capture.shown_name(name) for name in names if capture.shown_name(name) != name}
    return {
        "file": file,
        "format": document.format,
        "records": capture.record_count,
        "messages": len(capture) - contexts.sessions.count_structure(slice(None)),
        "unreadable": document.unreadable,
        "spaces": [capture.strings[space] for space in contexts.spaces if space],
        "participants": list(names),
        **({"shown_names": shown} if shown else {}),
        "kinds": document.kind_counts(),
        "contexts": len(contexts.tree.alive()),
        "main": len(main) - contexts.sessions.count_structure(main),
        "badges": analysis.transients.totals(),
        "pending_results": [
            {
                "no": one.message + 1,
                "tool": one.tool,
                "consumers": list(one.consumers),
                "since": None if one.since_ns == NO_TIME else format_time(one.since_ns),
                "waited_ms": None if one.waited_ns is None else one.waited_ns / 1e6,
            }
            for one in pending_results(analysis, MOST_PENDING)[0]
        ],
        "tokens": tokens_of(document) if counted else None,
        "context": [one.as_json(analysis) for one in outcomes(analysis)] if counted else None,
        "latency": {
            "tools": _tool_latencies(analysis, steps),
            "participants": _latencies(latency_by_participant(analysis)),
            **({"models": _latencies(models)} if (models := latency_by_model(analysis)) else {}),
        },
        "findings": analysis.findings.found.counts(),
        **_calls_and_usage(document),
        "sources": [
            {"name": source.name, "format": source.main_format, "records": count}
            for source, count in zip(capture.sources, capture.records_by_source(), strict=True)
        ],
    }


def _calls_and_usage(document: CaptureDocument) -> dict[str, Any]:
    """Returns counts of calls, and reported usage and cost of model calls."""
    analysis = document.analysis
    calls, usage = tool_calls(analysis), analysis.usage.total()
    return {
        "calls": {
            "tools": calls.tools, "answered": calls.answered, "failed": calls.failed, "unanswered": calls.unanswered,
            "rejected": calls.rejected, **({"untraced": calls.untraced} if calls.untraced else {}),
        },
        "tool_counts": calls.by_tool,
        "compactions": _compactions(document),
        "rpc": rpc_totals(analysis)._asdict(),
        "models": analysis.usage.calls_by_model(),
        "usage": usage._asdict() if usage is not None else None,
        "cost": costs_of(analysis),
        "stated_cost": analysis.costs.stated_total(),
        **({"unreported": missing} if (missing := _unreported(analysis)) else {}),
        **({"incomplete_output": incomplete} if (incomplete := analysis.usage.incomplete_count) else {}),
        **({"uncounted_sub_agents": missing} if (missing := unlogged_agents(analysis)) else {}),
        "sub_agents": sum(agent.is_agent for agent in document.capture.transcripts.agents.values()),
    }  # fmt: skip


def _unreported(analysis: Analysis) -> int:
    """Returns the number of model calls whose answers tell no tokens; 0 without any report."""
    usage = analysis.usage
    return max(0, sum(usage.calls_by_model().values()) - usage.report_count) if usage.report_count else 0


def _compactions(document: CaptureDocument) -> int:
    """Counts compactions in coding agents' contexts."""
    rows = compaction_rows(document.capture, len(document.capture))
    return int(np.count_nonzero(document.capture.columns["flags"][rows] & np.uint32(Flag.DERIVED.value)))


def costs_of(analysis: Analysis) -> dict[str, Any] | None:
    """Returns costs of model calls in dollars, if tokens were reported, as far as prices are known."""
    costs = analysis.costs
    total = costs.total()
    if total is None:
        return None
    return {
        **total.as_json(), "prices_of": costs.dated or None, "without_price": costs.models_without_price(),
        "models": {name: one.as_json() for name, one in costs.by_model().items()},
        "participants": {name: one.as_json() for name, one in costs.by_participant().items()},
    }  # fmt: skip


def _latencies(found: dict[str, Latency]) -> dict[str, dict[str, float]]:
    """Converts latencies to milliseconds with three decimals."""
    return {
        name: {
            "count": one.count, "p50": round(one.p50, 3), "p95": round(one.p95, 3), "p99": round(one.p99, 3),
            "longest": round(one.longest, 3),
        }
        for name, one in found.items()
    }  # fmt: skip


def _tool_latencies(analysis: Analysis, steps: StepTable | None) -> dict[str, dict[str, float]]:
    """Returns latencies by tool; `at_most` counts answers whose latency is an upper bound, as in *Steps*."""
    found = _latencies(latency_by_tool(analysis))
    if not analysis.capture.transcripts.agents:
        return found
    table, strings = step_table(analysis) if steps is None else steps, analysis.capture.strings
    bounded = table.rows[are_bounded_by_agents(analysis.capture, table)]
    for code, count in Counter(analysis.correlation.columns["target"][bounded].tolist()).items():
        if code and strings[code] in found:
            found[strings[code]]["at_most"] = count
    return found


def finding_entries(document: CaptureDocument) -> Iterator[dict[str, Any]]:
    """Yields every finding, most severe first; numbers count from 1."""
    for found in document.analysis.findings.all():
        yield {
            "code": found.code,
            "severity": found.severity.word,
            "no": found.row + 1,
            "context": None if found.context is None else _path(found.context),
            "text": found.text,
        }


def context_nodes(document: CaptureDocument, *, tokens: bool = False) -> Iterator[dict[str, Any]]:
    """Yields the nodes below main in tree order, by space; a session comes before its sub-sessions, as their root.

    Args:
        document: the capture.
        tokens: adds tokens per node and subtree; main then comes first as a node.
    """
    analysis = document.analysis
    costs = analysis.costs.by_node() if analysis.costs.has_prices and analysis.usage.report_count else None
    sizes, odd, told = sizes_of(analysis), naming_problem_codes(analysis), analysis.contexts.first_context_places()
    counts = analysis.tokens.node_sums() if tokens else None
    sessions = analysis.contexts.sessions.labels
    for space in analysis.contexts.spaces or [0]:  # an empty document has a main context too
        if space in sessions:
            yield _session(document, space, tokens=tokens)
        elif tokens:
            yield _main_context(document, space, tokens=True)
        for node in analysis.contexts.tree.walk(space):
            counted: dict[str, Any] = {}
            if counts is not None:
                counted = {"tokens": int(counts.own[node]), "subtree_tokens": int(counts.subtree[node])}
            if costs is not None:
                counted["cost"] = round(float(costs[node]), 7)
            shown = {
                **_node(document, node), "told": PLACE_NAMES.get(ContextSource(int(told[node]))),
                "bytes": int(sizes[node]), **counted, "odd": odd.get(node, []),
            }  # fmt: skip
            if space in sessions:
                shown["status"] = analysis.contexts.metadata(node).get("status")
                shown["parent"] = shown["parent"] or document.capture.strings[space] or None
            yield shown


def _session(document: CaptureDocument, space: int, *, tokens: bool) -> dict[str, Any]:
    """Returns a session of MSP: its main context under its own name."""
    sessions, name = document.analysis.contexts.sessions, document.capture.strings[space] or None
    metadata = sessions.metadata.get(space, {})
    return {
        **_main_context(document, space, tokens=tokens), "path": name, "label": sessions.labels[space] or name,
        "type": "session", "metadata": metadata, "implicit": space in sessions.implied, "id": name,
        "started_by": sessions.began.get(space), "status": metadata.get("status"),
    }  # fmt: skip


def _main_context(document: CaptureDocument, space: int, *, tokens: bool) -> dict[str, Any]:
    """Returns the main context of a space as root; structure rows of a session do not count as messages."""
    contexts, columns = document.analysis.contexts, document.capture.columns
    here = np.flatnonzero(columns["space"] == space)
    # Rows that only describe a session have no sender.
    structure = contexts.sessions.are_structure(columns["kind"][here])
    messages = here if structure is None else here[~structure]
    own = messages[contexts.nodes_of(messages) == MAIN]
    senders = list(dict.fromkeys(columns["sender"][own].tolist()))
    counted = {}
    if tokens:
        each = document.analysis.tokens.columns["tokens"]
        sums = [int(np.maximum(each[rows], 0).sum(dtype=np.int64)) for rows in (own, messages)]
        counted = dict(zip(("tokens", "subtree_tokens"), sums, strict=True))
    return {
        "path": None, "parent": None, "label": "main", "type": "main", "type_reason": None, "metadata": {},
        "state": contexts.main_state(space, document.analysis.now_ns), "depth": 0,
        "messages": len(own), "subtree_messages": len(messages), "implicit": False,
        "participants": [document.capture.strings[sender] for sender in senders if sender],
        "space": document.capture.strings[space] or None, "id": None,
        "first": int(own[0]) + 1 if len(own) else None, "last": int(own[-1]) + 1 if len(own) else None,
        "started_by": None, "ended_by": None, "conclusion": None, "told": None,
        "bytes": int(columns["size"][own].sum(dtype=np.int64)), **counted, "odd": [],
    }  # fmt: skip


_LONGEST_PATH = 4_096
_PATH_END = 1_000


def _path(path: str) -> str:
    """Truncates long paths in the middle: 10,000 nested nodes would otherwise give 500 MB."""
    return path if len(path) <= _LONGEST_PATH else f"{path[:_PATH_END]}…{path[-_PATH_END:]}"


def _node(document: CaptureDocument, node: int) -> dict[str, Any]:
    contexts, strings = document.analysis.contexts, document.capture.strings
    tree = contexts.tree
    return {
        "path": _path(tree.path(node)),
        "parent": _path(tree.path(tree.parent[node])) if tree.parent[node] != MAIN else None,
        "label": contexts.label(node),
        "type": contexts.type(node),
        "type_reason": contexts.type_reason(node) or None,
        "labels": list(contexts.facts.labels_of(node)),
        "metadata": contexts.metadata(node),
        "state": contexts.state(node, document.analysis.now_ns),
        "depth": tree.depth(node),
        "messages": tree.own[node],
        "subtree_messages": tree.subtree[node],
        "implicit": bool(tree.implicit[node]),
        "participants": [strings[code] for code in contexts.senders_in(node)],
        "space": strings[tree.space[node]] or None,
        "id": _path(tree.segments(node, 1)[-1]),
        "first": _message_no(contexts.first_row[node]),
        "last": _message_no(contexts.last_row[node]),
        "started_by": _message_no(contexts.started_by[node]),
        "ended_by": _message_no(contexts.concluded_by[node]),
        "conclusion": conclusion_of(document, node),
    }


_CONCLUSION = 1_000


def conclusion_of(document: CaptureDocument, node: int) -> str | None:
    """Returns a context's conclusion, or the reason of its cancellation, if any."""
    row = conclusion_row(document.analysis, node)
    if row < 0:
        return None
    capture = document.capture
    text = (message_text(capture, row) or "").strip()
    if not text:
        payload = capture.records.payload(row)
        # Cancellations give a reason, closed sub-sessions a summary; neither is the text shown.
        named = (payload.get(name) for name in ("reason", "summary"))
        text = next((value for value in named if isinstance(value, str) and value), "")
    return text[:_CONCLUSION] or None


def _message_no(row: int) -> int | None:
    return row + 1 if row >= 0 else None


def _raw(document: CaptureDocument, message: int) -> bytes:
    capture = document.capture
    return (
        capture.records.line_part(message, 0, HEAD_BYTES)
        if capture.records.is_big(message)
        else capture.records.envelope_bytes(message)
    )


def message_story(document: CaptureDocument, message: int) -> dict[str, Any]:
    """Returns one message with its content, causes and effects; numbers count from 1."""
    analysis, capture = document.analysis, document.capture
    return {
        "no": message + 1,
        "fields": {field.name: field.value(analysis, message) for field in all_fields()},
        # Above 1 MB only the start is here, which is no envelope; `show --save` writes all of it.
        "envelope": None if capture.records.is_big(message) else capture.records.envelope(message),
        "raw": _raw(document, message).decode("utf-8", "backslashreplace"),
        "deliveries": [
            {"participant": d.participant, "event": d.event} for d in capture.deliveries.deliveries_of(message)
        ],
        "sources": [mask_text(capture.sources[number].name) for number in capture.sources_of(message)],
        "sightings": [_sighting(document, one) for one in capture.sightings_of(message)],
        "causes": [cause + 1 for cause in analysis.correlation.causes(message)],
        "effects": [effect + 1 for effect in analysis.correlation.effects(message)],
        "links": links_of(document, message),
        "odd": link_sentence(document, message),
        "repeats": _message_no(int(capture.repeated_messages(np.array([message]))[0][0])),
        "chain": [_step(step) for step in document.chain(message)],
        "likely": [_likely(document, link) for link in document.likely_chain(message).links],
        "capability": message_permission(document, message),
        "lifecycle": lifecycle_json(analysis, message),
        "carried": _carried_cost(analysis, message),
        "findings": [
            {"code": found.code, "severity": found.severity.word, "text": found.text}
            for found in analysis.findings.findings_about(message)
        ],
    }


def _carried_cost(analysis: Analysis, message: int) -> dict[str, Any] | None:
    """Returns the estimated cost of carrying a message along in its model's context, if known."""
    found = analysis.costs.carried(message)
    if found is None:
        return None
    return {"tokens": found.tokens, "calls": found.calls, "cost": round(found.dollars, 7), "estimate": TOKENIZER}


def message_permission(document: CaptureDocument, message: int) -> dict[str, Any]:
    """Returns the permission of a message: our prediction, and the gateway's decision.

    `differs` is True if both are known and differ, so the gateway deviates from the specification.
    """
    return _judged(judge_message(document, message))


def _judged(found: Permission) -> dict[str, Any]:
    verdicts = [
        {
            "result": verdict.get("result"), "required": verdict.get("required_capability"),
            "matched": verdict.get("matched_capability"), "source": verdict.get("matched_source"),
        }
        for verdict in found.verdicts
    ]  # fmt: skip
    return {"predicted": found.predicted, "by": found.by, "verdicts": verdicts, "differs": found.differs}


def participant_stories(document: CaptureDocument) -> Iterator[dict[str, Any]]:
    """Yields the stories of all participants."""
    for space, name in shown_participants(document.analysis):
        story = story_of(document, space, name)
        if story is not None:
            # After a reconnection this program has a new id; the earlier ones are its own too.
            former = document.analysis.trust.former_ids(space) if story.participant.is_us else []
            yield {**_story(document, story), "formerly": former}


def _story(document: CaptureDocument, story: ParticipantStory) -> dict[str, Any]:
    participant = story.participant
    return {
        "space": document.capture.strings[participant.space] if participant.space else None,
        "name": participant.name,
        "shown_name": document.capture.shown_name(participant.name),
        "here": participant.here,
        "invited": participant.is_invited,
        "since": _time(participant.since_ns),
        "left": _time(participant.left_ns),
        "comings": [{"no": one.row + 1, "here": one.here} for one in participant.presence_changes],
        "messages": participant.messages,
        "kinds": dict(story.kinds),
        "capabilities": None if story.held is None else [_held(one) for one in story.held],
        "changes": [
            {"no": one.row + 1, "what": one.what, "grant_id": one.grant, "capabilities": list(one.capabilities)}
            for one in story.changes
        ],
        "revoked": [
            {"no": one.row + 1, "grant_id": one.grant, "capabilities": list(one.capabilities)} for one in story.revoked
        ],
        "refused": [_refused(one) for one in story.refused],
        "differing": [{"no": row + 1, **_judged(one)} for row, one in story.differing],
        "tools": None if story.tools is None else [_tool(one, story) for one in story.tools],
        "tool_changes": [
            {"no": one.row + 1, "before": one.before + 1, "tool": one.tool, "what": list(one.what)}
            for one in (story.offered.changes if story.offered is not None else ())
        ],
        "latency": _latencies(dict(story.latency)),
        "answered": None if story.answered is None else _latencies({"": story.answered})[""],
        "waits_for": [row + 1 for row in story.asks],
        "waited_for": [row + 1 for row in story.asked],
        "usage": _usage(participant),
    }


def _usage(participant: Participant) -> dict[str, int | None] | None:
    """Returns its last context size, if reported since it came."""
    rows, ended = participant.status_rows, participant.ended
    # A participant that left and came back begins with an empty context.
    if not rows or (ended and ended[-1] > rows[-1]):
        return None
    return {"tokens": participant.tokens, "max_tokens": participant.max_tokens, "no": rows[-1] + 1}


def _tool(one: Tool, story: ParticipantStory) -> dict[str, Any]:
    use = story.tool_use.get(one.name)
    tokens = story.offered.tokens.get(one.name) if story.offered is not None else None
    return {
        "name": one.name, "description": one.description, "no": one.row + 1, "calls": use.calls if use else 0,
        "failed": use.failed if use else 0, "tokens": tokens,
    }  # fmt: skip


def _held(one: HeldCapability) -> dict[str, Any]:
    return {"capability": one.capability, "no": one.row + 1, "grant_id": one.grant, "confirmed": one.confirmed}


def _refused(one: Refused) -> dict[str, Any]:
    return {
        "no": one.row + 1,
        "message": None if one.message is None else one.message + 1,
        "missing": one.missing,
        "predicted": one.judged.predicted,
        "verdicts": [verdict.get("result") for verdict in one.judged.verdicts],
        "differs": one.judged.differs,
    }


def _time(time_ns: int) -> str | None:
    """Formats a time; None also for a log that counts from its own start, which has no dates."""
    return None if time_ns < DATED_FROM_NS else format_time(time_ns)


def links_of(document: CaptureDocument, message: int) -> list[dict[str, Any]]:
    """Returns the target of each correlation id: a message number, a context, a stream, or "nothing seen"."""
    analysis, capture = document.analysis, document.capture
    space = int(capture.columns["space"][message])
    links: list[dict[str, Any]] = []
    # Strange traffic can name thousands of ids, often the same one.
    for identifier in dict.fromkeys(capture.records.correlation_ids(message)[:_MOST_LINKS]):
        rows = capture.records.find_id(identifier) or _also_called(document, message, identifier)
        context = analysis.contexts.tree.find(space, identifier)
        stream = capture.strings.find(identifier)
        link: dict[str, Any] = {"id": identifier, "names": "nothing seen"}
        if rows:
            cause = int(analysis.correlation.columns["cause"][message])
            link["no"] = (cause if cause in rows else max((r for r in rows if r < message), default=rows[0])) + 1
            link["names"] = "message" if link["no"] <= message else "later message"
        elif context != MAIN:
            link |= {"names": "context", "context": _path(analysis.contexts.tree.path(context))}
        elif stream and bool((capture.columns["stream"] == stream).any()):
            link |= {"names": "stream", "stream": identifier}
        links.append(link)
    return links


def _also_called(document: CaptureDocument, message: int, identifier: str) -> list[int]:
    """Returns the message behind a name that is no envelope id, as in drafts (`draft_names`)."""
    cause = int(document.analysis.correlation.columns["cause"][message])
    return [cause] if cause != NO_ROW and document.capture.records.correlation_ids(message) == [identifier] else []


_MOST_LINKS = 256
_LINK_SENTENCES = {
    NamedThing.LATER_MESSAGE: "It came before the message it names.",
    NamedThing.UNKNOWN_NAME: "No message has the id it names.",
}


def link_sentence(document: CaptureDocument, message: int) -> str | None:
    """Describes an odd link of a message as a sentence, if any. Later messages may resolve it."""
    analysis = document.analysis
    # The named target may still arrive, so the result is never stored.
    named = NamedThing(int(analysis.named.named(np.array([message]))[0]))
    if document.capture.string("kind", message) != kinds.RESPONSE:
        return _LINK_SENTENCES.get(named)
    if named == NamedThing.LATER_MESSAGE:
        return f"This response came before its request, No. {int(analysis.correlation.columns['cause'][message]) + 1}."
    return "Its request was never seen." if named == NamedThing.UNKNOWN_NAME else None


def _step(step: ChainStep) -> dict[str, Any]:
    return {
        "no": step.message + 1,
        "relation": step.relation,
        "delta_ms": _milliseconds(step.delta_ns),
        "after": None if step.after is None else step.after + 1,
        "since_ms": _milliseconds(step.since_ns),
        "took_ms": _milliseconds(step.took_ns),
    }


def _sighting(document: CaptureDocument, one: Sighting) -> dict[str, Any]:
    """Returns another source's record of a message, with its content if it differs."""
    source = document.capture.sources[one.source]
    raw = (
        source.read(one.offset, min(one.length, HEAD_BYTES)).decode("utf-8", "backslashreplace")
        if one.has_other_bytes
        else None
    )
    time_ns = one.time_ns
    return {"source": source.name, "time": format_time(time_ns) if time_ns != NO_TIME else None, "differs": raw}


def _likely(document: CaptureDocument, link: LikelyLink) -> dict[str, Any]:
    """Returns an unnamed link: message `no` probably answers, or carries out, message `of`."""
    capture = document.capture
    return {
        "no": link.effect + 1,
        "id": capture.records.envelope_id(link.effect),
        "relation": link.relation.value,
        "of": link.cause + 1,
        "of_id": capture.records.envelope_id(link.cause),
        "why": link.why,
    }


def _milliseconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6
