"""Format: chats of the editor Cursor (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.cursor_chat import reader
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Cursor chat session",
    reads="chats of the editor Cursor",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.cursor_chat.exports:CONVERSION",
    store="inspector.formats.cursor_chat.database:store_of",
    sessions="inspector.formats.cursor_chat.sessions:SESSIONS",
    names_sessions=True,
    title_kinds={reader.VOICE.namespace + "composer": "name"},
    icons={reader.VOICE.namespace: "ri.chat-3-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    original_records=(NamedRecord(key="bubble", id_key="bubbleId", noun="message"),),
)
