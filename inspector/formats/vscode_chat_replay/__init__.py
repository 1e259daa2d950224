"""Format: prompts that the chat of VS Code exports with their requests to models (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="vscode-chat-replay",
    title="VS Code prompt export",
    reads="exported prompts of the chat of VS Code",
    stage=Stage.DOCUMENT,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.vscode_chat_replay.conversion:CONVERSION",
    has_numbered_entries=True,
)
