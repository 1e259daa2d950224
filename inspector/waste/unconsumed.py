"""Results that are transient, and that nobody has consumed: they stand in the context for good."""

from __future__ import annotations

from inspector.analysis.transients import Badge
from inspector.waste.results import Results, Traffic
from inspector.waste.wasted import Waste, WasteKind

_MOST_NAMED = 3


def unconsumed(traffic: Traffic, results: Results, place: int) -> Waste | None:
    """What one result costs beyond its summary; None when it is not transient, or was consumed."""
    transients, row, call = traffic.analysis.transients, int(results.rows[place]), int(results.calls[place])
    badges = int(transients.columns["badges"][row])
    if not badges & Badge.TRANSIENT.value or badges & Badge.COLLAPSED.value:
        return None
    spared = int(results.tokens[place]) - (traffic.analysis.tokens.summary_tokens(row) or 0)
    if spared <= 0:
        return None
    tool, consumers = traffic.tool(row), _consumers(traffic, row)
    if consumers:
        names = " or ".join(consumers[:_MOST_NAMED])
        sentence = f"{tool} brought a transient result, which {names} has not consumed."
        advice = f"Call {names} once what matters was taken from it."
    else:
        sentence = f"{tool} brought a transient result, and no hint names a tool that consumes it."
        advice = "Let a workflow step give a hint (contextHints) that names the tool which consumes it."
    return Waste(
        WasteKind.UNCONSUMED, row, (call, row), spared, sentence, advice, True, traffic.sender(call), tool
    )  # fmt: skip


def _consumers(traffic: Traffic, row: int) -> list[str]:
    """The tools that hints have named as consuming a result."""
    transients = traffic.analysis.transients
    conversation, tool = transients.conversation_of(row), transients.aliases.meant(traffic.tool(row))
    if conversation is None:
        return []
    return sorted(name for name, consumer in conversation.consumers.items() if tool in consumer.tools)
