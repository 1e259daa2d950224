"""Names of the programs whose sessions are found on this machine.

They stand apart from the table of formats, since the start page shows them before any reader is imported.
"""

from __future__ import annotations

SESSION_PRODUCTS = (
    "Claude Code", "Codex", "Amp", "Cline", "Copilot CLI", "Cursor", "Cursor chat", "Factory Droid", "Gemini CLI",
    "goose", "Grok Build", "Crush", "OpenCode", "Pi", "Qwen Code", "VS Code chat", "Continue", "Kimi", "Kiro",
)  # fmt: skip
"""Programs with sessions on this machine; a test compares them with the table."""

SOME_PRODUCTS = f"{', '.join(SESSION_PRODUCTS[:2])} and others"
"""Programs with sessions on this machine, in brief for a sentence."""
