"""Tools of Claude Code, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=(
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action right now",
        "User rejected tool use",
        "User declined to answer questions",
    ),
    failure_prefixes=("Error: ", "<tool_use_error>"),
    person_tools=("AskUserQuestion", "ExitPlanMode"),
)
