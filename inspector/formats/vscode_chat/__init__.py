"""Format: chat sessions of VS Code (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.signatures import Signature
from inspector.formats.vscode_chat import reader
from inspector.formats.vscode_chat.client import CLIENT
from inspector.formats.vscode_chat.tools import TOOLS

FORMAT = Format(
    name=reader.LABEL,
    title="VS Code chat session",
    reads="chat sessions of VS Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    sessions="inspector.formats.vscode_chat.sessions:SESSIONS",
    title_kinds={reader.NAMESPACE + "session": "customTitle"},
    icons={reader.NAMESPACE: "ri.terminal-line"},
    participants=Participants(agent=reader.AGENT, program=reader.PROGRAM),
    namespace=reader.NAMESPACE,
    tools=TOOLS,
    bookkeeping=frozenset({reader.NAMESPACE + "session"}),
    conversion="inspector.formats.vscode_chat.conversion:CONVERSION",
    original_records=(
        NamedRecord(key="request", id_key="requestId", noun="request"),
        NamedRecord(key="session", id_key="", noun="session"),
    ),
    client=CLIENT,
    signatures=(
        Signature(
            "changes of a chat session of VS Code",
            ("kind",),
            reader.is_later_change,
            "Its beginning is missing. Open the whole file of the session.",
        ),
    ),
)
