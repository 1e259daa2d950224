"""Settings that apply to an open document, and the message whose tokens are counted first."""

from __future__ import annotations

from typing import ClassVar

from inspector.analysis.passes.tokens.price_table import PriceError
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError
from inspector.protocol.tool_aliases import AliasError, ToolAliases, parse_alias


class ApplySettings(Request[bool], frozen=True):
    """Applies settings to all messages; the answer is True if states of contexts may differ now.

    Attributes:
        aliases: texts of tool aliases.
        prices, prices_dated: lines of the price table, and their date.
        newest_first: pending results collapse in reverse order.
        idle_after_s: seconds until a context is idle.
        count_tokens: counts tokens while nothing is asked.
    """

    aliases: tuple[str, ...]
    prices: tuple[str, ...]
    prices_dated: str
    newest_first: bool
    idle_after_s: int
    count_tokens: bool


class CountFirst(Request[None], frozen=True):
    """Counts the tokens of a message before all others."""

    is_urgent: ClassVar[bool] = True
    message: int


def _apply(held: OpenDocument, asked: ApplySettings) -> bool:
    document = held.document
    try:
        document.set_tool_aliases(ToolAliases([parse_alias(text) for text in asked.aliases]))
        document.set_prices(asked.prices, asked.prices_dated)
    except (AliasError, PriceError) as error:
        raise RequestError(str(error)) from None
    document.set_collapse_order(newest_first=asked.newest_first)
    held.idle_work.set_counting(asked.count_tokens)
    return document.set_idle_time(asked.idle_after_s)


def _count_first(held: OpenDocument, asked: CountFirst) -> None:
    held.document.analysis.tokens.prioritize([asked.message])


QUERIES = (Query(ApplySettings, bool, _apply), Query(CountFirst, None, _count_first))
