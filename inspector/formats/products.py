"""Names of the programs whose sessions are found on this machine.

They stand apart from the table of formats, since the start page shows them before any reader is imported.
"""

from __future__ import annotations

SESSION_PRODUCTS: dict[str, str] = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot-cli": "Copilot CLI",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "vscode-chat": "VS Code chat",
}
"""Programs with sessions on this machine, by name of the format; a test compares them with the table."""

SOME_PRODUCTS: str = f"{', '.join(list(SESSION_PRODUCTS.values())[:2])} and others"
"""Programs with sessions on this machine, in brief for a sentence."""
