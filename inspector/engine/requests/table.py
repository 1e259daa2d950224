"""The table of requests, and the decoders of requests and answers for a pipe."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Any

import msgspec

from inspector.engine.request import Query, Request
from inspector.engine.requests import (
    account,
    agent_sessions,
    agents,
    chains,
    clock,
    columns,
    compared_contexts,
    comparison,
    conditions,
    context_lists,
    context_tree,
    conversation,
    copies,
    document_settings,
    exports,
    facets,
    fields,
    files,
    filters,
    find,
    finding_lists,
    finding_rows,
    growth,
    latency,
    locations,
    log_facts,
    marks,
    message_ids,
    minimap,
    model_contexts,
    moments,
    msp_contexts,
    msp_edits,
    msp_files,
    msp_sessions,
    next_messages,
    overview,
    pages,
    participants,
    pass_timings,
    places,
    plots,
    problems,
    queries,
    rates,
    raw_text,
    releases,
    repairs,
    rows,
    run_comparisons,
    run_tables,
    saved_views,
    scopes,
    seen_contexts,
    source_rows,
    steps,
    stories,
    summaries,
    timeline,
    tokens,
    turn_comparisons,
    turns,
    value_tree,
    views,
    waste,
)
from inspector.engine.wire import decoder_of

_TOPICS = (
    account, agent_sessions, agents, chains, clock, columns, compared_contexts, comparison, conditions, context_lists,
    context_tree, conversation, copies, document_settings, exports, facets, fields, files, filters, find, finding_lists,
    finding_rows, growth, latency, locations, log_facts, marks, message_ids, minimap, model_contexts, moments,
    msp_contexts, msp_edits, msp_files, msp_sessions, next_messages, overview, pages, participants, pass_timings,
    places, plots, problems, queries, rates, raw_text, releases, repairs, rows, run_comparisons, run_tables,
    saved_views, scopes, seen_contexts, source_rows, steps, stories, summaries, timeline, tokens, turn_comparisons,
    turns, value_tree, views, waste,
)  # fmt: skip

QUERIES: tuple[Query[Any], ...] = tuple(query for topic in _TOPICS for query in topic.QUERIES)
"""All requests, by topic."""

QUERY_BY_TYPE: dict[type[Request[Any]], Query[Any]] = {one.request: one for one in QUERIES}


@cache
def request_decoder() -> msgspec.msgpack.Decoder[Any]:
    """Returns the decoder of requests; the tag of each is the name of its type."""
    return decoder_of(reduce(or_, QUERY_BY_TYPE))


@cache
def answer_decoder(request: type[Request[Any]]) -> msgspec.msgpack.Decoder[Any]:
    """Returns the decoder of the answers to a type of request."""
    return decoder_of(QUERY_BY_TYPE[request].answer)


@cache
def part_decoder(request: type[Request[Any]]) -> msgspec.msgpack.Decoder[Any]:
    """Returns the decoder of the parts of answers to a type of request."""
    return decoder_of(QUERY_BY_TYPE[request].part)
