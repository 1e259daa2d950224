"""Checks correlation ids without a target (docs/protocols.md 5)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.before_capture import BEGAN_BEFORE_CAPTURE
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.passes.calls.correlation_names import NamedThing
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

DANGLING = Check(
    "correlation-dangling", NOTE, "Correlation without a target",
    "{who} names {named}, but no known message, context or stream has this id.",
    "Its cause is unknown. It may lie before this capture; the finding is withdrawn if it appears.",
    "Copy the envelope's id exactly.",
    "MEW v0.4, correlation_id; k9j: or a context id",
)  # fmt: skip
UNKNOWN_PROPOSAL = Check(
    "decision-without-proposal", WARNING, "Decision about an unknown proposal",
    "{who} sent {kind} about {named}, but no known proposal has this id.",
    "The intended proposal stays open.",
    "Name the proposal's id in correlation_id.",
    "MEW v0.4, mcp/withdraw and mcp/reject: correlation_id names the proposal",
)  # fmt: skip
CHECKS = (UNKNOWN_PROPOSAL, DANGLING)

_DECISIONS = (kinds.WITHDRAW, kinds.REJECT)
_EXCLUDED_KINDS = (kinds.RESPONSE, *_DECISIONS, "system/error")
"""Kinds with separate checks. A message refused by a gateway reaches no participant and no log (docs/protocols.md 11).
"""


class Correlations:
    """Checks messages with an unresolved correlation."""

    def feed(self, batch: Batch) -> None:
        links, correlated = batch.links, Flag.CORRELATED.value
        rows = batch.flagged_rows(correlated)
        rows = rows[links["cause"][rows] == NO_ROW]
        # Of earlier messages only reported ones: their target may have come since.
        if batch.findings.count_of(DANGLING) and len(batch.changed):
            rows = np.concatenate((batch.changed[batch.findings.has(DANGLING, batch.changed)], rows))
        rows = rows[~are_any_of(batch.column_values("kind", rows), [batch.code(kind) for kind in _EXCLUDED_KINDS])]
        rows = rows[~_are_store_notices(batch, rows)]
        if len(rows):
            nothing = batch.passes.named.named(rows) == NamedThing.UNKNOWN_NAME.value
            batch.findings.replace_findings(DANGLING, rows, nothing)
        for kind in _DECISIONS:
            rows = batch.new_and_changed_rows(kind)
            rows = rows[batch.column_values("flags", rows) & correlated != 0]
            if len(rows):
                cause = links["cause"][rows].astype(np.int64)
                lost = (cause == NO_ROW) | (batch.column_values("kind", cause) != batch.code(kinds.PROPOSAL))
                early = lost.copy()
                early[lost] = batch.beginnings.are_early(rows[lost])
                batch.findings.replace_findings(UNKNOWN_PROPOSAL, rows, lost & ~early)
                batch.findings.replace_findings(BEGAN_BEFORE_CAPTURE, rows, early, details="decision")


def _are_store_notices(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for gateway messages about stored items, which it delivered to no participant."""
    kinds_of_store = [code for code in map(batch.code, kinds.SENT_FOR_CONSUMED) if code >= 0]
    gateways = [code for code in map(batch.code, GATEWAY_IDS) if code >= 0]
    return are_any_of(batch.column_values("kind", rows), kinds_of_store) & are_any_of(
        batch.column_values("sender", rows), gateways
    )
