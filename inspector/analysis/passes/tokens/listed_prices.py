"""Joins the price lists that ship with the program, and merges them with the user's own prices.

The list has the standard prices of the providers' own APIs in US dollars a million tokens. Batch, priority, regional
and cloud terms are not included. A model that is not listed has no price.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspector.analysis.passes.tokens.price_table import PriceError, PriceTable
from inspector.formats.format import PriceList
from inspector.formats.table import FORMATS

LISTED_DATE = "2026-11-28"
"""Date of the last comparison with the providers' pages."""

PRICE_LISTS: tuple[PriceList, ...] = tuple(one.prices for one in FORMATS if one.prices is not None)
"""Lists of the providers."""


def listed_lines() -> list[str]:
    """Returns the list, one line a model and tier."""
    return [line for one in PRICE_LISTS for line in one.lines.splitlines() if line]


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
