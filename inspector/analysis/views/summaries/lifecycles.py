"""Collects the lifecycle of a result (pairing, attempts, collapse, saving), and results that wait.

`transient_results` decides; this module only queries it. Nothing is cached, and long lists are counted and cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.results.signal_table import CONSUMED, HINTS, NO_PLACE, SUMMARY
from inspector.analysis.passes.results.transient_results import NOTE_SENTENCES, Badge, SignalNote
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.protocol.tool_aliases import ToolAlias, alias_for
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counter import TOKENIZER

MAX_ATTEMPTS = 20
"""Failed attempts of consumers listed; the first ones."""
MAX_NAMED = 20
"""Pairs, consumers or results listed; more are only counted."""
# An alias is searched name by name, and hints may name tools without end.
_MAX_SEARCHED = 1_000
_CALL = "tools/call"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The hint that allows a result to collapse: its message, workflow step and two tools."""

    message: int
    step: int | None
    tool: str
    consumer: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A consumer's result that did not collapse a waiting result."""

    message: int
    tool: str
    why: str


@dataclass(frozen=True, slots=True)
class PairStory:
    """Effects so far of a pair that a message registers.

    Attributes:
        tool, consumer: names as in the hint.
        step: step of the workflow, or None.
        first: message that registered the pair first; this one or an earlier one.
        collapsed: (result, consumer's message) after this message; the first ones.
        total: number of these.
        waiting: number of waiting results of the tool.
    """

    tool: str
    consumer: str
    step: int | None
    first: int
    collapsed: tuple[tuple[int, int], ...]
    total: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Saving:
    """Estimated tokens of a transient result and its summary; None if uncounted."""

    before: int | None
    summary: int | None
    tokenizer: str = TOKENIZER

    @property
    def saved(self) -> int | None:
        """Tokens saved by collapsing; None if unknown. Negative if the summary is longer."""
        return None if self.before is None or self.summary is None else self.before - self.summary


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The lifecycle of one result.

    Attributes:
        pairing: the hint that pairs it with its consumer.
        summary_given: True for a server's summary; otherwise it is generated.
        attempts, attempts_total: consumers' results that did not collapse it; the first ones, and the total.
        consumers, consumers_total: possible consumers of a waiting result.
        pairs, pairs_total: pairs that a hint message registers.
        saving: for a transient result.
    """

    pairing: Pairing | None = None
    summary_given: bool = False
    attempts: tuple[Attempt, ...] = ()
    attempts_total: int = 0
    consumers: tuple[str, ...] = ()
    consumers_total: int = 0
    pairs: tuple[PairStory, ...] = ()
    pairs_total: int = 0
    saving: Saving | None = None


def lifecycle_of(analysis: Analysis, message: int) -> Lifecycle:
    """Returns the lifecycle of a message; an empty one without signals. O(messages), in numpy."""
    said = analysis.transients.signal_bits(message)
    if not said:
        return Lifecycle()
    pairs, pairs_total = _pairs(analysis, message) if said & HINTS else ((), 0)
    badges = int(analysis.transients.columns["badges"][message])
    if not badges & Badge.TRANSIENT.value:
        return Lifecycle(pairs=pairs, pairs_total=pairs_total)
    consumers = consumers_of(analysis, message)
    attempts, total = _attempts(analysis, message, set(consumers))
    waits = not badges & Badge.COLLAPSED.value
    return Lifecycle(
        _pairing(analysis, message), bool(said & SUMMARY), attempts, total,
        tuple(consumers[:MAX_NAMED]) if waits else (), len(consumers) if waits else 0,
        pairs, pairs_total, saving_of(analysis, message),
    )  # fmt: skip


def saving_of(analysis: Analysis, message: int) -> Saving | None:
    """Returns the saving of a transient result, actual or possible. Does not count long texts.

    Returns None for other messages, and for a waiting result without a possible consumer.
    """
    badges = int(analysis.transients.columns["badges"][message])
    if not badges & Badge.TRANSIENT.value:
        return None
    if not badges & Badge.COLLAPSED.value and not consumers_of(analysis, message):
        return None
    before = int(analysis.tokens.columns["tokens"][message])
    if before == NOT_COUNTED:  # its summary is not counted either, and counting here may take a while
        return Saving(None, None)
    return Saving(before, analysis.tokens.summary_tokens(message))


@dataclass(frozen=True, slots=True)
class PendingResult:
    """A transient result that is not consumed yet.

    Attributes:
        message: its index.
        tool: name as called; None if unknown.
        consumers: possible consumers, the first ones; empty without any.
        since_ns: its time; NO_TIME if unknown.
        waited_ns: waiting time until the latest known time; None without times.
    """

    message: int
    tool: str | None
    consumers: tuple[str, ...]
    since_ns: int
    waited_ns: int | None


def pending_results(analysis: Analysis, most: int) -> tuple[list[PendingResult], int]:
    """Returns the first unconsumed results and their total number, without ended runs. O(messages)."""
    badges, times = analysis.transients.columns["badges"], analysis.capture.columns["time_ns"][: len(analysis)]
    rows = np.flatnonzero(badges & (Badge.TRANSIENT | Badge.COLLAPSED).value == Badge.TRANSIENT.value)
    if len(rows):
        rows = rows[analysis.transients.runs.ended_by(np.arange(len(analysis)))[rows] == NO_ROW]
    last = int(times.max(initial=0)) if analysis.now_ns is None else analysis.now_ns
    found: list[PendingResult] = []
    for row in rows[:most].tolist():
        since, consumers = int(times[row]), tuple(consumers_of(analysis, row)[:MAX_NAMED])
        waited = None if since == NO_TIME else max(0, last - since)
        found.append(PendingResult(row, analysis.transients.tool_name(row), consumers, since, waited))
    return found, len(rows)


def lifecycle_json(analysis: Analysis, message: int) -> dict[str, Any]:
    """Returns the lifecycle as JSON; messages are numbered from 1. Counts the tokens of a transient result."""
    if analysis.transients.columns["badges"][message] & Badge.TRANSIENT.value:
        analysis.tokens.count_now([message])
    story, life = analysis.transients.lifecycle(message), lifecycle_of(analysis, message)
    pairing, saving = life.pairing, life.saving
    return {
        "badges": list(story.badges),
        "summary": story.summary,
        "summary_given": life.summary_given,
        "tool": story.tool,
        "hinted_by": _message_number(story.hinted_by),
        "hint": None if pairing is None else {
            "no": pairing.message + 1, "step": pairing.step, "tool": pairing.tool, "consumer": pairing.consumer,
        },
        "collapsed_by": _message_number(story.collapsed_by),
        "consumes": _message_number(story.consumes),
        "rule": "newest" if analysis.transients.newest_first else "oldest",
        "note": story.note,
        "attempts": [{"no": one.message + 1, "tool": one.tool, "why": one.why} for one in life.attempts],
        "attempts_total": life.attempts_total,
        "consumers": list(life.consumers),
        "consumers_total": life.consumers_total,
        "pairs": [
            {
                "tool": pair.tool, "consumer": pair.consumer, "step": pair.step, "registered_by": pair.first + 1,
                "collapsed": [{"no": result + 1, "by": by + 1} for result, by in pair.collapsed],
                "collapsed_total": pair.total, "waiting": pair.waiting,
            }
            for pair in life.pairs
        ],
        "pairs_total": life.pairs_total,
        "tokens": None if saving is None else {
            "before": saving.before, "summary": saving.summary, "saved": saving.saved, "estimate": saving.tokenizer,
        },
    }  # fmt: skip


def _message_number(row: int | None) -> int | None:
    return None if row is None else row + 1


# Consumers and attempts


def _tool_of(analysis: Analysis, message: int) -> str | None:
    """Returns the alias name of a result's tool."""
    links, strings = analysis.correlation.columns, analysis.capture.strings
    method, target = int(links["method"][message]), int(links["target"][message])
    return analysis.transients.aliases.resolve(strings[target]) if target and strings[method] == _CALL else None


