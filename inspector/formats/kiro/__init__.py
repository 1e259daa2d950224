"""Format: sessions of Kiro's command line (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.kiro import reader
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=reader.NAME,
    title="Kiro session",
    reads="sessions of Kiro's command line",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    has_session_files=True,
    sessions="inspector.formats.kiro.sessions:SESSIONS",
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    signatures=(
        Signature(
            "facts about a session of Kiro",
            ("session_id", "cwd", "session_state"),
            remedy="It has no messages. Open the file with the same name that ends with .jsonl.",
        ),
        Signature(
            "a chat of the editor Kiro",
            ("executionId", "chat", "metadata"),
            lambda value: isinstance(value["chat"], list) and isinstance(value["metadata"], dict),
        ),
    ),
)
