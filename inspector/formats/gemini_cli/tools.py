"""Tools of Gemini CLI, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

TOOLS = AgentTools(
    declined=(
        "[Operation Cancelled] Reason: User did not allow tool call",
        "User did not allow tool call",
    ),
    person_tools=("ask_user", "exit_plan_mode"),
    program_texts=("<session_context>", "This is the Gemini CLI. We are setting up the context"),
)
