"""Checks coding agents: failing or repeated calls, model failures, full contexts (docs/transcripts.md)."""

from __future__ import annotations

import re
from collections import deque

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.base.slices import SlicedWork
from inspector.protocol import kinds
from inspector.protocol.calls import arguments_of
from inspector.protocol.message_text import text_shown
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

IN_A_ROW = 5
"""Failed calls of a tool in a row; agents often need three or four attempts."""
AGAIN = 4
"""Identical calls without another call in between."""

MODEL_FAILED = Check(
    "model-call-failed", WARNING, "Model call failed",
    "A call of the model API by {who} failed or was refused.",
    "The agent waited or stopped here. It may have lost earlier content, and each retry takes time.",
    "Read the error: limits and overload pass; a refused key or a request that is too long does not.",
    "docs/transcripts.md, Findings", on_transcripts=True,
)  # fmt: skip
FAILING = Check(
    "tool-fails-again", WARNING, "Tool fails repeatedly",
    "{call} has failed {limit} times in a row.",
    "Errors fill the agent's context, and it may not know their cause.",
    "Read the errors. A missing permission, a wrong folder or a missing tool does not go away by itself.",
    "docs/transcripts.md, Findings", on_transcripts=True, limit=IN_A_ROW,
)  # fmt: skip
REPEATING = Check(
    "agent-in-circles", WARNING, "Agent repeats the same call",
    "{who} repeats the call {call} for the {limit}th time in a row, with the same result.",
    "Each round costs a model call and space in the context, without progress.",
    "Stop the agent and give it the missing information.",
    "docs/transcripts.md, Findings", on_transcripts=True, limit=AGAIN,
)  # fmt: skip
FULL = Check(
    "context-full", NOTE, "Model context was full",
    "The model context was full: {detail}.",
    "A summary replaces its content, now or soon. Details are lost, and the agent may start over.",
    "See its largest parts under Model sees. Give large searches to sub-agents, and start new work in a new session.",
    "docs/transcripts.md, Findings", on_transcripts=True,
    example="167,210 tokens, then compacted",
)  # fmt: skip

CHECKS = (MODEL_FAILED, FAILING, REPEATING, FULL)

_SPEAKING = ("chat", "reasoning/thought", kinds.REQUEST)
_BACK = 1_000
"""Window of earlier messages that is searched for runs."""
_WAITING = re.compile(r"output|wait|poll|status|stdin|sleep|monitor|watch", re.IGNORECASE)
_COUNTED = re.compile(r"\d+")
_LONGEST = 4_000


