"""Columns of the message table: titles, masked cell texts, and the modes of the column Time."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable

from inspector.filters.field import Field, FieldType
from inspector.present import formats, wire_text
from inspector.present.message_row import RowContent
from inspector.protocol.secrets.masking import mask_secrets, mask_text, mask_value
from inspector.protocol.timestamps import NO_TIME


class Column(enum.IntEnum):
    """Columns from left to right."""

    GUTTER = 0
    NUMBER = 1
    TIME = 2
    FROM_TO = 3
    KIND = 4
    CONTEXT = 5
    MESSAGE = 6
    LATENCY = 7
    SIZE = 8


TITLES: tuple[str, ...] = ("", "No.", "Time", "From → To", "Kind", "Context", "Message", "Latency", "Size")
"""Column headers."""

NAMES: tuple[str, ...] = ("Marks", "Number", "Time", "From and to", "Kind", "Context", "Message", "Latency", "Size")
"""Column headers in words, for tooltips and screen readers."""

RIGHT_ALIGNED = frozenset({Column.NUMBER, Column.TIME, Column.LATENCY, Column.SIZE})

COLUMN_TEXTS: tuple[Callable[[RowContent], str], ...] = (
    lambda content: ", ".join(content.gutter_words),
    lambda content: content.number,
    lambda _content: "",  # the time also depends on the surrounding rows
    lambda content: content.from_to,
    lambda content: content.kind_text,
    lambda content: content.context,
    lambda content: content.text,
    lambda content: content.latency,
    lambda content: content.size,
)
"""Text of each cell by column, in the order of `Column`."""

_MAX_TEXT = 300
"""Limit of a cell in characters."""


def cell_text(field: Field, value: object, secret: str | None) -> str:
    """Formats a field's value for a cell, masked by `secret_at`; "" if absent."""
    if value is None or value == [] or value == ():
        return ""
    if secret is not None:
        return _value_text(mask_value(secret, value))
    if field.type is FieldType.TIME and isinstance(value, int):
        return (formats.log_moment if field.name == "time" else formats.time_of_day)(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if field.name == "latency":
            return formats.latency(round(value * 1_000_000))
        if field.name == "cost":
            return formats.dollars(value)
        if field.name == "size":
            return formats.size(int(value))
    return _value_text(mask_text(value) if isinstance(value, str) else mask_secrets(value))


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return wire_text.safe_line(value, _MAX_TEXT)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return wire_text.safe_line(", ".join(value[:_MAX_TEXT]), _MAX_TEXT)
    written = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        written += piece  # stop early for a long value
        if len(written) > _MAX_TEXT:
            break
    return wire_text.safe_line(written, _MAX_TEXT)


TIME_MODES: tuple[tuple[str, str], ...] = (
    ("start", "Since the first message"),
    ("clock", "Time of day"),
    ("previous", "Since the message above"),
    ("mark", "Since the chosen message"),
)
"""Setting ids, with their words in menus."""

_TITLES = {"start": "Time", "clock": "Time of day", "previous": "Interval"}
_WORDS = {"start": "Time since the first message", "clock": "Time of day", "previous": "Time since the message above"}


class TimeColumn:
    """Texts of the column Time, which also depend on the surrounding rows.

    Attributes:
        reference: message whose time is zero, if chosen.
        start_ns: time of the first message with a time; `NO_TIME` without one.
    """

    def __init__(self, time_of: Callable[[int], int], message_above: Callable[[int], int | None]) -> None:
        """Counts from the first message.

        Args:
            time_of: returns the time of a message in nanoseconds, or `NO_TIME`.
            message_above: returns the message above a shown one, or None.
        """
        self._time, self._message_above = time_of, message_above
        self.start_ns = NO_TIME
        self._mode = "start"
        self.reference: int | None = None

    @property
    def mode(self) -> str:
        """Effective mode; without a reference, times count from the first message."""
        return "start" if self._mode == "mark" and self.reference is None else self._mode

    def set_mode(self, mode: str, reference: int | None) -> bool:
        """Sets the mode.

        Args:
            mode: an id of TIME_MODES.
            reference: zero message of the mode "mark".

        Returns:
            True if texts change.
        """
        before = (self.mode, self.reference)
        self._mode, self.reference = mode, reference
        return before != (self.mode, self.reference)

    @property
    def title(self) -> str:
        """Header of the column."""
        return (
            f"Since {self.reference + 1}" if self.mode == "mark" and self.reference is not None else _TITLES[self.mode]
        )

    @property
    def title_words(self) -> str:
        """Header in words."""
        if self.mode == "mark" and self.reference is not None:
            return f"Time since {formats.message_number(self.reference)}"
        return _WORDS[self.mode]

    def text(self, message: int) -> str:
        """Returns the time of a shown message; "" if it or its zero is unknown. O(log rows)."""
        time_ns, mode = self._time(message), self.mode
        if mode == "clock":
            # A log that counts from its own start has no time of day.
            return formats.time_of_day(time_ns) if formats.is_dated(time_ns) else formats.table_time(time_ns, 0)
        if mode == "start":
            return formats.table_time(time_ns, self.start_ns)
        since = self.reference if mode == "mark" else self._message_above(message)
        return "" if since is None else formats.table_time(time_ns, self._time(since))

    def tool_tip(self, message: int) -> str:
        """Returns date and time of a message, and the time since the first one; "" if unknown."""
        time_ns = self._time(message)
        if time_ns == NO_TIME or (formats.is_dated(time_ns) and not formats.clock(time_ns)):
            return ""
        since = formats.table_time(time_ns, self.start_ns)
        day = f"{formats.day_and_time(time_ns)}\n" if formats.is_dated(time_ns) else ""
        return f"{day}{formats.with_unit(since)} since the first message" if since else ""
