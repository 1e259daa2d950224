"""Format: threads of Codex (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.codex import reader
from inspector.formats.codex.client import CLIENT, MODEL_APIS, MODEL_CLIENT
from inspector.formats.codex.derivation import AGENT, NAMESPACE, PROGRAM
from inspector.formats.codex.kinds import BOOKKEEPING
from inspector.formats.codex.models import PRICES
from inspector.formats.codex.tools import TOOLS
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.model_api import reader as messages

FORMAT = Format(
    name=reader.LABEL,
    title="Codex session",
    reads="sessions of Codex",
    stage=Stage.TRANSCRIPT,
    read=reader.read,
    payload=reader.payload,
    sessions="inspector.formats.codex.sessions:SESSIONS",
    title_kinds={NAMESPACE + "thread_name_updated": "text"},
    icons={NAMESPACE: "ri.terminal-line"},
    participants=Participants(agent=AGENT, program=PROGRAM),
    namespace=NAMESPACE,
    tools=TOOLS,
    bookkeeping=BOOKKEEPING,
    prices=PRICES,
    client=CLIENT,
    model_apis=MODEL_APIS,
    model_client=MODEL_CLIENT,
    begins_like=reader.is_usual,
    # Items of the Responses API occur in threads, one a line; in an array they are a model's messages.
    array_format=messages.LABEL,
)
