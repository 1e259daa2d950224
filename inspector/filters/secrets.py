"""Whether a display filter holds a secret, so that it may be written to no file."""

from __future__ import annotations

import re

from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.protocol.secrets.masking import is_secret_key, mask_text
from inspector.protocol.secrets.shapes import names_a_key

_COMPARES = re.compile(r"[=<>~\"'{]|\b(?:like|in|contains|matches)\b", re.IGNORECASE)
"""Without any of it a filter only asks whether a field is there."""
_BETWEEN_VALUES = re.compile(r"[\s\"'^$*?|,(){}\[\]]+")
"""What stands between values, and what patterns put around them: no token holds any of it."""
_MOST_DECIDED = 1_000

_decided: dict[str, bool] = {}


def filter_holds_secret(text: str, compiled: DisplayFilter | None = None) -> bool:
    """Whether a filter holds a token, or compares something that is called one with a value.

    The settings are written with each filter that is applied, so that what was decided is kept.

    Args:
        text: the filter; it need not be one that compiles.
        compiled: the same compiled, where it was compiled anyway.
    """
    known = _decided.get(text)
    if known is None:
        if len(_decided) >= _MOST_DECIDED:
            _decided.clear()
        known = _decided[text] = _holds_token(text) or _compares_secret(text, compiled)
    return known


def _holds_token(text: str) -> bool:
    return mask_text(text) != text or any(map(names_a_key, _BETWEEN_VALUES.split(text)))


def _compares_secret(text: str, compiled: DisplayFilter | None) -> bool:
    if _COMPARES.search(text) is None:
        return False
    try:
        fields = (compiled or compile_filter(text, selected_context="context")).fields
    except FilterError:
        return False
    return any(is_secret_key(part.strip('"')) for name in fields for part in name.split("."))
