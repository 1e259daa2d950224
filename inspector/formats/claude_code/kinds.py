"""Kinds of Claude Code's bookkeeping records."""

from __future__ import annotations

from inspector.formats.claude_code.derivation import NAMESPACE

BOOKKEEPING = frozenset(
    NAMESPACE + record
    for record in (
        "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-request-shape",
        "atis-latch", "attachment", "bash_progress", "bridge-session", "cost-state", "custom-title",
        "file-history-delta", "file-history-snapshot", "frame-link", "hook_progress", "hook_success", "last-prompt",
        "mcp_progress", "mode", "permission-mode", "pr-link", "queue-operation", "relocated", "session_start",
        "started", "stop_hook_summary", "summary", "tools-used", "turn_duration", "worktree-state",
    )
)  # fmt: skip
