"""Contains the price list that ships with the program, and merges it with the user's own prices.

The list has the standard prices of the providers' own APIs in US dollars a million tokens. Batch, priority, regional
and cloud terms are not included. A model that is not listed has no price.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from inspector.analysis.passes.tokens.price_table import PriceError, PriceTable

LISTED_DATE = "2026-11-28"
"""Date of the last comparison with the providers' pages."""

PRICE_PAGES = (
    "https://platform.claude.com/docs/en/about-claude/pricing",
    "https://developers.openai.com/api/docs/pricing",
    "https://ai.google.dev/gemini-api/docs/pricing",
)
"""Pages of the providers with the prices."""

_LISTED_PRICES = """
# Anthropic
claude-fable-5-2 = 8 in, 40 out, 0.2 cache read, 10 cache write, 16 cache write 1h
claude-fable-5-1 = 10 in, 50 out, 0.25 cache read, 12.5 cache write, 20 cache write 1h
claude-fable-5 = 10 in, 50 out, 1 cache read, 12.5 cache write, 20 cache write 1h
claude-opus-5-5 = 4 in, 20 out, 0.2 cache read, 5 cache write, 8 cache write 1h
claude-opus-5 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-8 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-7 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-6 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-5 = 5 in, 25 out, 0.5 cache read, 6.25 cache write, 10 cache write 1h
claude-opus-4-1 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-opus-4-0 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-opus-4 = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-sonnet-5-5 = 2 in, 10 out, 0.1 cache read, 2.5 cache write, 4 cache write 1h
claude-sonnet-5 = 2 in, 10 out, 0.2 cache read, 2.5 cache write, 4 cache write 1h
claude-sonnet-4-6 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4-5 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4-5 above 200000 = 6 in, 22.5 out, 0.6 cache read, 7.5 cache write, 12 cache write 1h
claude-sonnet-4-0 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-sonnet-4 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-haiku-5-5 = 0.1 in, 0.5 out, 0.01 cache read, 0.125 cache write, 0.2 cache write 1h
claude-haiku-5-5 above 100000 = 0.5 in, 2.5 out, 0.05 cache read, 0.625 cache write, 1 cache write 1h
claude-haiku-4-5 = 1 in, 5 out, 0.1 cache read, 1.25 cache write, 2 cache write 1h
claude-3-7-sonnet = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-3-5-sonnet = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h
claude-3-5-haiku = 0.8 in, 4 out, 0.08 cache read, 1 cache write, 1.6 cache write 1h
claude-3-opus = 15 in, 75 out, 1.5 cache read, 18.75 cache write, 30 cache write 1h
claude-3-haiku = 0.25 in, 1.25 out, 0.03 cache read, 0.3 cache write, 0.5 cache write 1h

# OpenAI
gpt-6.1-sol = 2 in, 10 out, 0.1 cache read, 2.5 cache write
gpt-6.1-sol above 272000 = 4 in, 15 out, 0.2 cache read, 5 cache write
gpt-6.1-terra = 1 in, 5 out, 0.05 cache read, 1.25 cache write
gpt-6.1-terra above 272000 = 2 in, 7.5 out, 0.1 cache read, 2.5 cache write
gpt-6-astra = 10 in, 50 out, 1 cache read, 12.5 cache write
gpt-6-astra above 272000 = 20 in, 75 out, 2 cache read, 25 cache write
gpt-6-sol = 2 in, 10 out, 0.2 cache read, 2.5 cache write
gpt-6-sol above 272000 = 4 in, 15 out, 0.4 cache read, 5 cache write
gpt-6-luna = 0.1 in, 0.5 out, 0.01 cache read, 0.125 cache write
gpt-6-luna above 272000 = 0.2 in, 0.75 out, 0.02 cache read, 0.25 cache write
gpt-5.6-sol = 4 in, 20 out, 0.4 cache read, 5 cache write
gpt-5.6-sol above 272000 = 8 in, 30 out, 0.8 cache read, 10 cache write
gpt-5.6-terra = 2 in, 12 out, 0.2 cache read, 2.5 cache write
gpt-5.6-terra above 272000 = 4 in, 18 out, 0.4 cache read, 5 cache write
gpt-5.6-luna = 0.2 in, 1.2 out, 0.02 cache read, 0.25 cache write
gpt-5.6-luna above 272000 = 0.4 in, 1.8 out, 0.04 cache read, 0.5 cache write
gpt-5.5 = 5 in, 30 out, 0.5 cache read
gpt-5.5 above 272000 = 10 in, 45 out, 1 cache read
gpt-5.4 = 2.5 in, 15 out, 0.25 cache read
gpt-5.4 above 272000 = 5 in, 22.5 out, 0.5 cache read
gpt-5.4-mini = 0.75 in, 4.5 out, 0.075 cache read
gpt-5.4-nano = 0.2 in, 1.25 out, 0.02 cache read
gpt-5.3-codex = 1.75 in, 14 out, 0.175 cache read
gpt-5.2 = 1.75 in, 14 out, 0.175 cache read
gpt-5.2-codex = 1.75 in, 14 out, 0.175 cache read
gpt-5.1 = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex-max = 1.25 in, 10 out, 0.125 cache read
gpt-5.1-codex-mini = 0.25 in, 2 out, 0.025 cache read
gpt-5 = 1.25 in, 10 out, 0.125 cache read
gpt-5-codex = 1.25 in, 10 out, 0.125 cache read
gpt-5-mini = 0.25 in, 2 out, 0.025 cache read
gpt-5-nano = 0.05 in, 0.4 out, 0.005 cache read
gpt-4.1 = 2 in, 8 out, 0.5 cache read
gpt-4.1-mini = 0.4 in, 1.6 out, 0.1 cache read
gpt-4.1-nano = 0.1 in, 0.4 out, 0.025 cache read
gpt-4o-2024-05-13 = 5 in, 15 out
gpt-4o = 2.5 in, 10 out, 1.25 cache read
gpt-4o-mini = 0.15 in, 0.6 out, 0.075 cache read
o4-mini = 1.1 in, 4.4 out, 0.275 cache read
o3 = 2 in, 8 out, 0.5 cache read
o3-mini = 1.1 in, 4.4 out, 0.55 cache read
codex-mini = 1.5 in, 6 out, 0.375 cache read

# Google
gemini-3.1-pro-preview = 2 in, 12 out, 0.2 cache read
gemini-3.1-pro-preview above 200000 = 4 in, 18 out, 0.4 cache read
gemini-3-pro-preview = 2 in, 12 out, 0.2 cache read
gemini-3-pro-preview above 200000 = 4 in, 18 out, 0.4 cache read
gemini-3-flash-preview = 0.5 in, 3 out, 0.05 cache read
gemini-2.5-pro = 1.25 in, 10 out, 0.125 cache read
gemini-2.5-pro above 200000 = 2.5 in, 15 out, 0.25 cache read
gemini-2.5-flash = 0.3 in, 2.5 out, 0.03 cache read
gemini-2.5-flash-lite = 0.1 in, 0.4 out, 0.01 cache read
gemini-2.0-flash = 0.1 in, 0.4 out, 0.025 cache read
"""


@cache
def listed_lines() -> tuple[str, ...]:
    """The list, one line a model and tier, without comments."""
    return tuple(line for line in _LISTED_PRICES.splitlines() if line and not line.startswith("#"))


def prices_in_force(lines: Iterable[str], dated: str, *, listed: bool) -> tuple[list[str], str]:
    """Merge the user's prices with the list.

    Args:
        lines: the user's prices; they win over the list, model by model.
        dated: when the user's prices were in force, or "".
        listed: use the list for all other models.

    Returns:
        The lines in force, and their date as it is shown.
    """
    own = list(lines)
    if not listed:
        return own, dated
    try:
        table = PriceTable(own)
    except PriceError:  # settings edited by hand; the settings page shows the error
        return own, dated
    # A user's line replaces all tiers of its model, so that no model mixes prices of two dates.
    rest = [line for line in listed_lines() if not table.rates(_model_of_line(line))]
    if not len(table):
        return rest, LISTED_DATE
    return [*own, *rest], f"{dated or 'your own'} and {LISTED_DATE}"


def _model_of_line(line: str) -> str:
    return line.partition("=")[0].partition(" above ")[0].strip()
