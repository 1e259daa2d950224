"""Kinds of bookkeeping records, written by programs for themselves; tables fold their rows.

Failures, interruptions, compactions and unknown kinds are not bookkeeping.
"""

from __future__ import annotations

BOOKKEEPING_KINDS = frozenset(
    {
        f"{program}/{record}"
        for program, records in {
            "claude": (
                "agent-name", "agent-setting", "ai-title", "atis-latch", "attachment", "bash_progress",
                "bridge-session", "custom-title", "file-history-delta", "file-history-snapshot", "frame-link",
                "hook_progress", "hook_success", "last-prompt", "mcp_progress", "mode", "permission-mode", "pr-link",
                "queue-operation", "relocated", "session_start", "started", "stop_hook_summary", "summary",
                "turn_duration", "worktree-state",
            ),
            "codex": (
                "ghost_snapshot", "inter_agent_communication_metadata", "session_meta", "task_complete",
                "task_started", "thread.started", "thread_name_updated", "thread_settings_applied", "token_count",
                "turn.completed", "turn.started", "turn_context", "world_state",
            ),
            "copilot": (
                "assistant.turn_end", "assistant.turn_start", "hook.end", "hook.start", "session.auto_mode_resolved",
                "session.info", "session.resume", "session.shutdown", "session.start", "session.usage_checkpoint",
                "tool.execution_start",
            ),
            "gemini": ("session", "set"),
            "opencode": ("session", "step-finish", "step-start"),
            "vscode": ("session",),
            "http": ("end", "event", "response"),
            "recorder": ("end", "start"),
        }.items()
        for record in records
    }
)  # fmt: skip
