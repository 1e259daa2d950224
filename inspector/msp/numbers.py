"""Numbers of a JSON text that Python's own cannot hold as they are written, so that a copy says what was said."""

from __future__ import annotations

from typing_extensions import override

_MOST_DIGITS = 4_000
"""Of a whole number; Python refuses to read much longer ones."""


class WrittenNumber(float):
    """A number with the text it was written as: out of range, finer than a float, or of uncommon spelling."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        """The nearest float, which may be infinite."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @override
    def __reduce__(self) -> tuple[type[WrittenNumber], tuple[str]]:
        return WrittenNumber, (self.text,)


def read_float(text: str) -> float:
    """A number with a fraction or an exponent; one that keeps its text where another would be written."""
    number = float(text)
    return number if repr(number) == text else WrittenNumber(text)


def read_int(text: str) -> int | float:
    """A whole number of whatever length."""
    return int(text) if len(text) <= _MOST_DIGITS else WrittenNumber(text)
