"""Longest step of each request: an engine computes no other answer meanwhile. Prints a line for each.

Run as `python -m tests.bench.steps [MESSAGES] [REQUEST]...`. Each request is answered twice, over a log of a story with
some messages of almost 1 MB: a long text, its edited copy, nested objects, and a list of 100,000 numbers. The encoding
of an answer counts as a step. Times are processor time of the computing thread.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.base import gc_control
from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.request import PAUSE, Part, Request, RequestError
from inspector.engine.requests import (
    account,
    chains,
    columns,
    comparison,
    conditions,
    context_tree,
    copies,
    exports,
    facets,
    fields,
    filters,
    find,
    finding_rows,
    growth,
    latency,
    locations,
    log_facts,
    marks,
    message_ids,
    minimap,
    next_messages,
    pages,
    participants,
    pass_timings,
    places,
    plots,
    problems,
    queries,
    rates,
    raw_text,
    rows,
    saved_views,
    scopes,
    seen_contexts,
    source_rows,
    timeline,
    tokens,
    value_tree,
    views,
    waste,
)
from inspector.engine.timeline_lanes import LanesLook
from tests.bench.generate import write_envelopes

SIZE = 900_000
"""Bytes of a large message, a little below the limit of decoding."""


def large_payloads() -> list[Any]:
    """Payloads of about 1 MB: two texts, nested objects twice, a list of numbers, and results with JSON as text."""
    text = " ".join(f"word{number % 977} of line {number}\n" for number in range(SIZE // 22))
    edited = text.replace("word13 ", "another ").replace("word900 ", "")
    nested = {f"key{n}": {"name": f"value {n}", "list": [n, str(n), {"deep": [n] * 3}]} for n in range(SIZE // 90)}
    changed = {key: value | {"name": "changed"} if key.endswith("7") else value for key, value in nested.items()}
    numbers = list(range(100_000))
    records = [{"name": f"value {n}", "size": n, "kind": "file"} for n in range(SIZE // 60)]
    results = [{"result": {"content": [{"type": "text", "text": json.dumps(one)}]}} for one in (numbers, records)]
    return [{"text": text}, {"text": edited}, nested, changed, {"items": numbers}, *results]


def write_log(path: Path, messages: int) -> list[int]:
    """Writes the log; returns the numbers of its large messages."""
    write_envelopes(path, messages)
    payloads = large_payloads()
    with path.open("ab") as file:
        for number, payload in enumerate(payloads):
            kind = "chat" if "text" in payload else "mcp/response"
            envelope = {
                "protocol": "mew/v0.4", "id": f"large-{number}", "ts": f"2027-01-05T09:00:0{number}Z", "from": "lead",
                "to": ["coder"], "kind": kind, "payload": payload,
            }  # fmt: skip
            file.write(json.dumps(envelope).encode() + b"\n")
    return list(range(messages, messages + len(payloads)))


def requests(messages: int, large: list[int], space: int, target: Path) -> Iterator[Request[Any]]:
    """Requests of a window that only read the document."""
    text, edited, nested, changed, numbers, *results = large
    look = LanesLook(1)
    rows_, last = np.arange(messages, dtype=np.uint32), f"no > {messages - 1_000}"
    yield views.FilterRows(1)
    yield views.ArrangeRows(1)
    yield views.SortRows(1, "payload.text")
    yield views.SortRows(1, "time")
    yield views.FilterRows(1, 'text contains "defaults"')
    yield views.FilterRows(1)
    yield views.FollowRows(1, messages, messages, np.empty(0, np.int64))
    yield views.CountMatches(1, "findings")
    yield views.PlacesOfMessages(1, np.arange(messages))
    yield views.NextGap()
    for message in large:
        yield rows.MessageRows((message,), fields=("payload.text", "tool"))
        yield rows.RemarksOfRow(message)
        yield rows.OriginalLines(message)
        for tab in pages.TABS:
            yield pages.DescribeMessage(message, tab)
        yield value_tree.ShowTree(message)
        yield value_tree.RowsBelow(message, ("payload",))
        yield value_tree.WholeValue(message, ("payload",))
        yield value_tree.FilterOfValue(message, ("payload",))
        for part in ("envelope", "formatted", "line"):
            yield raw_text.ShowRawText(message, part, more=1 << 20)
            yield raw_text.CopyRawText(message, part)
        for style in ("json", "json lines", "markdown", "ids"):
            yield copies.CopyMessages(style, np.array([message], np.uint32))
        yield copies.DescribeRow(message, 1)
        yield chains.ChainOfMessage(message)
        yield locations.LocateMessage(message)
        yield marks.SetNotes((marks.TargetNote(message, marks.Note(True, "a comment")),))
    yield value_tree.RowsBelow(numbers, ("payload", "items"))
    for left, right in ((text, edited), (nested, changed), (numbers, text), tuple(results)):
        for aspect in ("values", "text"):
            yield comparison.CompareMessages(left, right, aspect)
    yield rows.MessageRows(tuple(range(2_000)), fields=("payload.text", "tool"))
    yield rows.MessageLooks(tuple(range(2_000)), (rows.LookRule("late", 'text contains "late"', "rose", "edge"),))
    yield copies.CopyRows(1, rows_[:10_000], tuple(range(8)))
    yield copies.CopyMessages("json", rows_[:10_000])
    yield copies.TotalsOfMessages(1)
    yield fields.NamesOfFields()
    for typed in ("payload.", "from == ", "context == ", "te", "tool == "):
        yield filters.CompleteFilter(typed, len(typed))
    yield filters.CheckFilter("lead")
    yield filters.FilterAsSql('text contains "a"')
    yield find.FindHits(1, find.FindQuery("late"), step=1)
    yield find.FindHits(1, find.FindQuery("l[a-z]te", is_pattern=True), known=1)
    yield find.EndFind(1)
    yield facets.CountFacets(1, filters.FilterStack(), None, None, ("from", "tool", "context"))
    yield conditions.CountHidden(1, filters.FilterStack(), None, None)
    yield message_ids.FindMessages(1, None, "large", 100)
    yield message_ids.SearchIds(1, "large")
    yield minimap.MessagesToMark(1)
    for kind in ("problem", "mark", "context", "participant"):
        yield next_messages.FindNextMessage(1, kind, 10, -1)
    yield account.WhatHappened()
    yield account.Waits()
    yield account.WaitsNow()
    yield chains.MayHaveChanged(10, (10, 11), 0, messages, np.arange(100))
    yield columns.FiguresOfColumns()
    yield context_tree.FollowContexts()
    yield context_tree.FindContexts("a")
    yield context_tree.DescribeContexts(tuple(range(1_000)), tokens=True, usage=True)
    yield context_tree.TipOfContext(0)
    yield context_tree.ActionsOfContext(0)
    yield pages.DescribeContext(space, MAIN)
    yield pages.DescribeContext(space, 0)
    yield pages.DescribeParticipant(space, "lead")
    yield finding_rows.OrderFindings(1)
    yield growth.ContextGrowth()
    yield latency.Latencies()
    yield locations.ResolveContext(0)
    yield log_facts.RecentLogFacts()
    yield source_rows.DescribeSources()
    yield marks.SetNotes(tuple(marks.TargetNote(one, marks.Note(True, "")) for one in range(0, 20_000, 2)))
    yield marks.ListMarks(1)
    yield marks.DescribeMarks(1, tuple(range(0, 2_000, 2)))
    yield marks.NotedTargets()
    yield participants.OrderParticipants()
    yield pass_timings.SizeOfDocument()
    yield places.KeepPlaces(tuple(range(1_000)))
    yield plots.NameMessage(10)
    yield plots.MessageBefore(10_000)
    yield plots.NextPosition(None, 1)
    yield plots.MessagePosition(messages // 2)
    yield plots.RangeCondition(10, 20)
    yield problems.ProblemCounts()
    yield problems.CountFailures()
    yield queries.CompleteQuery("SELECT ki", 9)
    yield queries.RunQuery("SELECT kind, count(*), max(length(text)) FROM messages GROUP BY kind")
    yield rates.CountRates(0, 0, 1 << 62, 1 << 55)
    yield saved_views.HeadDigest(messages)
    yield scopes.DescribeScope(scopes.Scope(space, None))
    yield scopes.TopicsOfLog()
    yield seen_contexts.ShowSeenContext()
    yield seen_contexts.ReaderAt(text)
    yield seen_contexts.NextChange(10, 1)
    yield timeline.UpdateTimeline(look)
    yield timeline.PaintLanes(look, 0, 1 << 62, 1_500)
    yield timeline.FindInTimeline(look, text)
    yield timeline.StepInTimeline(look, text, "along", -1)
    yield tokens.TokenUsage(plotted=True)
    yield tokens.CountTokens()
    yield waste.AvoidableTokens()
    yield exports.PreviewExport(last)
    yield exports.CountExportable(1, rows_)
    yield exports.CheckColumns(("no", "text"))
    for format_ in exports.Format:
        yield exports.ExportMessages(target, format_, last, fields=("no", "text"))


def measured_steps(engine: Engine, number: int, request: Request[Any]) -> tuple[float, float]:
    """Answers a request; returns its longest step and the time of all, in milliseconds."""
    steps, longest, whole = engine.begin(number, request), 0.0, 0.0
    while True:
        began, done = time.thread_time(), False
        try:
            step = next(steps)
            if isinstance(step, Part):
                wire.encode(step.value)
        except StopIteration as end:
            longest, whole = _added(longest, whole, began)
            began, done = time.thread_time(), True
            wire.encode(end.value)
            step = None
        if step is not PAUSE:
            longest, whole = _added(longest, whole, began)
        if done:
            return longest, whole


def _added(longest: float, whole: float, began: float) -> tuple[float, float]:
    took = (time.thread_time() - began) * 1000
    return max(longest, took), whole + took


def measure(messages: int, wanted: set[str]) -> None:
    """Prints the longest step and the time of all steps of each request: of its first and its second answer."""
    with (
        tempfile.TemporaryDirectory(prefix="context-inspector-bench-") as folder,
        gc_control.defer_full_collection(),  # as in the engine process
    ):
        path = Path(folder) / "log.jsonl"
        large = write_log(path, messages)
        engine = Engine()
        number, steps = engine.open([Target(path)])
        engine.read(steps)
        document = engine.opened(number).document
        for _ in document.postponed_checks():
            pass
        document.count_tokens()
        space = document.analysis.contexts.spaces[0]
        for request in requests(len(document.capture), large, space, Path(folder) / "export"):
            if wanted and type(request).__name__ not in wanted:
                continue
            try:
                times = [one for _ in range(2) for one in measured_steps(engine, number, request)]
                text = " ".join(f"{one:7.1f}" for one in times)
            except RequestError as error:
                text = str(error)
            print(text, repr(request)[:120], flush=True)
        engine.close()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000, set(sys.argv[2:]))
