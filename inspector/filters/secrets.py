"""Detects secrets in display filters, which must not be written to files."""

from __future__ import annotations

import re

from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.protocol.secrets.key_shapes import contains_key
from inspector.protocol.secrets.masking import is_secret_key, mask_text

_COMPARES = re.compile(r"[=<>~\"'{]|\b(?:like|in|contains|matches)\b", re.IGNORECASE)
"""A filter without any of these only tests presence."""
_BETWEEN_VALUES = re.compile(r"[\s\"'^$*?|,(){}\[\]]+")
"""Separators between values, and characters that patterns put around them; no token contains them."""
_MOST_DECIDED = 1_000

_cached_decisions: dict[str, bool] = {}


def filter_holds_secret(text: str, compiled: DisplayFilter | None = None) -> bool:
    """Returns True if a filter contains a token, or compares a field with a secret's name to a value.

    Results are cached, since the settings are saved with each applied filter.

    Args:
        text: the filter, valid or not.
        compiled: the compiled filter, if the caller has it.
    """
    known = _cached_decisions.get(text)
    if known is None:
        if len(_cached_decisions) >= _MOST_DECIDED:
            _cached_decisions.clear()
        known = _cached_decisions[text] = _holds_token(text) or _compares_secret(text, compiled)
    return known


def _holds_token(text: str) -> bool:
    return mask_text(text) != text or any(map(contains_key, _BETWEEN_VALUES.split(text)))


def _compares_secret(text: str, compiled: DisplayFilter | None) -> bool:
    if _COMPARES.search(text) is None:
        return False
    try:
        fields = (compiled or compile_filter(text, selected_context="context")).fields
    except FilterError:
        # A text that is no filter has no comparison.
        return False
    return any(is_secret_key(part.strip('"')) for name in fields for part in name.split("."))
