"""Parses price lists of models, imports them, and looks up a model's rates; never guesses a price.

A line names a model and its prices in dollars a million tokens:

    my-model = 3 in, 15 out, 0.3 cache read, 3.75 cache write
    my-model above 200000 = 6 in, 22.5 out, 0.6 cache read, 7.5 cache write

The second applies to calls with more input tokens, caches included. Tokens written to a cache for an hour have their
own price, `6 cache write 1h`. A missing price is unknown, and calls that need it have no cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

_NAMES_BY_WORD = {"in": "input", "out": "output", "cache read": "cache_read", "cache write": "cache_write",
          "cache write 1h": "cache_write_1h"}  # fmt: skip
_WORDS_BY_NAME = {name: word for word, name in _NAMES_BY_WORD.items()}
_LINE = re.compile(r"\s*(?P<model>\S.*?)(?:\s+above\s+(?P<above>\d[\d_,]*))?\s*=\s*(?P<prices>.*)")
_PRICE = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s+(?P<word>in|out|cache\s+read|cache\s+write(?:\s+1h)?)\s*")
_VERSION_SUFFIX = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest))?(?:\[\d+[km]\])?$")
"""Suffix of a model name for its version or context length, which have no prices of their own."""
_VERSION_DOT = re.compile(r"(?<=\d)\.(?=\d)")
"""Dot of a version, which gateways write in names of models in place of the provider's dash."""
_MAX_LINES = 20_000
_LITELLM_KEYS = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
}
"""Keys of the price list that LiteLLM keeps (`model_prices_and_context_window.json`), in dollars a token."""
_LITELLM_TIER_KEY = re.compile(rf"(?P<key>{'|'.join(_LITELLM_KEYS)})_above_(?P<thousands>\d+)k_tokens")


class PriceError(ValueError):
    """An invalid price line or price file; the text is a sentence with the reason."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model, in dollars a million tokens; None if unknown.

    Attributes:
        above: input tokens of a call, caches included, above which they apply.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    above: int = 0


class PriceTable:
    """Prices by model.

    Args:
        lines: as written; blank ones and comments with # are skipped.

    Raises:
        PriceError: a line is invalid.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._rates: dict[str, list[Rates]] = {}
        for number, line in enumerate(lines, 1):
            if number > _MAX_LINES:
                raise PriceError(f"There are more than {_MAX_LINES:,} lines.")
            if line.strip() and not line.lstrip().startswith("#"):
                self._take(line, number)
        for rates in self._rates.values():
            rates.sort(key=lambda one: one.above)
        self._rates_by_short_name = _index_short_names(self._rates)

    def __len__(self) -> int:
        return len(self._rates)

    def rates(self, model: str) -> list[Rates]:
        """Returns the prices of a model, the tier for the most input last; empty if unknown.

        Looks up the reported name; else that name behind a provider's (`openai/gpt-5`) if all such entries agree; else
        the name without a date, `-latest` or `[1m]` at its end; else with a dash in place of the dot of a version.
        """
        # The exact name first: a dated entry may have prices of its own.
        undated = _VERSION_SUFFIX.sub("", model, count=1)
        for name in (model, undated, _VERSION_DOT.sub("-", undated)):
            found = (
                self._rates.get(name) or self._rates_by_short_name.get(name) or self._rates.get(name.rpartition("/")[2])
            )
            if found:
                return found
        return []

    def _take(self, line: str, number: int) -> None:
        found = _LINE.fullmatch(line)
        if found is None:
            raise PriceError(f"Line {number} has no `=`; write it as in {EXAMPLE_LINE}.")
        prices: dict[str, float] = {}
        for part in found["prices"].split(","):
            price = _PRICE.fullmatch(part)
            if price is None:
                what = part.strip()[:60] or "nothing"
                raise PriceError(f"Line {number}: {what} is no price; write it as in {EXAMPLE_LINE}.")
            prices[_NAMES_BY_WORD[" ".join(price["word"].split())]] = float(price["number"])
        above = int(re.sub(r"[_,]", "", found["above"])) if found["above"] else 0
        rates = self._rates.setdefault(found["model"], [])
        if any(one.above == above for one in rates):
            raise PriceError(f"Line {number}: {found['model'][:60]} has prices already.")
        rates.append(Rates(**prices, above=above))


EXAMPLE_LINE = "my-model = 3 in, 15 out, 0.3 cache read, 3.75 cache write"
"""An example line for the editor."""


def _index_short_names(rates: Mapping[str, list[Rates]]) -> dict[str, list[Rates]]:
    """Returns prices by names without a provider, if all providers have the same prices."""
    found: dict[str, list[Rates]] = {}
    differing: set[str] = set()
    for name, prices in rates.items():
        short = name.rpartition("/")[2]
        if found.setdefault(short, prices) != prices:
            # A model of two providers with different prices has no price without its provider.
            differing.add(short)
    return {short: prices for short, prices in found.items() if short not in differing}


def imported_lines(data: bytes) -> list[str]:
    """Converts a price list in LiteLLM's format, an object of models with costs a token, to lines.

    Raises:
        PriceError: the format is another, or no model has a price.
    """
    try:
        listed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PriceError(f"It is not JSON: {error}.") from None
    if not isinstance(listed, dict):
        raise PriceError("It is not a JSON object of models.")
    lines: list[str] = []
    for model, entry in cast("dict[str, Any]", listed).items():
        if isinstance(entry, dict) and model != "sample_spec" and _is_valid_name(model):
            lines += _lines_of_entry(model, cast("dict[str, Any]", entry))
    if not lines:
        raise PriceError("No model in it has a price: input_cost_per_token, output_cost_per_token or cache prices.")
    return lines[:_MAX_LINES]


def _is_valid_name(model: str) -> bool:
    """Tells if a line with this name can be parsed back."""
    found = _LINE.fullmatch(f"{model} = ")
    return found is not None and found["model"] == model and model.isprintable() and not model.startswith("#")


def _lines_of_entry(model: str, entry: dict[str, Any]) -> list[str]:
    tiers: dict[int, dict[str, float]] = {}
    for key, value in entry.items():
        above = _LITELLM_TIER_KEY.fullmatch(key)
        name = _LITELLM_KEYS.get(above["key"] if above else key)
        # The list states dollars per token, so one dollar or more is a mistake.
        if name is not None and isinstance(value, int | float) and 0 <= value < 1 and not isinstance(value, bool):
            tiers.setdefault(int(above["thousands"]) * 1_000 if above else 0, {})[name] = abs(value) * 1e6  # -0.0
    usual = tiers.get(0, {})
    return [_format_line(model, above, usual | prices) for above, prices in sorted(tiers.items()) if usual.get("input")]


def _format_line(model: str, above: int, prices: Mapping[str, float]) -> str:
    words = ", ".join(
        f"{_format_dollars(prices[name])} {_WORDS_BY_NAME[name]}" for name in _WORDS_BY_NAME if name in prices
    )
    return f"{model}{f' above {above}' if above else ''} = {words}"


def _format_dollars(dollars: float) -> str:
    return f"{dollars:.9f}".rstrip("0").rstrip(".")
