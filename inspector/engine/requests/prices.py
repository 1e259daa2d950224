"""Prices of models for a window: list prices, and functions that only read their text."""

from __future__ import annotations

from inspector.analysis.passes.tokens.listed_prices import LISTED_DATE as LISTED_DATE
from inspector.analysis.passes.tokens.listed_prices import PRICE_LISTS as PRICE_LISTS
from inspector.analysis.passes.tokens.listed_prices import listed_lines as listed_lines
from inspector.analysis.passes.tokens.listed_prices import prices_in_force as prices_in_force
from inspector.analysis.passes.tokens.price_table import EXAMPLE_LINE as EXAMPLE_LINE
from inspector.analysis.passes.tokens.price_table import PriceError as PriceError
from inspector.analysis.passes.tokens.price_table import PriceTable as PriceTable
from inspector.analysis.passes.tokens.price_table import imported_lines as imported_lines
