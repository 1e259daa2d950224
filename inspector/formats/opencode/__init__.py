"""Format: sessions of OpenCode (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.opencode import reader
from inspector.formats.opencode.tools import TOOLS
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=reader.LABEL,
    title="OpenCode session",
    reads="sessions of OpenCode",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    names_sessions=True,
    sessions="inspector.formats.opencode.sessions:SESSIONS",
    icons={reader.NAMESPACE: "ri.terminal-line"},
    participants=Participants(agent=reader.AGENT, program=reader.PROGRAM),
    namespace=reader.NAMESPACE,
    tools=TOOLS,
    session_headers=("x-opencode-session",),
    bookkeeping=frozenset(
        {reader.NAMESPACE + "session", reader.NAMESPACE + "step-finish", reader.NAMESPACE + "step-start"}
    ),
    store="inspector.formats.opencode.conversion:store_of",
    original_records=(NamedRecord(key="info", id_key="id", noun="record"),),
    signatures=(
        Signature(
            "a message in a storage folder of OpenCode",
            ("id", "sessionID", "role", "time"),
            remedy="Open the storage folder as a whole.",
        ),
        Signature(
            "a part of a message in a storage folder of OpenCode",
            ("id", "messageID", "type"),
            remedy="Open the storage folder as a whole.",
        ),
    ),
)