class Transcripts:
    """Checks messages of transcripts. O(new messages) in numpy; texts are rarely compared."""

    def __init__(self) -> None:
        # by space and context: row of the finding about the full context
        self._full_since: dict[tuple[int, int], int] = {}
        self._looked_at = 0
        self._alike: deque[Rows] = deque()  # similar calls, to be compared word by word

    def feed(self, batch: Batch) -> None:
        parts = batch.new("part")
        if parts.strides[0] == 0 and not parts[:1].any():  # no transcript in this batch
            return
        told = batch.changed_rows(kinds.RESPONSE)  # a result may precede its call's messages in the file
        told = told[told >= batch.start - _BACK]
        judged = int(told[0]) if len(told) else batch.start
        rows = np.arange(max(0, judged - _BACK), batch.stop)
        rows = rows[batch.column_values("part", rows) != 0]
        if not len(rows):
            return
        # A resumed session repeats its history, which must not count as further failures.
        if batch.capture.has_copies:
            rows = rows[~batch.capture.repeated_messages(rows)[1]]
        self._errors(batch, rows)
        self._failing(batch, rows, judged)
        self._repeating(batch, rows)
        self._full(batch)

    def _errors(self, batch: Batch, rows: Rows) -> None:
        """Reports the first of several consecutive model errors with no message in between."""
        kind, error = batch.column_values("kind", rows), batch.code("system/error")
        if not (kind == error).any():
            return
        rows = rows[np.isin(kind, [error, *map(batch.code, _SPEAKING)])]
        failed = batch.column_values("kind", rows) == error
        key = _places(batch, rows)
        run = _runs(key, _same_as_before(key, failed) & failed)
        batch.findings.add(MODEL_FAILED, rows[(run == 1) & failed & (rows >= batch.start)])

    def _failing(self, batch: Batch, rows: Rows, judged: int) -> None:
        """Settles the answers from row `judged` on that complete a run of failures of one tool."""
        answers = rows[batch.column_values("kind", rows) == batch.code(kinds.RESPONSE)]
        failed = batch.column_values("flags", answers) & Flag.ERROR.value != 0
        key = _places(batch, answers, batch.links["target"][answers])
        run = _runs(key, _same_as_before(key, failed) & failed)
        new = answers >= judged
        batch.findings.replace_findings(FAILING, answers[new], ((run == IN_A_ROW) & failed)[new])

    def _repeating(self, batch: Batch, rows: Rows) -> None:
        """Queues similar tool calls. Model calls are skipped, as their input lies in other messages."""
        asked = rows[batch.column_values("kind", rows) == batch.code(kinds.REQUEST)]
        asked = asked[batch.links["method"][asked] == batch.code("tools/call")]
        if not len(asked):
            return
        key = _places(batch, asked, batch.column_values("sender", asked))
        what = _numbered(batch.links["target"][asked], batch.column_values("size", asked))
        run = _runs(key, _same_as_before(key, what))
        places = np.flatnonzero((run == AGAIN) & (asked >= batch.start))
        for place in places.tolist():
            self._alike.append(asked[: place + 1][key[: place + 1] == key[place]][-AGAIN:])

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Compares queued calls."""
        while self._alike:
            same = self._alike.popleft()
            if _goes_in_circles(batch, same):
                batch.findings.add(REPEATING, [int(same[-1])])
            yield

    def _full(self, batch: Batch) -> None:
        spaces, contexts = (batch.capture.columns[name] for name in ("space", "context"))
        told = {row: (tokens, window) for row, tokens, window in batch.capture.extracted.full_contexts(self._looked_at)}
        self._looked_at = batch.stop
        rows: list[int] = []
        for row in sorted({*told, *batch.rows("participant/compact-done").tolist()}):
            place = int(spaces[row]), int(contexts[row])
            if row not in told:
                self._full_since.pop(place, None)
            elif place not in self._full_since and batch.capture.repeated_messages(np.array([row]))[0][0] == NO_ROW:
                self._full_since[place] = row
                rows.append(row)
        batch.findings.add(FULL, rows, details=[_full_words(*told[row]) for row in rows])


def _full_words(tokens: int, window: int) -> str:
    if window:
        return f"{tokens:,} of {window:,} tokens"
    return f"{tokens:,} tokens, then compacted" if tokens else "it was compacted"


def _numbered(*columns: Array) -> Array:
    """(n,) a number per combination of values."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        _, found = np.unique(found * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return found


def _places(batch: Batch, rows: Rows, *more: Array) -> Array:
    """(n,) a number per context, and per value of further columns."""
    return _numbered(batch.column_values("space", rows), batch.column_values("context", rows), *more)


def _same_as_before(key: Array, what: Array) -> Array:
    """(n,) bool: True if the previous row with the same key has the same value."""
    order = np.argsort(key, kind="stable")
    same = np.zeros(len(key), np.bool_)
    same[order[1:]] = (key[order][1:] == key[order][:-1]) & (what[order][1:] == what[order][:-1])
    return same


def _runs(key: Array, goes_on: Array) -> Array:
    """(n,) length of the run that ends at each row, by key. A row that does not continue starts a run of 1.

    The first row of a key counts as 1 even if `goes_on` is True for it.
    """
    order = np.argsort(key, kind="stable")
    begins = ~goes_on[order]
    begins[:1] = True
    begins[1:] |= key[order][1:] != key[order][:-1]
    places = np.arange(len(key))
    run = np.empty(len(key), np.int64)
    run[order] = places - np.maximum.accumulate(np.where(begins, places, 0)) + 1
    return run


def _goes_in_circles(batch: Batch, calls: Rows) -> bool:
    """Returns True if the calls have equal arguments and all answers before the last call have equal texts."""
    capture = batch.capture
    if (batch.column_values("flags", calls) & Flag.UNRECORDED.value).any():
        return False
    if any(capture.records.is_big(row) for row in calls.tolist()):
        return False
    asked = [arguments_of(capture.records.payload(row)) for row in calls.tolist()]
    tool = batch.capture.strings[int(batch.links["target"][calls[-1]])]
    # Polling repeats a call on purpose.
    if any(one != asked[0] for one in asked) or _WAITING.search(tool) or _WAITING.search(str(asked[0])[:_LONGEST]):
        return False
    answers = batch.links["answer"][calls[:-1]]
    if ((answers == NO_ROW) | (answers > calls[-1])).any():
        return False
    if (batch.column_values("flags", answers) & Flag.UNRECORDED.value).any():
        return False
    if any(capture.records.is_big(row) for row in answers.tolist()):
        return False
    words = [(text_shown(kinds.RESPONSE, capture.records.payload(row)) or "")[:_LONGEST] for row in answers.tolist()]
    return len({_COUNTED.sub("", text) for text in words}) == 1
