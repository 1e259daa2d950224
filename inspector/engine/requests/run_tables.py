"""Rows of a run for the tables of a survey, and counts for expectations about a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings import Severity
from inspector.analysis.views.account.tool_calls import Calls, calls_of, tool_calls
from inspector.analysis.views.latency.latency import latency_ms
from inspector.analysis.views.waste import WasteReport
from inspector.document.document import CaptureDocument
from inspector.document.session_titles import title_of_session
from inspector.document.summary import context_nodes, finding_entries, summary
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.waste import found_waste
from inspector.filters.run_fields import RUN_FACTS, outcomes_by_space
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME
from inspector.store.columns.hashes import NO_ROW

Row = dict[str, Any]


class TabulateRun(Request[dict[str, list[Row]]], frozen=True):
    """Rows of `inspector.survey.schema` by table, without the columns that name the run; runs all checks first.

    Attributes:
        tokens: counts tokens and searches for waste.
    """

    path: str
    tokens: bool = True


class CountRun(Request[dict[str, dict[str, int | float]]], frozen=True):
    """Counts by subject of expectations, and by name for subjects with names; "" otherwise."""


def _tabulate(held: OpenDocument, asked: TabulateRun) -> Steps[dict[str, list[Row]]]:
    yield from held.document.postponed_checks()
    waste = (yield from found_waste(held)) if asked.tokens else None
    return _rows(held.document, asked.path, waste)


def _counts(held: OpenDocument, _asked: CountRun) -> dict[str, dict[str, int | float]]:
    document = held.document
    calls, found = tool_calls(document.analysis), document.analysis.findings.found
    times = document.capture.columns["time_ns"]
    known = times[times != NO_TIME]
    numbers = {
        "messages": len(document.capture), "calls": calls.tools, "failed": calls.failed,
        "unanswered": calls.unanswered, "unreadable": document.unreadable, "failures": 0,
        "seconds": (int(known.max()) - int(known.min())) / 1e9 if len(known) else 0.0,
        **{f"{word}s": sum(found.count_of(check) for check in found.checks() if check.severity.word == word)
           for word in ("error", "warning")},
    }  # fmt: skip
    return {
        "tool": dict(calls.by_tool), "finding": dict(found.counts()),
        **{subject: {"": number} for subject, number in numbers.items()},
    }  # fmt: skip


def _rows(document: CaptureDocument, path: str, waste: WasteReport | None) -> dict[str, list[Row]]:
    analysis = document.analysis
    told = summary(document, path)
    calls, took = calls_of(analysis), latency_ms(analysis, slice(0, len(analysis)))
    findings = list(finding_entries(document))
    tools = list(_tools(analysis, calls, took))
    rows: dict[str, list[Row]] = {
        "runs": [_run_row(document, told, findings, calls, took, waste)],
        "findings": [
            {**one, "text": mask_text(one["text"]), "context": _masked(one["context"])} for one in findings
        ],
        "tools": tools,
        "contexts": list(_contexts(document)),
    }  # fmt: skip
    if told["tokens"] is not None:
        rows["tokens"] = [
            {"by": by, "name": _masked(name) or None, "tokens": tokens}
            for by, each in (("participant", "participants"), ("tool", "tools"), ("kind", "kinds"))
            for name, tokens in told["tokens"][each].items()
        ]
    if waste is not None:
        rows["waste"] = [
            {
                "no": one.message + 1, "kind": one.kind.value, "tokens": one.tokens, "sure": one.sure,
                "participant": _masked(one.participant), "tool": _masked(one.tool), "text": mask_text(one.sentence),
            }
            for one in waste.wastes
        ]  # fmt: skip
    return rows


def _run_row(
    document: CaptureDocument, told: Row, findings: Sequence[Row], calls: Calls, took: Any, waste: WasteReport | None
) -> Row:
    times = document.capture.columns["time_ns"]
    known = times[times != NO_TIME]
    first, last = (int(known.min()), int(known.max())) if len(known) else (NO_TIME, NO_TIME)
    answered = calls.answers[calls.answers != NO_ROW]
    latency = took[answered]
    latency = latency[~np.isnan(latency)]
    counts = {word: sum(one["severity"] == word for one in findings) for word in ("error", "warning")}
    worst = max((one for one in Severity if any(f["severity"] == one.word for f in findings)), default=None)
    spared = waste.wastes if waste is not None else ()
    outcomes = list(outcomes_by_space(document.analysis).values())
    # A document of several runs has no outcome of its own.
    outcome = outcomes[0] if len(outcomes) == 1 else {}
    stated = {fact.name: outcome.get(fact.name) for fact in RUN_FACTS}
    return {
        **{name: mask_text(one) if isinstance(one, str) else one for name, one in stated.items()},
        "format": told["format"], "title": title_of_session(document.capture) or None,
        "messages": told["messages"], "records": told["records"],
        "unreadable": told["unreadable"], "participants": len(told["participants"]), "contexts": told["contexts"],
        "first": first if first >= DATED_FROM_NS else None, "last": last if first >= DATED_FROM_NS else None,
        "duration": (last - first) / 1e9 if len(known) else None,
        "models": [mask_text(name) for name in told["models"] if name], "model_calls": sum(told["models"].values()),
        "tools": [mask_text(tool) for tool in told["tool_counts"] if tool],
        "tool_calls": told["calls"]["tools"], "failed_calls": told["calls"]["failed"],
        "unanswered_calls": told["calls"]["unanswered"], "first_failed": _first_no(calls.rows[calls.failed]),
        "findings": len(findings), "errors": counts["error"], "warnings": counts["warning"],
        "worst": worst.word if worst is not None else None,
        "worst_no": min((one["no"] for one in findings if worst and one["severity"] == worst.word), default=None),
        "tokens": told["tokens"]["total"] if told["tokens"] is not None else None,
        "wasted": waste.tokens if waste is not None else None,
        "wasted_no": spared[0].message + 1 if spared else None,
        **{f"usage_{name}": value for name, value in (told["usage"] or {}).items()},
        "stated_cost": told["stated_cost"],
        # Models without a price have an unknown cost, not one of zero.
        "cost": told["cost"]["total"] if told["cost"] is not None and told["cost"]["calls"] else None,
        "latency_p50": _percentile(latency, 50), "latency_p95": _percentile(latency, 95),
        "slowest_no": int(answered[np.nanargmax(took[answered])]) + 1 if len(latency) else None,
    }  # fmt: skip


def _tools(analysis: Analysis, calls: Calls, took: Any) -> Iterator[Row]:
    strings = analysis.capture.strings
    codes = analysis.correlation.columns["target"][calls.rows]
    tokens = analysis.tokens.columns["tokens"]
    for code, each in tool_places(codes):
        rows, answers = calls.rows[each], calls.answers[each]
        there = answers[answers != NO_ROW]
        answered, latency = int(np.count_nonzero(calls.answered[each])), took[there]
        known = latency[~np.isnan(latency)]
        # Uncounted messages have negative values.
        cost = int(np.maximum(tokens[np.concatenate((rows, there))], 0).sum(dtype=np.int64))
        yield {
            "tool": mask_text(strings[code]) if code else None, "calls": len(rows), "answered": answered,
            "failed": int(np.count_nonzero(calls.failed[each])), "unanswered": len(rows) - answered,
            "first_no": int(rows[0]) + 1, "first_failed": _first_no(rows[calls.failed[each]]),
            "latency_p50": _percentile(known, 50), "latency_p95": _percentile(known, 95),
            "longest": float(known.max()) if len(known) else None,
            "slowest_no": int(there[np.nanargmax(latency)]) + 1 if len(known) else None,
            "tokens": cost if analysis.tokens.done else None,
        }  # fmt: skip


def tool_places(codes: Any) -> list[tuple[int, Any]]:
    """Returns the indices of each code, by descending frequency."""
    found, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(int(found[place]), np.flatnonzero(which == place)) for place in order.tolist()]


def _contexts(document: CaptureDocument) -> Iterator[Row]:
    for node in context_nodes(document):
        if node["path"] is not None:
            yield {
                "context": mask_text(node["path"]), "label": _masked(node["label"]), "type": _masked(node["type"]),
                "state": node["state"], "depth": node["depth"], "messages": node["messages"],
                "subtree_messages": node["subtree_messages"],
                "participants": [mask_text(name) for name in node["participants"]], "first_no": node["first"],
            }  # fmt: skip


def _percentile(values: Any, percent: int) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None


def _first_no(rows: Any) -> int | None:
    return int(rows[0]) + 1 if len(rows) else None


def _masked(text: str | None) -> str | None:
    return None if text is None else mask_text(text)


QUERIES = (
    Query(TabulateRun, dict[str, list[Row]], _tabulate),
    Query(CountRun, dict[str, dict[str, int | float]], _counts),
)
