"""Format: sessions of Gemini CLI (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.gemini_cli import reader
from inspector.formats.gemini_cli.client import CLIENT, MODEL_APIS
from inspector.formats.gemini_cli.models import PRICES
from inspector.formats.gemini_cli.tools import TOOLS

FORMAT = Format(
    name=reader.LABEL,
    title="Gemini CLI session",
    reads="sessions of Gemini CLI",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    sessions="inspector.formats.gemini_cli.sessions:SESSIONS",
    icons={reader.NAMESPACE: "ri.terminal-line"},
    participants=Participants(agent=reader.AGENT, program=reader.PROGRAM),
    namespace=reader.NAMESPACE,
    tools=TOOLS,
    bookkeeping=frozenset({reader.NAMESPACE + "session", reader.NAMESPACE + "set"}),
    prices=PRICES,
    client=CLIENT,
    model_apis=MODEL_APIS,
)