def consumers_of(analysis: Analysis, message: int) -> list[str]:
    """Returns the possible consumers of a result by alias name, in the order of the hints."""
    conversation = analysis.transients.conversation_of(message)
    # A result of an unknown tool has only the consumers that it names itself (`TransientPass`).
    tool = _tool_of(analysis, message) or f"\0{message}"
    if conversation is None or tool not in conversation.hinted_tools:
        return []
    return [name for name, consumer in conversation.consumers.items() if tool in consumer.tools]


def matching_alias(analysis: Analysis, message: int) -> ToolAlias | None:
    """Returns the tool alias that would match a hint to a result's tool."""
    conversation = analysis.transients.conversation_of(message)
    tool = _tool_of(analysis, message)
    if conversation is None or tool is None or tool in conversation.hinted_tools:
        return None
    return alias_for(tool, islice(conversation.hinted_tools, _MAX_SEARCHED))


def _pairing(analysis: Analysis, message: int) -> Pairing | None:
    transients = analysis.transients
    hint, tool = transients.hinted_by(message), _tool_of(analysis, message)
    if hint is None or tool is None:
        return None
    by = transients.collapsed_by(message)
    consumer = _tool_of(analysis, by) if by is not None else None
    meant, signal = transients.aliases.resolve, transients.signal(hint)
    for pair in signal.hints if signal is not None else ():
        if meant(pair.tool) == tool and consumer in (None, meant(pair.consumer)):
            return Pairing(hint, pair.step, pair.tool, pair.consumer)
    if hint == message and signal is not None:  # named by the result itself, without a workflow
        own = next((name for name in signal.consumers if consumer in (None, meant(name))), None)
        return Pairing(hint, None, tool, own) if own is not None else None
    return None


