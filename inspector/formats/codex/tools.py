"""Tools of Codex, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=(
        "exec command rejected by user",
        "patch rejected by user",
        "rejected by user",
        "user rejected MCP tool call",
        "user cancelled MCP tool call",
    ),
    failure_prefixes=("exec_command failed: ", "apply_patch failed: "),
    person_tools=("request_user_input",),
    program_texts=(
        "<environment_context>",
        "<user_instructions>",
        "<turn_aborted>",
        "<subagent_notification>",
        "<permissions",
        "<skill",
        "<app-context>",
        "<collaboration_mode>",
        "<INSTRUCTIONS>",
        "# AGENTS.md instructions",
    ),
)
