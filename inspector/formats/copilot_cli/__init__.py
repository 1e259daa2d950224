"""Format: sessions of Copilot CLI (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.copilot_cli import reader
from inspector.formats.copilot_cli.kinds import BOOKKEEPING
from inspector.formats.copilot_cli.tools import TOOLS
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.LABEL,
    title="Copilot CLI session",
    reads="sessions of Copilot CLI",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    sessions="inspector.formats.copilot_cli.sessions:SESSIONS",
    icons={reader.NAMESPACE: "ri.terminal-line"},
    order_marks=(b'"session.start"',),
    torn_record=reader.TORN_RECORD,
    participants=Participants(agent=reader.AGENT, program=reader.PROGRAM),
    namespace=reader.NAMESPACE,
    tools=TOOLS,
    bookkeeping=BOOKKEEPING,
)
