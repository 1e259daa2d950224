"""Tools of VS Code, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=("The user chose to skip the tool call",),
    person_tools=("askQuestions",),
)
