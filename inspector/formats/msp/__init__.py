"""Format: documents of sessions with sub-sessions (docs/protocols.md 14)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage

FORMAT = Format(
    name="msp-session",
    title="MSP sessions",
    reads="sessions of the Model Subsession Protocol (MSP)",
    stage=Stage.DOCUMENT,
    namespace="msp/",
    icons={
        "msp/": "ri.discuss-line",
        "msp/session": "ri.discuss-line",
        "msp/snapshot": "ri.file-text-line",
        "msp/subsession": "ri.chat-new-line",
        "msp/closed": "ri.chat-check-line",
    },
)
