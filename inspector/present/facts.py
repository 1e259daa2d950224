"""Facts: names and values, one pair a row, with what they lead to. How a front end paints them is its own affair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from inspector.present.subject import Place
from inspector.protocol.payloads.outline import Line, outline

Ink = Literal["plain", "mono", "dim", "mono-dim", "strong", "link", "good", "bad", "warn"]


@dataclass(frozen=True, slots=True)
class FactPart:
    """A stretch of a value."""

    text: str
    ink: Ink = "plain"
    message: int | None = None
    """A message it leads to."""
    place: Place | None = None
    """A context or participant it leads to."""

    @property
    def leads(self) -> bool:
        """Whether it is a link."""
        return self.message is not None or self.place is not None


@dataclass(frozen=True, slots=True)
class Fact:
    """A row.

    Attributes:
        name: at the left; "" gives the value the whole width.
        parts: the value; only one with a single part wraps.
        lines: how many lines it may take at first; opening it shows all.
        middle: elide ids in the middle.
        tooltip: plain text; None shows the value where it is cut.
        copy: what copying gives, the value by default.
        filter: a display filter this value stands for.
        mono_name: the name is a key of the wire.
        right: set at the right end of a row with one line.
        indent: levels the name is set in by: a key inside the value above.
        right_message: a message that `right` leads to.
        name_ink: how the name looks, where not as usual.
    """

    name: str
    parts: tuple[FactPart, ...]
    lines: int = 1
    middle: bool = False
    tooltip: str | None = None
    copy: str | None = None
    filter: str | None = None
    mono_name: bool = False
    right: str = ""
    indent: int = 0
    right_message: int | None = None
    name_ink: Ink | None = None

    @property
    def value(self) -> str:
        """The value as text."""
        return "".join(part.text for part in self.parts)


def fact(name: str, value: str, ink: Ink = "plain", **more: object) -> Fact:
    """A row with one value; `more` as in Fact."""
    return Fact(name, (FactPart(value, ink),), **more)  # pyright: ignore[reportArgumentType]


def message_part(message: int) -> FactPart:
    """A link to a message."""
    return FactPart(f"No. {message + 1}", "link", message)


def words_fact(text: str, *, lines: int = 6) -> Fact:
    """A sentence over the whole width."""
    return fact("", text, "plain", lines=lines)


_MOST_FACTS = 60


def value_facts(values: Mapping[str, Any], *, lines: int = 4, skip: Sequence[str] = ()) -> list[Fact]:
    """A JSON object as names and values in mono, what is nested below its name; at most 60 rows."""
    shown, hidden = outline({key: value for key, value in values.items() if key not in skip}, _MOST_FACTS)
    rows = [_line_fact(line, lines) for line in shown]
    if hidden > 0:
        rows.append(fact("", f"{hidden} more, see Tree", "dim"))
    return rows


def _line_fact(line: Line, lines: int) -> Fact:
    more = {"mono_name": True, "indent": line.depth, "copy": line.copy}
    return fact(line.name, line.text, "dim", **more) if line.group else fact(
        line.name, line.text, "mono", lines=lines, **more
    )  # fmt: skip
