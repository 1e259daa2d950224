"""Format: messages, requests and answers of model APIs (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.format import Conversations, Format, Stage, TrafficKind
from inspector.formats.message_entries import AGENT
from inspector.formats.model_api import reader
from inspector.formats.model_api.addresses import MODEL_APIS
from inspector.formats.model_api.operations import OPERATIONS

FORMAT = Format(
    name=reader.LABEL,
    title="messages of a model API",
    reads="message arrays of OpenAI, Anthropic, Gemini, Bedrock and Cohere",
    stage=Stage.LATE,
    traffic=TrafficKind.WIRE,
    read=reader.read,
    payload=reader.payload,
    conversations=Conversations.CONTINUED,
    is_model_wire=True,
    session_headers=("session-id", "session_id", "x-session-id", "x-session-affinity"),
    agent_headers=(
        "thread-id", "thread_id", "x-thread-id", "conversation-id", "conversation_id", "x-conversation-id", "agent-id",
        "x-agent-id",
    ),
    lone_answers_of=AGENT,
    model_apis=MODEL_APIS,
    model_operations=tuple(one.name for one in OPERATIONS),
    uncached_operations=tuple(one.name for one in OPERATIONS if one.asks_for_cache),
    array_format=reader.LABEL,
    order_marks=reader.EVENT_MARKS,
    reassembly="inspector.formats.model_api.reassembly:ModelStreams",
)  # fmt: skip
