"""TABLES: all SQL tables, in the order of help and completion."""

from __future__ import annotations

from inspector.tables.calls import DELIVERIES, PROPOSALS, TOKENS, TOOL_CALLS
from inspector.tables.columns import Table
from inspector.tables.contexts import CONTEXTS, PARTICIPANTS
from inspector.tables.findings import FINDINGS
from inspector.tables.messages import MESSAGES

TABLES: tuple[Table, ...] = (
    MESSAGES, CONTEXTS, PARTICIPANTS, TOOL_CALLS, PROPOSALS, FINDINGS, TOKENS, DELIVERIES,
)  # fmt: skip
TABLE_BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}

PAYLOAD = "payload"
"""SQL function that returns the payload of a message as JSON, by its No."""
