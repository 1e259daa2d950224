"""Format: sessions of Claude Code (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.claude_code import reader
from inspector.formats.claude_code.client import CLIENT, MODEL_APIS
from inspector.formats.claude_code.derivation import AGENT, NAMESPACE, PROGRAM, SENT_BLOCK, SENT_PROMPT
from inspector.formats.claude_code.kinds import BOOKKEEPING
from inspector.formats.claude_code.models import PRICES
from inspector.formats.claude_code.session_folders import MOVED_RESULTS
from inspector.formats.claude_code.tools import TOOLS
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=reader.LABEL,
    title="Claude Code session",
    reads="sessions of Claude Code",
    stage=Stage.TRANSCRIPT,
    read=reader.read,
    payload=reader.payload,
    context_rules="inspector.formats.claude_code.context:RULES",
    sessions="inspector.formats.claude_code.sessions:SESSIONS",
    moved_results=MOVED_RESULTS,
    title_kinds={NAMESPACE + "custom-title": "text", NAMESPACE + "ai-title": "text"},
    icons={NAMESPACE: "ri.terminal-line"},
    participants=Participants(agent=AGENT, program=PROGRAM),
    namespace=NAMESPACE,
    spoken_kinds={NAMESPACE + SENT_BLOCK: "sent to the model", NAMESPACE + SENT_PROMPT: "system prompt"},
    tools=TOOLS,
    session_headers=("x-claude-code-session-id",),
    agent_headers=("x-claude-code-agent-id",),
    bookkeeping=BOOKKEEPING,
    prices=PRICES,
    client=CLIENT,
    model_apis=MODEL_APIS,
    identified_by_type=True,
    signatures=(
        Signature(
            "the description of a sub-agent of Claude Code",
            ("agentType",),
            lambda value: not any(isinstance(one, dict | list) for one in value.values()),
            "It has no messages. Open the session's file, or the folder it is in.",
        ),
        Signature(
            "the history of prompts of Claude Code",
            ("display", "pastedContents", "timestamp"),
            remedy="It has no sessions. List them with `context-inspector sessions`.",
        ),
    ),
)
