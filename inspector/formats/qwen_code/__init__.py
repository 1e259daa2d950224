"""Format: chats of Qwen Code."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.qwen_code import reader
from inspector.formats.qwen_code.tools import TOOLS

FORMAT = Format(
    name=reader.NAME,
    title="Qwen Code session",
    reads="sessions of Qwen Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    sessions="inspector.formats.qwen_code.sessions:SESSIONS",
    title_kinds={reader.VOICE.namespace + "custom_title": "customTitle"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    tools=TOOLS,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
