"""Kinds of Copilot CLI's bookkeeping records."""

from __future__ import annotations

from inspector.formats.copilot_cli.reader import NAMESPACE

BOOKKEEPING = frozenset(
    NAMESPACE + record
    for record in (
        "assistant.turn_end", "assistant.turn_start", "hook.end", "hook.start", "session.auto_mode_resolved",
        "session.info", "session.resume", "session.shutdown", "session.start", "session.usage_checkpoint",
        "tool.execution_start",
    )
)  # fmt: skip
