"""Figures of a model's context in words: what the API reported comes first, our estimate second."""

from __future__ import annotations

from inspector.analysis.views.model_context import Moment
from inspector.present import formats
from inspector.tokens.counter import TOKENIZER


def headline_words(moment: Moment) -> str:
    """The size of a context: as reported where it is, else as estimated."""
    reported = moment.reported()
    if reported is None or reported.tokens is None:
        return f"{moment.total:,} tokens{_spared(moment)}. Estimate ({TOKENIZER})"
    most = f" of {reported.max_tokens:,}" if reported.max_tokens else ""
    return f"{reported.tokens:,}{most} tokens, reported with {formats.message_number(reported.message)}"


def estimate_words(moment: Moment) -> str:
    """What stands in the log by our estimate, where something else was reported; empty where nothing was."""
    reported = moment.reported()
    if reported is None or reported.tokens is None:
        return ""
    count = int(moment.included.sum())
    entries = formats.count_of(count, "entry", "entries")
    return f"{moment.total:,} tokens in {entries} by our estimate ({TOKENIZER}){_spared(moment)}"


def outside_words(moment: Moment) -> str:
    """What of the reported tokens no entry holds; empty where nothing can be said."""
    outside, reported = moment.outside(), moment.reported()
    if outside is None or reported is None:
        return ""
    lead = f"{outside:,} of the {reported.tokens or 0:,} reported tokens are not in the log"
    return f"{lead}: system prompt, tool definitions and client additions"


def collapsed_words(moment: Moment) -> str:
    """What is collapsed at a moment at which that saves nothing; also what will be later."""
    collapsed, later = int(moment.collapsed.sum()), moment.collapsed_later
    if collapsed:
        return f"{formats.count_of(collapsed, 'result')} collapsed, which saves nothing"
    return f"nothing is collapsed yet, {formats.count_of(later, 'result')} later" if later else "nothing is collapsed"


def _spared(moment: Moment) -> str:
    saved = moment.uncollapsed_total - moment.total
    return f"; {moment.uncollapsed_total:,} without collapsing" if saved else ""
