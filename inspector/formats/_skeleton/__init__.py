"""Format to copy: logs of an invented robot. README.md beside this file has the steps."""

from __future__ import annotations

from inspector.formats._skeleton import reader
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Robot log",
    reads="logs of a robot",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
)
