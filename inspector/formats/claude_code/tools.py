"""Tools of Claude Code, and its words in their results."""

from __future__ import annotations

from inspector.formats.format import AgentTools

INTERRUPTED = "[Request interrupted by user"
"""Beginning of the text that reports an interruption to the model."""

TOOLS = AgentTools(
    declined=(
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action right now",
        "User rejected tool use",
        "User declined to answer questions",
    ),
    failure_prefixes=("Error: ", "<tool_use_error>"),
    person_tools=("AskUserQuestion", "ExitPlanMode"),
    program_texts=(
        "<command-name>",
        "<command-message>",
        "<local-command-",
        "<task-notification>",
        "<teammate-message",
        "<system-reminder>",
        "<ide_",
        "<bash-",
        "<user-memory-input>",
        "Caveat:",
        INTERRUPTED,
    ),
)
