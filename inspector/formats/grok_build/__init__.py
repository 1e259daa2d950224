"""Format: sessions and output of Grok Build."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.grok_build import reader
from inspector.formats.grok_build.voice import NAME, RECORDS, VOICE
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=NAME,
    title="Grok Build session",
    reads="sessions of Grok Build",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.payload,
    sessions="inspector.formats.grok_build.sessions:SESSIONS",
    icons={VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=VOICE.agent, program=VOICE.program),
    namespace=VOICE.namespace,
    bookkeeping=frozenset(VOICE.namespace + record for record in RECORDS),
    order_marks=(*reader.CHUNK_MARKS, *reader.PIECE_BEGINNINGS),
    reassembly="inspector.formats.grok_build.reassembly:GrokPieces",
    signatures=(
        Signature(
            "the event log of a Grok Build session", ("ts", "type", "session_id", "schema_version"),
            lambda value: value["type"] == "turn_started",
            "It has times and no messages. Open `updates.jsonl` beside it.",
        ),
    ),
)  # fmt: skip
