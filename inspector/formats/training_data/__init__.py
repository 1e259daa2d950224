"""Format: rows of data sets that models are trained on (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.training_data import reader

FORMAT = Format(
    name=reader.NAME,
    title="Training data",
    reads="conversations and preferences for training",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.payload,
    names_sessions=True,
    order_marks=(b'"conversations"', b'"chosen', b'"preferred_output"', b'"instruction"'),
    reassembly="inspector.formats.training_data.reassembly:EqualRows",
    icons={reader.VOICE.namespace: "ri.database-2-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset({reader.VOICE.namespace + "row"}),
)
