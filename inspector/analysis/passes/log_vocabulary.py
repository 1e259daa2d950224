"""Names kinds in the words of the log: sessions have calls, results and thoughts; MCP has requests and responses.

Logs of MEW keep the kinds of the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.formats import registry
from inspector.formats.table import SPOKEN_KINDS
from inspector.protocol import kinds
from inspector.store.messages.capture import Capture

THOUGHT = "reasoning/thought"
_SESSION_WORDS = {kinds.REQUEST: "call", kinds.RESPONSE: "result", THOUGHT: "thought"}
_JSON_RPC_WORDS = {kinds.REQUEST: "request", kinds.RESPONSE: "response"}
_NOTIFICATION_PREFIX = "notifications/"
_PROMPT_SENDERS = ("user", "client")
_SYSTEM_PROMPT = "system-prompt"


def kind_word(capture: Capture, message: int) -> str:
    """Returns the word a log has for a message, or "" if the kind of the protocol is the word."""
    columns = capture.columns
    kind = capture.string("kind", message) or ""
    if not columns["part"][message]:
        # Without a protocol it is plain JSON-RPC; MEW traffic keeps the kinds of its protocol.
        if columns["protocol"][message] or kind not in _JSON_RPC_WORDS:
            return ""
        if capture.foreign_rpc.is_foreign(message):
            return kinds.short_kind(capture.foreign_rpc.kind_of(message))
        is_notice = kind == kinds.REQUEST and (capture.string("method", message) or "").startswith(_NOTIFICATION_PREFIX)
        return "notification" if is_notice else _JSON_RPC_WORDS[kind]
    if kind != "chat":
        return _SESSION_WORDS.get(kind) or SPOKEN_KINDS.get(kind, "")
    sender = capture.string("sender", message)
    if sender in _PROMPT_SENDERS:
        return "prompt"
    if sender == _SYSTEM_PROMPT or sender in registry.groups().programs:
        return "added"
    # In a sub-agent's context every sender but the agent itself prompts it. Some logs name the agent as its parent.
    agent = capture.transcripts.agents.get(capture.string("context", message) or "")
    if agent is None or not agent.name or sender == agent.name:
        return "answer"
    return "answer" if set(_PROMPT_SENDERS).intersection(capture.recipients(message)) else "prompt"


def kind_words(topics: Sequence[str]) -> dict[str, str]:
    """Returns words for values of the field `kind` in text about a whole log, by kind; a kind without a word stays.

    Args:
        topics: the kinds of traffic in the log, as `present.log_topics` names them.
    """
    own = SPOKEN_KINDS if "trace" in topics else {}  # words of one family only, for any other traffic in the log
    if "json-rpc" in topics:
        own = own | {kind: f"JSON-RPC {kinds.short_kind(kind)}" for kind in kinds.OF_JSON_RPC}
    if "mew" in topics or "msp" in topics or not topics:
        return own
    if set(topics) <= {"mcp", "json-rpc", "collapsible"}:
        before = "MCP " if own else ""
        return own | {kind: before + word for kind, word in _JSON_RPC_WORDS.items() if "mcp" in topics}
    # Sessions and MCP in one log: one word has to serve both.
    both = "mcp" in topics
    request, response = ("call or request", "result or response") if both else ("call", "result")
    return own | {kinds.REQUEST: request, kinds.RESPONSE: response, THOUGHT: "thought"}
