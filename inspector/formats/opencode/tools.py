"""Tools of OpenCode, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=("The user rejected permission", "The user dismissed this question"),
    person_tools=("question", "plan_exit"),
)
