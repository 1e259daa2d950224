"""Computes costs of model calls from tokens and prices, or as stated; and the cost of carrying a message.

A call has no cost if its model has no price, or if it used a kind of tokens with an unknown price. Costs are never
guessed, and sums state how many calls they leave out. Only the cost of carrying a message along includes an estimate,
of its own tokens. It is labelled as an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.price_table import PriceError, PriceTable
from inspector.analysis.passes.tokens.reported_usage import CACHE_WRITE_1H, NOT_REPORTED, USAGE_KINDS, ReportedUsage
from inspector.analysis.passes.tokens.token_pass import TokenPass
from inspector.store.messages.capture import Capture


@dataclass(frozen=True, slots=True)
class CallCosts:
    """Dollars of some calls.

    Attributes:
        total: of all calls with a cost.
        parts: the same by kind of tokens, as in USAGE.
        calls, unpriced: number of calls with a cost, and without.
    """

    total: float
    parts: tuple[float, ...]
    calls: int
    unpriced: int

    def as_json(self) -> dict[str, Any]:
        """Returns the sums in dollars, rounded to 7 decimals."""
        parts = {name: round(part, 7) for name, part in zip(USAGE_KINDS, self.parts, strict=True)}
        return {"total": round(self.total, 7), **parts, "calls": self.calls, "unpriced": self.unpriced}


class DocumentCosts:
    """Costs of the calls of one document. O(calls of models) for each method except `total`.

    Attributes:
        dated: date of the prices, as the user wrote it.
    """

    def __init__(self, capture: Capture, usage: ReportedUsage, contexts: ContextPass, tokens: TokenPass) -> None:
        self._capture = capture
        self._usage = usage
        self._contexts = contexts
        self._tokens = tokens
        self._lines: tuple[str, ...] = ()
        self._table: PriceTable | None = None
        # by number of a stretch of calls: its edits, and its cost
        self._stretch_costs: dict[int, tuple[int, CallCosts | None]] = {}
        self.dated = ""

    def set_prices(self, lines: Iterable[str], dated: str) -> bool:
        """Replaces the prices; returns True if they changed."""
        given = tuple(lines), dated
        if given == (self._lines, self.dated):
            return False
        self._lines, self.dated = given
        self._table = None
        self._stretch_costs.clear()
        return True

    @property
    def has_prices(self) -> bool:
        """True if there are any prices."""
        return bool(len(self._prices))

    @property
    def _prices(self) -> PriceTable:
        # Parsed on demand: an imported list has thousands of lines.
        if self._table is None:
            try:
                self._table = PriceTable(self._lines)
            except PriceError:  # settings edited by hand; the settings page shows the error
                self._table = PriceTable()
        return self._table

    def dollars_at(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Returns (n,) dollars of the call that each message reports; NaN without a call or a price."""
        if not self.has_prices or not len(self._usage.columns):
            return np.full(len(rows), np.nan)
        return self._parts(rows).sum(axis=0)

    def costs_of(self, rows: NDArray[np.integer[Any]]) -> CallCosts | None:
        """Returns the costs of the calls that some messages report; None without prices or reports."""
        rows = (
            np.unique(rows[self._usage.numbers_at(USAGE_KINDS[0], rows) != NOT_REPORTED])
            if self.has_prices
            else NO_ROWS
        )
        if not len(rows):
            return None
        parts = self._parts(rows)
        priced = ~np.isnan(parts.sum(axis=0))
        sums = tuple(math.fsum(one) for one in parts[:, priced])
        return CallCosts(math.fsum(sums), sums, int(priced.sum()), int((~priced).sum()))

    def total(self) -> CallCosts | None:
        """Returns the costs of all calls. O(calls in stretches that changed since the last call of this)."""
        if not self.has_prices:
            return None
        found: list[CallCosts] = []
        for stretch, edits in enumerate(self._usage.edits):
            held = self._stretch_costs.get(stretch)
            if held is None or held[0] != edits:
                held = self._stretch_costs[stretch] = edits, self.costs_of(self._usage.reports(stretch))
            if held[1] is not None:
                found.append(held[1])
        if not found:
            return None
        parts = tuple(math.fsum(one) for one in zip(*(cost.parts for cost in found), strict=True))
        calls, unpriced = (sum(getattr(cost, name) for cost in found) for name in ("calls", "unpriced"))
        return CallCosts(math.fsum(parts), parts, calls, unpriced)

    def stated_dollars_at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns (n,) dollars that each message states; NaN if it states none."""
        found, dollars = self._capture.extracted.stated_costs(rows)
        stated = np.full(len(rows), np.nan)
        stated[np.isin(rows, found)] = dollars
        return stated

    def stated_total(self) -> float | None:
        """Returns dollars stated by sessions: each one's last total, else the sum of its calls; None without any."""
        rows, dollars = self._capture.extracted.stated_costs()
        if self._capture.has_copies and len(rows):
            own = ~self._capture.repeated_messages(rows)[1]
            rows, dollars = rows[own], dollars[own]
        if not len(rows):
            return None
        totals, spaces = self._capture.extracted.are_total_costs(rows), self._capture.columns["space"][rows]
        found = 0.0
        for space in np.unique(spaces).tolist():
            here = spaces == space
            if (here & totals).any():
                found += float(dollars[np.flatnonzero(here & totals)[-1]])
                continue
            calls = self._usage.calls_at(rows[here])
            # Several records may state the costs of one call; the last one counts.
            by_call = {call or -row: cost for row, call, cost in zip(
                rows[here].tolist(), calls.tolist(), dollars[here].tolist(), strict=True)}  # fmt: skip
            found += math.fsum(by_call.values())
        return found

    def models_without_price(self) -> list[str]:
        """Returns models of calls without a price, most frequent first; empty if there are no prices at all."""
        models = self._usage.calls_by_model() if self.has_prices else ()
        return [model for model in models if not self._prices.rates(model)]

    def by_model(self) -> dict[str, CallCosts]:
        """Returns the costs of each model's calls, highest first."""
        return self._costs_by_key(lambda rows: self._usage.words("model", rows))

    def by_participant(self) -> dict[str, CallCosts]:
        """Returns the costs of the calls that each participant's messages report, highest first."""
        return self._costs_by_key(lambda rows: self._capture.columns["sender"][rows])

    def by_node(self) -> NDArray[np.float64]:
        """Returns (nodes,) dollars of the calls in each context alone, without unpriced calls."""
        rows = self._usage.reports()
        sums = np.zeros(len(self._contexts.tree.parent))
        if self.has_prices and len(rows):
            nodes = self._contexts.nodes_of(rows)
            rows, nodes = rows[nodes != MAIN], nodes[nodes != MAIN]
            np.add.at(sums, nodes, np.nan_to_num(self.dollars_at(rows)))
        return sums

    def carried(self, message: int) -> CarryingCost | None:
        """Returns the cost of carrying a message along in its model's context, or None if unknown.

        Each later call in the same context adds its input cost times the message's share of its input (an estimate).
        The sum ends when calls begin to have less input, as after a compaction.
        """
        tokens, rows = int(self._tokens.columns["tokens"][message]), self._usage.reports()
        if tokens <= 0 or not self.has_prices or not len(rows):
            return None
        space, node = self._capture.columns["space"], self._contexts.nodes_of(np.array([message]))[0]
        later = rows[(rows > message) & (space[rows] == space[message])]
        later = later[self._contexts.nodes_of(later) == node]
        if not len(later):
            return None
        read = np.stack([self._usage.numbers_at(name, later) for name in _INPUT_KINDS]).sum(axis=0)
        shrunk = np.flatnonzero(np.diff(read) < -tokens)
        stop = int(shrunk[0]) + 1 if len(shrunk) else len(later)
        parts = self._parts(later[:stop])[[USAGE_KINDS.index(name) for name in _INPUT_KINDS]].sum(axis=0)
        shares = parts * np.minimum(tokens / np.maximum(read[:stop], 1), 1.0)
        if np.isnan(shares).any():
            return None
        return CarryingCost(tokens, stop, float(shares.sum()))

    def _costs_by_key(self, key: Callable[[Rows], NDArray[Any]]) -> dict[str, CallCosts]:
        rows = self._usage.reports()
        if not self.has_prices or not len(rows):
            return {}
        codes, strings = key(rows), self._capture.strings
        found = {strings[int(code)]: self.costs_of(rows[codes == code]) for code in np.unique(codes) if code}
        costs = {name: cost for name, cost in found.items() if cost is not None}
        return dict(sorted(costs.items(), key=lambda one: -one[1].total))

    def _parts(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Returns (4, n) dollars by kind of tokens; all NaN for a call without a cost. O(n models)."""
        tokens = np.stack([self._usage.numbers_at(name, rows) for name in _PRICED_KINDS])
        # Writes for an hour are part of `cache_write` in reports, and have a price of their own.
        tokens[USAGE_KINDS.index("cache_write")] -= np.maximum(tokens[-1], 0)
        reported, models = tokens[0] != NOT_REPORTED, self._usage.words("model", rows)
        read = tokens[[_PRICED_KINDS.index(name) for name in (*_INPUT_KINDS, CACHE_WRITE_1H)]].sum(axis=0)
        rates = np.full(tokens.shape, np.nan)
        for model in np.unique(models[reported & (models != 0)]).tolist() if self.has_prices else ():
            # Later tiers are for more input, and replace the prices of earlier ones.
            for tier in self._prices.rates(self._capture.strings[model]):
                prices = np.array(
                    [math.nan if (rate := getattr(tier, name)) is None else rate for name in _PRICED_KINDS]
                )
                rates[:, (models == model) & (read > tier.above if tier.above else reported)] = prices[:, None]
        parts = np.where(tokens > 0, tokens * rates / 1e6, 0.0)
        parts[:, ~reported | np.isnan(parts).any(axis=0) | np.isnan(rates).all(axis=0)] = np.nan
        parts[USAGE_KINDS.index("cache_write")] += parts[-1]
        return parts[: len(USAGE_KINDS)]


_PRICED_KINDS = (*USAGE_KINDS, CACHE_WRITE_1H)
_INPUT_KINDS = ("input", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True)
class CarryingCost:
    """Cost of carrying a message along.

    Attributes:
        tokens: its own, an estimate.
        calls: later calls with it in their input.
        dollars: its share of their cost, an estimate.
    """

    tokens: int
    calls: int
    dollars: float