def _attempts(analysis: Analysis, message: int, consumers: set[str]) -> tuple[tuple[Attempt, ...], int]:
    """Returns consumers' results during the wait of a result, and their reasons not to collapse it."""
    transients = analysis.transients
    by = transients.collapsed_by(message)
    stop = len(analysis) if by is None else by
    if not consumers or stop <= message + 1:
        return (), 0
    number = transients.signals.conversation_of(message)
    rows = _calls_of(analysis, message + 1, stop, consumers)
    here = [row for row in rows.tolist() if transients.signals.conversation_of(row) == number]
    strings, targets = analysis.capture.strings, analysis.correlation.columns["target"]
    told = (Attempt(row, strings[int(targets[row])], _no_collapse_reason(analysis, row)) for row in here[:MAX_ATTEMPTS])
    return tuple(told), len(here)


def _calls_of(analysis: Analysis, start: int, stop: int, tools: set[str]) -> Rows:
    """Returns the results of some tools among messages `start` to `stop`."""
    strings, meant = analysis.capture.strings, analysis.transients.aliases.resolve
    links, kind = analysis.correlation.columns, strings.find(kinds.RESPONSE)
    called = analysis.capture.columns["kind"][start:stop] == (kind or -1)
    called &= links["method"][start:stop] == (strings.find(_CALL) or -1)
    rows = np.flatnonzero(called) + start
    targets = links["target"][rows]
    wanted = [target for target in np.unique(targets).tolist() if target and meant(strings[target]) in tools]
    return rows[np.isin(targets, wanted)] if wanted else NO_ROWS


def _no_collapse_reason(analysis: Analysis, row: int) -> str:
    transients = analysis.transients
    consumed = transients.consumes(row)
    if consumed is not None:
        why = "came later" if transients.newest_first else "had waited longer"
        return f"It consumed No. {consumed + 1}, which {why}."
    if int(analysis.capture.columns["flags"][row]) & Flag.ERROR.value:
        return NOTE_SENTENCES[SignalNote.FAILED]
    place = transients.signals.find(row)
    if place == NO_PLACE or not transients.signal_bits(row) & CONSUMED:
        return "It did not say that it consumed anything."
    if transients.signals.note[place] in (SignalNote.NOT_PAIRED, SignalNote.NOTHING_WAITS, SignalNote.UNPAIRED):
        return "No hint had paired the two tools by then."
    return transients.note(row) or "It collapsed nothing."


# Effects of hints


def _pairs(analysis: Analysis, message: int) -> tuple[tuple[PairStory, ...], int]:
    transients = analysis.transients
    conversation, signal = transients.conversation_of(message), transients.signal(message)
    if conversation is None or signal is None:
        return (), 0
    results, consumers = _collapses_after(analysis, message)
    waiting = _waiting_results(analysis, message)
    told: list[PairStory] = []
    steps = {(hint.tool, hint.consumer): hint.step for hint in reversed(signal.hints)}
    for tool, consumer in islice(signal.pairs, MAX_NAMED):
        mine = _are_of_tool(analysis, results, tool) & _are_of_tool(analysis, consumers, consumer)
        found = np.flatnonzero(mine)
        both = ((int(results[place]), int(consumers[place])) for place in found[:MAX_NAMED].tolist())
        meant = transients.aliases.resolve
        registered = conversation.consumers.get(meant(consumer))
        first = registered.tools.get(meant(tool), message) if registered is not None else message
        waits = int(np.count_nonzero(_are_of_tool(analysis, waiting, tool)))
        told.append(PairStory(tool, consumer, steps[tool, consumer], first, tuple(both), len(found), waits))
    return tuple(told), len(signal.pairs)


def _of_conversation(analysis: Analysis, message: int) -> Iterator[Rows]:
    table = analysis.transients.signals
    number = table.conversation_of(message)
    if number is not None:
        yield np.array(table.row, np.int64)[table.of_conversations([number])]


def _collapses_after(analysis: Analysis, message: int) -> tuple[Rows, Rows]:
    """Returns results collapsed after a message of their conversation, and the consumer of each."""
    table = analysis.transients.signals
    for rows in _of_conversation(analysis, message):
        consumers = rows[rows > message]
        results = table.links("consumes", consumers)
        return results[results != NO_ROW], consumers[results != NO_ROW]
    return NO_ROWS, NO_ROWS


def _waiting_results(analysis: Analysis, message: int) -> Rows:
    """Returns the waiting results of a conversation."""
    for rows in _of_conversation(analysis, message):
        badges = analysis.transients.columns["badges"][rows]
        return rows[(badges & Badge.TRANSIENT.value != 0) & (badges & Badge.COLLAPSED.value == 0)]
    return NO_ROWS


def _are_of_tool(analysis: Analysis, rows: Rows, tool: str) -> Any:
    """(n,) bool: True for results of a tool, by alias names."""
    strings, meant = analysis.capture.strings, analysis.transients.aliases.resolve
    targets = analysis.correlation.columns["target"][rows]
    wanted = [target for target in np.unique(targets).tolist() if target and meant(strings[target]) == meant(tool)]
    return np.isin(targets, wanted)
