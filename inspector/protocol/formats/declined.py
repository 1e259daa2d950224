"""Results that say that the user did not allow a call: no failure of the tool, and no time that it took."""

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
"""How such results begin: Claude Code, Codex, Gemini CLI, OpenCode, Copilot CLI, VS Code; on their wires, too."""
LONGEST = max(map(len, _BEGINS)) + 80
"""Characters that tell whether a result is one of them."""
ASKS_PERSON = (
    "AskUserQuestion", "ExitPlanMode", "request_user_input", "ask_user", "exit_plan_mode", "question", "plan_exit",
    "ask_followup_question", "askQuestions",
)  # fmt: skip
"""Tools that a person answers: the time until then is no tool's."""
_AROUND = ("Error: ", "<tool_use_error>", "exec_command failed: ", "apply_patch failed: ")


def is_declined(text: str) -> bool:
    """Tells whether a result says that the user did not allow its call."""
    head = text[:LONGEST].lstrip()
    for around in _AROUND:
        head = head.removeprefix(around)
    return head.startswith(_BEGINS)
