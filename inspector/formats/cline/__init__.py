"""Format: tasks of Cline, Roo Code and Kilo Code."""

from __future__ import annotations

from inspector.formats.cline import reader
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import AgentTools, Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Cline session",
    reads="tasks of Cline, Roo Code and Kilo Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.cline.conversion:CONVERSION",
    sessions="inspector.formats.cline.sessions:SESSIONS",
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    request_kinds=(reader.REQUESTED,),
    stop_kinds=(reader.COMPLETED,),
    tools=AgentTools(
        declined=(reader.DENIED,), person_tools=("ask_followup_question", "plan_mode_respond")
    ),
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    original_records=(
        NamedRecord(key="message", id_key="", noun="message"), NamedRecord(key="window", id_key="", noun="message"),
    ),
)  # fmt: skip
