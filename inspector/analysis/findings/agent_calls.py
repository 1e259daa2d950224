"""Finds calls of coding agents without a result: the agent went on without one.

RULE: elapsed time is not used. An agent may work on a call or wait for a person for hours, and its file may end then. A
call is unanswered once the same agent produces output in a later model call, by its own file. Other files of the time
are ignored, so that a folder and its single files give the same verdict.
"""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.formats import registry
from inspector.formats.model_vocabulary import AGENT as MODEL
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH

# An interrupted agent never goes on, so its calls stay open, and each batch looks at every open call.
_MAX_OPEN_CALLS = 256
"""Open calls tracked; the oldest are dropped."""


class AgentCalls:
    """Tracks open calls of agents."""

    def __init__(self) -> None:
        self._open: dict[int, bool] = {}  # by call: True if its agent has received a message since

    def split_agent_calls(self, batch: Batch, rows: Rows) -> tuple[Rows, Rows]:
        """Splits requests into calls of agents and all others; drops calls in recordings of a model's API.

        A client may use such a call as its output and send no result.
        """
        codes = [code for label in registry.groups().agents if (code := batch.code(label)) >= 0]
        model = batch.code(MODEL)
        if not len(rows) or not (codes or model >= 0):
            return NO_ROWS, rows
        flags = batch.column_values("flags", rows)
        is_derived = flags & Flag.DERIVED.value != 0
        own = np.isin(batch.column_values("protocol", rows), codes) & is_derived
        by_model = (batch.column_values("sender", rows) == model) & is_derived & (flags & Flag.RPC.value == 0)
        return rows[own], rows[~own & ~by_model]

    def feed(self, batch: Batch, new: Rows) -> Rows:
        """Returns calls of agents that went on without a result, ascending.

        Args:
            batch: the new messages.
            new: the new unanswered calls of agents among them.
        """
        if batch.capture.has_copies and len(new):
            # A resumed session's file repeats calls of the earlier file.
            new = new[~batch.capture.repeated_messages(new)[1]]
        self._open |= dict.fromkeys(new.tolist(), False)
        if not self._open:
            return NO_ROWS
        waits = np.fromiter(self._open, np.int64, len(self._open))
        settled = batch.links["answer"][waits] >= 0
        for row in waits[settled].tolist():
            del self._open[row]
        found = [row for row in self._open if self._agent_continued(batch, row)]
        for row in found:
            del self._open[row]
        while len(self._open) > _MAX_OPEN_CALLS:
            del self._open[next(iter(self._open))]
        return np.array(sorted(found), np.int64) if found else NO_ROWS

    def _agent_continued(self, batch: Batch, call: int) -> bool:
        """Returns True if the agent of a call produced output in a later model call."""
        start = max(batch.start, call + 1)
        columns, span = batch.capture.columns, slice(start, batch.stop)
        own = np.ones(batch.stop - start, np.bool_)
        for name in ("source", "space", "context"):
            own &= columns[name][span] == columns[name][call]
        rows = np.flatnonzero(own) + start
        if batch.capture.has_copies and len(rows):
            rows = rows[~batch.capture.repeated_messages(rows)[1]]
        if not len(rows):
            return False
        kind, sender = batch.column_values("kind", rows), batch.column_values("sender", rows)
        outputs = np.isin(kind, [batch.code(one) for one in ("chat", "reasoning/thought", kinds.REQUEST)])
        outputs &= sender == columns["sender"][call]
        programs = [batch.code(name) for name in registry.groups().programs]
        inputs = kind == batch.code(kinds.RESPONSE)
        inputs |= (kind == batch.code("chat")) & (sender != columns["sender"][call]) & ~np.isin(sender, programs)
        return self._has_later_output(batch, call, rows, outputs, inputs)

    def _has_later_output(self, batch: Batch, call: int, rows: Rows, outputs: Array, inputs: Array) -> bool:
        usage = batch.passes.usage
        api, own = usage.calls_at(rows), int(usage.calls_at(np.array([call]))[0])
        # Another call id of the API means another model call, so the agent went on.
        if own != NO_HASH and (outputs & (api != NO_HASH) & (api != np.uint64(own))).any():
            return True
        unnamed = outputs & ((api == NO_HASH) | (own == NO_HASH))
        since_told = np.logical_or.accumulate(inputs) | self._open[call]
        self._open[call] |= bool(inputs.any())
        return bool((unnamed & since_told).any())
