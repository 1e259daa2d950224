"""Kinds of Codex's bookkeeping records."""

from __future__ import annotations

from inspector.formats.codex.derivation import NAMESPACE

BOOKKEEPING = frozenset(
    NAMESPACE + record
    for record in (
        "ghost_snapshot", "inter_agent_communication_metadata", "session_meta", "task_complete", "task_started",
        "token_usage_record", "SubAgentActivity", "thread.started", "thread_name_updated", "thread_settings_applied",
        "token_count", "turn.completed", "turn.started", "turn_context", "world_state", "answer", "delta",
        "initialize", "initialized", "turn/start", "item/started", "turn/started", "turn/completed", "thread/start",
        "thread/started", "thread/status/changed", "thread/tokenUsage/updated", "account/rateLimits/updated",
        "mcpServer/startupStatus/updated", "serverRequest/resolved",
    )
)  # fmt: skip
