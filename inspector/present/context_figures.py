"""Formats the size of a model's context: reported figures first, estimates second."""

from __future__ import annotations

from inspector.analysis.views.model_context import Moment
from inspector.present import formats
from inspector.tokens.counter import TOKENIZER


def headline_words(moment: Moment) -> str:
    """Returns the size of a context, as reported or else estimated."""
    reported = moment.reported()
    if reported is None or reported.tokens is None:
        return f"{moment.total:,} tokens{_saved_words(moment)}. Estimate ({TOKENIZER})"
    most = f" of {reported.max_tokens:,}" if reported.max_tokens else ""
    return f"{reported.tokens:,}{most} tokens, reported with {formats.message_number(reported.message)}"


def estimate_words(moment: Moment) -> str:
    """Returns the estimate beside a reported figure; "" without a report."""
    reported = moment.reported()
    if reported is None or reported.tokens is None:
        return ""
    count = int(moment.included.sum())
    entries = formats.count_of(count, "entry", "entries")
    return f"{moment.total:,} tokens in {entries} by our estimate ({TOKENIZER}){_saved_words(moment)}"


def outside_words(moment: Moment) -> str:
    """Returns the reported tokens that are in no entry; "" if unknown."""
    outside, reported = moment.outside(), moment.reported()
    if outside is None or reported is None:
        return ""
    lead = f"{outside:,} of the {reported.tokens or 0:,} reported tokens are not in the log"
    return f"{lead}, such as system prompt, tool definitions or an earlier conversation"


def collapsed_words(moment: Moment) -> str:
    """Returns present and future collapsed results for a moment without savings."""
    collapsed, later = int(moment.collapsed.sum()), moment.collapsed_later
    if collapsed:
        return f"{formats.count_of(collapsed, 'result')} collapsed, without savings"
    return f"no result collapsed yet, {formats.count_of(later, 'result')} later" if later else "no result collapsed"


def _saved_words(moment: Moment) -> str:
    saved = moment.uncollapsed_total - moment.total
    return f"; {moment.uncollapsed_total:,} without collapsing" if saved else ""
