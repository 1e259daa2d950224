"""Results that are transient, and that nobody has consumed: they stand in the context for good."""

from __future__ import annotations

from itertools import islice

from inspector.analysis.transients import Badge
from inspector.analysis.waste.losses import Losses
from inspector.analysis.waste.results import Results, Traffic
from inspector.analysis.waste.wasted import Waste, WasteKind
from inspector.protocol.tool_names import ToolAlias, alias_for

_MOST_NAMED = 3
_MOST_TRIED = 50
"""Hinted tools whose names are compared with a tool's."""


def unconsumed(
    traffic: Traffic, results: Results, place: int, losses: Losses, *, ongoing: bool = False
) -> Waste | None:
    """What one result costs beyond its summary; None when it is not transient, or was consumed.

    Args:
        traffic, results: what is looked at.
        place: of the result.
        losses: what may have emptied somebody's context.
        ongoing: more is to come, so that it may still be consumed.
    """
    transients, row, call = traffic.analysis.transients, int(results.rows[place]), int(results.calls[place])
    badges = int(transients.columns["badges"][row])
    if not badges & Badge.TRANSIENT.value or badges & Badge.COLLAPSED.value:
        return None
    spared = int(results.tokens[place]) - (traffic.analysis.tokens.summary_tokens(row) or 0)
    if spared <= 0:
        return None
    tool = traffic.tool(row)
    sentence, advice, alias = _words(traffic, row, tool)
    kind = WasteKind.PENDING if ongoing else WasteKind.UNCONSUMED
    # With the alias it may turn out to be consumed: who called by these names knows what they mean.
    lost = losses.since(row, traffic.sender(call))
    if lost is not None:
        sentence += f" It may have left the context with No. {lost + 1:,}."
    sure = not ongoing and alias is None and lost is None
    return Waste(kind, row, (call, row), spared, sentence, advice, sure, traffic.sender(call), tool)


def _words(traffic: Traffic, row: int, tool: str) -> tuple[str, str, ToolAlias | None]:
    """What happened, what would spare it, and the tool alias that would make hints fit."""
    consumers = _consumers(traffic, row)
    if consumers:
        names = " or ".join(consumers[:_MOST_NAMED])
        sentence = f"{tool} brought a transient result, which {names} has not consumed."
        return sentence, f"Call {names} once what matters was taken from it.", None
    hinted, alias = _nearly_hinted(traffic, row)
    if alias is not None:
        return (
            f"{tool} brought a transient result; hints call this tool {hinted}, so that none fits.",
            f"Set the tool alias {alias.text} (Settings, Tool names; --tool-alias), and look again.",
            alias,
        )
    return (
        f"{tool} brought a transient result, and no hint names a tool that consumes it.",
        "Let a workflow step give a hint (contextHints) that names the tool which consumes it.",
        None,
    )


def _consumers(traffic: Traffic, row: int) -> list[str]:
    """The tools that hints have named as consuming a result."""
    transients = traffic.analysis.transients
    conversation, tool = transients.conversation_of(row), transients.aliases.meant(traffic.tool(row))
    if conversation is None:
        return []
    return sorted(name for name, consumer in conversation.consumers.items() if tool in consumer.tools)


def _nearly_hinted(traffic: Traffic, row: int) -> tuple[str, ToolAlias | None]:
    """The hinted tool that bears a result's name behind or without a prefix, and the alias that says so."""
    conversation = traffic.analysis.transients.conversation_of(row)
    hinted = conversation.hinted if conversation is not None else {}
    found = ((name, alias_for(name, [traffic.tool(row)])) for name in islice(hinted, _MOST_TRIED))
    return next(((name, alias) for name, alias in found if alias is not None), ("", None))
