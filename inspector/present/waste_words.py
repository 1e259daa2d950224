"""Words about avoidable tokens."""

from __future__ import annotations

from inspector.analysis.views.waste import WasteReport, WasteTotals
from inspector.present import formats
from inspector.present.token_facts import reported_words
from inspector.tokens.counter import TOKENIZER


def spared_words(waste: WasteTotals, *, short: bool = False, certain: bool = False) -> str:
    """Counts avoidable tokens: "About 8,076 tokens might be avoidable, 703 of them certainly", or "".

    Args:
        waste: the sums.
        short: shorter form: "8.1k tokens wasted?".
        certain: leaves out waste that later messages may disprove, as while messages arrive.
    """
    tokens = waste.sure_tokens if certain else waste.tokens
    if not tokens:
        return ""
    if short:
        return f"{formats.short_count(tokens)} tokens wasted{'' if waste.sure_tokens == tokens else '?'}"
    count = formats.count_of(tokens, "token")
    if waste.sure_tokens == tokens:
        return f"{count} avoidable"
    sure = f", {waste.sure_tokens:,} of them certainly" if waste.sure_tokens else ""
    return f"About {count} might be avoidable{sure}"


def report_words(found: WasteReport) -> str:
    """Returns the sums of a report as sentences, with notes about parts that were not examined."""
    words = [f"{spared_words(found.totals)}; estimate ({TOKENIZER})."] if found.wastes else []
    words += [f"{reported_words(found.reported)}."] if found.wastes and found.reported is not None else []
    return " ".join((*words, *found.notes))
