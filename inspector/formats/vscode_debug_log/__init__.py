"""Format: debug logs of the chat in VS Code (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.vscode_debug_log import reader

_OWN = (
    "agent_response", "child_session_ref", "discovery", "generic", "hook", "llm_request", "session_start", "subagent",
    "turn_end", "turn_start",
)  # fmt: skip

FORMAT = Format(
    name=reader.NAME,
    title="VS Code debug log",
    reads="debug logs of the chat of VS Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    failing_kinds=tuple(reader.VOICE.namespace + kind for kind in ("discovery", "generic", "hook", "subagent")),
    bookkeeping=frozenset(reader.VOICE.namespace + kind for kind in _OWN),
)
