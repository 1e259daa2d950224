"""Sentences of the account about tokens and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.analysis.views.summaries.token_shares import DEFINITIONS, NO_TOOL, Sums
from inspector.analysis.views.summaries.unlogged_agents import unlogged_agents
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.account_sentences import AccountLine
from inspector.present.token_facts import incomplete_words, unlogged_words, usage_sum_words
from inspector.present.waste_words import spared_words
from inspector.present.wire_text import safe_line

if TYPE_CHECKING:
    from inspector.analysis.views.waste import WasteTotals

_MAX_SHARES = 2
_MAX_MODELS = 3
_NAME = 60


class UsageSentences:
    """Formats the tokens and the cost of one document as sentences."""

    def __init__(self, document: CaptureDocument, waste: WasteTotals | None, tool_tokens: Sums | None) -> None:
        """Takes the figures.

        Args:
            document: the document.
            waste: sums of avoidable tokens, if known.
            tool_tokens: tokens by tool, if known.
        """
        self.document, self.analysis, self.waste, self.tool_tokens = document, document.analysis, waste, tool_tokens

    def token_lines(self) -> list[AccountLine]:
        """Reports estimated tokens, and avoidable ones."""
        tokens = self.analysis.tokens
        if not tokens.total:
            return []
        so_far = "" if tokens.done else " so far"
        words = f"{tokens.total:,}{so_far}, estimate"
        lines = [AccountLine("Tokens", f"{words}{self._token_shares()}", panel="Tokens")]
        avoidable = "" if self.waste is None else spared_words(self.waste, certain=self.document.is_arriving)
        first = None if self.waste is None else self.waste.first
        if first is not None and avoidable:
            lines.append(AccountLine("", avoidable, panel="Waste"))
            words = f"The largest part: {self.largest_waste()}"
            lines.append(AccountLine("", words, message=first.message, tone="quiet"))
        return lines

    def largest_waste(self) -> str:
        """Returns the sentence of the largest avoidable part, without its full stop; "" without one."""
        first = None if self.waste is None else self.waste.first
        return "" if first is None else safe_line(first.sentence).rstrip(".")

    def usage_lines(self) -> list[AccountLine]:
        """Reports the usage of model calls, apart from estimates."""
        usage, by_model = self.analysis.usage.total(), self.analysis.usage.calls_by_model()
        if usage is None:
            return []
        models, count, reported = list(by_model), sum(by_model.values()), self.analysis.usage.report_count
        # Some answers tell no tokens, such as streams without this option.
        calls = f"{reported:,} of {count:,} calls" if count > reported else formats.count_of(reported, "call")
        incomplete = incomplete_words(self.analysis.usage.incomplete_count)
        of = (
            f" of {safe_line(models[0], _NAME)}"
            if len(models) == 1
            else f" of {len(models):,} models"
            if models
            else ""
        )
        return [
            AccountLine("Reported", f"{calls}{of}: {usage_sum_words(usage)}{incomplete}", filter="usage.output >= 0")
        ]

    def cost_lines(self) -> list[AccountLine]:
        """Sums the cost of model calls in dollars, and names models without a price."""
        found, missing = self.analysis.costs.total(), self._without_price()
        stated = self.analysis.costs.stated_total()
        # The session's own figure is used only where ours cannot be calculated.
        if stated is not None and (found is None or not found.calls):
            words = f"{formats.dollars(stated)}, as the session states"
            return [AccountLine("Cost", words, filter="cost.stated")]
        if found is None or not found.calls:
            return [AccountLine("Cost", f"Unknown: {missing}", filter="usage.output >= 0")] if missing else []
        without = unlogged_words(unlogged_agents(self.analysis))
        words = f"{formats.dollars(found.total)} for {formats.count_of(found.calls, 'call')} of models{without}"
        if found.unpriced:
            words += f", {missing or formats.count_of(found.unpriced, 'call') + ' without a price'}"
        dated = self.analysis.costs.dated
        return [AccountLine("Cost", f"{words}{f', prices of {safe_line(dated, 60)}' if dated else ''}", filter="cost")]

    def _without_price(self) -> str:
        """Names the models of calls without a price: "no price for my-model"; "" if all have one."""
        models = self.analysis.costs.models_without_price()
        more = f" and {len(models) - _MAX_MODELS:,} more" if len(models) > _MAX_MODELS else ""
        return (
            f"no price for {', '.join(safe_line(one, _NAME) for one in models[:_MAX_MODELS])}{more}" if models else ""
        )

    def _token_shares(self) -> str:
        """Names the largest shares of tokens once all are counted: ": 6,944 definitions of tools, 2,153 grep"."""
        sums = self.tool_tokens
        if sums is None:
            return ""
        found = [place for place in sums.order.tolist() if sums.key(place) != NO_TOOL and sums.tokens[place]]
        named = (
            f"{sums.tokens[place]:,} {'tool definitions' if key == DEFINITIONS else self._name_of(key)}"
            for place in found[:_MAX_SHARES]
            for key in (sums.key(place),)
        )
        return f": {', '.join(named)}" if found else ""

    def _name_of(self, code: int) -> str:
        return safe_line(self.analysis.capture.strings[code], _NAME) if code else ""
