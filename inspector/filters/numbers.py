"""Number literals of the filter language and their units.

A number is a decimal integer or fraction, optionally with an exponent, and an optional unit after an optional space. `k
M G` multiply by 1,000 each and fit every number. Sizes also take `B kB MB GB` (powers of 1,000) and `KiB MiB GiB`
(powers of 1,024); time differences also take `ns us ms s min h`. A number without a unit is in the field's own unit:
bytes or milliseconds.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t]*([A-Za-z]*)")
_MAX_DIGITS = 40

MULTIPLIERS = {"": Fraction(1), "k": Fraction(1000), "M": Fraction(1000**2), "G": Fraction(1000**3)}
BYTES = MULTIPLIERS | {
    "B": Fraction(1),
    "kB": Fraction(1000),
    "KB": Fraction(1000),
    "MB": Fraction(1000**2),
    "GB": Fraction(1000**3),
    "KiB": Fraction(1024),
    "MiB": Fraction(1024**2),
    "GiB": Fraction(1024**3),
}
MILLISECONDS = MULTIPLIERS | {
    "ns": Fraction(1, 1_000_000),
    "us": Fraction(1, 1000),
    "ms": Fraction(1),
    "s": Fraction(1000),
    "min": Fraction(60_000),
    "h": Fraction(3_600_000),
}
UNITS_OF_FIELD = {
    "size": BYTES,
    **dict.fromkeys(("latency", "first_token", "http.first_ms", "http.whole_ms"), MILLISECONDS),
}
"""Units by field; all other numbers are counts."""

_SMALL_DURATION = 100
"""Below this, a number without a unit may be meant in seconds instead of milliseconds."""
SPACED_UNIT = rf"(?:{'|'.join(sorted({*BYTES, *MILLISECONDS} - {''}))})(?![\w.$-])"
"""Regular expression of a unit after a space."""

_KNOWN_UNITS = frozenset(BYTES) | frozenset(MILLISECONDS)


def split_number(text: str) -> tuple[int | float, str] | None:
    """Splits a number from its unit; returns None without a known unit.

    Raises:
        ValueError: the number is too long or too large.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or found[2] not in _KNOWN_UNITS:
        return None
    digits, unit = found[1], found[2]
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"The number is longer than {_MAX_DIGITS} characters.")
    if re.fullmatch(r"[+-]?[0-9]+", digits):
        return int(digits), unit
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("The number is too large.")
    return value, unit


def scale_number(value: float, unit: str, field: str) -> int | float | None:
    """Converts a number to the field's unit, to an integer if exact; None if the unit does not fit the field."""
    factor = units_of(field).get(unit)
    if factor is None:
        return None
    if factor == 1:
        return value
    # By its shortest text: as a binary fraction, 0.1 is slightly more than a tenth.
    exact = Fraction(value) * factor if isinstance(value, int) else Fraction(repr(value)) * factor
    return exact.numerator if exact.denominator == 1 else float(exact)


def unit_missing(value: float, unit: str, field: str) -> bool:
    """Returns True for a duration without a unit that is small enough to be meant in seconds."""
    return (
        not unit and 0 < abs(value) < _SMALL_DURATION and units_of(field) is MILLISECONDS and not field.endswith("_ms")
    )


def units_of(field: str) -> dict[str, Fraction]:
    """Returns the units of a field, each with its factor to the field's own unit."""
    return UNITS_OF_FIELD.get(field, MULTIPLIERS)
