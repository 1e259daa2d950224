"""Token rows of the details: estimates, costs, savings by collapsing, and words for reported usage."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.model_context import Reader, readers
from inspector.analysis.views.model_context.outcome import Outcome, outcome
from inspector.present import formats
from inspector.present.facts import Fact, fact
from inspector.store.messages.capture import Capture
from inspector.tokens.counter import TOKENIZER

ESTIMATE = f"estimate ({TOKENIZER})"
_ROUGH = "Counted from its beginning only, because the message is above 1 MB."


def message_tokens(analysis: Analysis, message: int) -> list[Fact]:
    """Shows the tokens of one message."""
    counted = int(analysis.tokens.columns["tokens"][message])
    if counted == NOT_COUNTED:
        return []
    rows: list[Fact] = []
    if counted:
        words, note = f"{formats.count_of(counted, 'token')}, {ESTIMATE}", _estimate_note(analysis.capture, message)
        rows.append(fact("Tokens", words, lines=2, tooltip=note, filter=f"tokens >= {counted}"))
    return rows + _cost_facts(analysis, message)


def _cost_facts(analysis: Analysis, message: int) -> list[Fact]:
    """Shows the cost of a reported model call, and of later calls that carry the message along."""
    rows: list[Fact] = []
    cost = analysis.costs.costs_of(np.array([message]))
    if cost is not None and cost.calls:
        cached = f", {formats.dollars(cost.parts[2] + cost.parts[3])} of it for caches" if any(cost.parts[2:]) else ""
        rows.append(fact("Cost", f"{formats.dollars(cost.total)} as reported{cached}", lines=2, filter="cost"))
    carried = analysis.costs.carried(message)
    if carried is not None:
        calls = formats.count_of(carried.calls, "later call")
        rows.append(fact("Carried along", f"{formats.dollars(carried.dollars)} in {calls}, estimate", lines=2))
    return rows


def _estimate_note(capture: Capture, message: int) -> str | None:
    return _ROUGH if capture.records.is_big(message) else None


def context_tokens(analysis: Analysis, space: int, node: int) -> list[Fact]:
    """Shows the tokens of a context, its own and with descendants."""
    tokens = analysis.tokens
    if not tokens.counted:
        return []
    sums = tokens.node_sums()
    if node == MAIN:
        own = below = sums.main.get(space, 0)
    else:
        # New contexts may lack a count; the last entry is the main context.
        own, below = (int(held[node]) if node < len(held) - 1 else 0 for held in (sums.own, sums.subtree))
    words = f"{own:,} here" + (f", {below:,} including nested contexts" if below != own else "")
    return [fact("Tokens", f"{words}, {ESTIMATE}{counting_note(analysis)}", lines=3)]


def sender_tokens(analysis: Analysis, space: int, name: str) -> list[Fact]:
    """Shows the tokens of a participant's messages."""
    tokens = analysis.tokens
    if not tokens.counted:
        return []
    sent = tokens.sent_by(space, name)
    return [
        fact("Tokens sent", f"{sent:,}, {ESTIMATE}{counting_note(analysis)}", lines=3),
        *_sender_cost(analysis, space, name),
    ]


def _sender_cost(analysis: Analysis, space: int, name: str) -> list[Fact]:
    """Shows the cost of the calls reported in a participant's messages."""
    rows, columns = analysis.usage.reports(), analysis.capture.columns
    code = analysis.capture.strings.find(name)
    cost = analysis.costs.costs_of(rows[(columns["sender"][rows] == code) & (columns["space"][rows] == space)])
    if cost is None or not cost.calls:
        return []
    return [fact("Cost", f"{formats.dollars(cost.total)} for {formats.count_of(cost.calls, 'call')} as reported")]


def outcome_of(analysis: Analysis, space: int, name: str) -> Outcome | None:
    """Returns the content of a participant's context; None without a known model, or before any count."""
    reader = Reader(space, name)
    if not analysis.tokens.counted or reader not in readers(analysis):
        return None
    return outcome(analysis, reader)


def outcome_rows(analysis: Analysis, found: Outcome) -> list[Fact]:
    """Shows the tokens in a context, with and without collapsing."""
    now = f"{formats.count_of(found.tokens, 'token')}, {ESTIMATE}{counting_note(analysis)}"
    rows = [fact("At the end", now, lines=3)]
    # Without collapsing and compaction, the end is the peak.
    if found.peak != found.tokens:
        rows.append(fact("At most", f"{found.peak:,}"))
    if found.collapsed:
        rows.append(fact("Without collapsing", f"{found.uncollapsed:,}"))
        results = formats.count_of(found.collapsed, "collapsed result")
        rows.append(fact("Saved", f"{found.saved:,} by {results}", filter="badge == collapsed"))
    return rows


def counting_note(analysis: Analysis) -> str:
    """Returns a note that counting continues, or ""."""
    return "" if analysis.tokens.done else ", still counting"


def reported_words(usage: Usage) -> str:
    """Formats the reported sum over all model calls, beside our estimates."""
    return f"Reported by models: {usage_sum_words(usage)}"


def incomplete_words(count: int) -> str:
    """Counts calls with incomplete output tokens as the end of a sentence, else ""."""
    if not count:
        return ""
    return f"; output tokens incomplete: {formats.count_of(count, 'call')} recorded when the answer began"


def unlogged_words(count: int) -> str:
    """Counts sub-agents without messages in the log, as the end of a sum over model calls, else ""."""
    return f" without {formats.count_of(count, 'sub-agent')}" if count else ""


def usage_sum_words(usage: Usage) -> str:
    """Formats reported usage: output, input and caches."""
    words = [f"{usage.output:,} tokens out, {usage.input:,} in"]
    if usage.cache_read + usage.cache_write:
        words.append(f"{usage.cache_read:,} read from the cache, {usage.cache_write:,} written to it")
    return "; ".join(words)
