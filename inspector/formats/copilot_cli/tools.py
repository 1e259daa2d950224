"""Tools of Copilot CLI, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=("The user rejected this tool call",),
    person_tools=("ask_user", "exit_plan_mode"),
)
