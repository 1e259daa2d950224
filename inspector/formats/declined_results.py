"""Detects results of calls that the user declined: no failure of the tool, and no working time."""

from __future__ import annotations

_BEGINS = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "User declined to answer questions",
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    "[Operation Cancelled] Reason: User did not allow tool call",
    "User did not allow tool call",
    "The user rejected permission",
    "The user dismissed this question",
    "The user rejected this tool call",
    "The user chose to skip the tool call",
)
"""Beginnings of such results in Claude Code, Codex, Gemini CLI, OpenCode, Copilot CLI, VS Code, and on their wires."""
EXAMINED_CHARACTERS = max(map(len, _BEGINS)) + 80
"""Characters that suffice to detect such a result."""
PERSON_TOOLS = (
    "AskUserQuestion", "ExitPlanMode", "request_user_input", "ask_user", "exit_plan_mode", "question", "plan_exit",
    "ask_followup_question", "askQuestions",
)  # fmt: skip
"""Tools that a person answers, so that the waiting time is no tool's."""
_AROUND = ("Error: ", "<tool_use_error>", "exec_command failed: ", "apply_patch failed: ")


def is_declined(text: str, *, bare: bool = False) -> bool:
    """Returns True if a result says that the user declined its call.

    Args:
        text: of the result.
        bare: nothing may stand before the words of the client.
    """
    head = text[:EXAMINED_CHARACTERS] if bare else text[:EXAMINED_CHARACTERS].lstrip()
    for around in () if bare else _AROUND:
        head = head.removeprefix(around)
    return head.startswith(_BEGINS)
