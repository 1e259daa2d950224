"""Format: sessions of Factory's droid."""

from __future__ import annotations

from inspector.formats.factory_droid import reader
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=reader.NAME,
    title="Factory Droid session",
    reads="sessions of Factory Droid",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.factory_droid.conversion:CONVERSION",
    sessions="inspector.formats.factory_droid.sessions:SESSIONS",
    title_kinds={reader.VOICE.namespace + "session_start": "title"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    signatures=(
        Signature(
            "the settings of a session of Factory Droid",
            ("tokenUsage", "providerLock"),
            remedy="It has no messages. Open the session's `.jsonl` beside it, which is read with its tokens.",
        ),
    ),
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
