"""Facts: rows of a name and a value, with links. Front ends decide about painting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from inspector.present.places import Place
from inspector.protocol.payloads.outline import Line, outline_lines

Ink = Literal["plain", "mono", "dim", "mono-dim", "strong", "link", "good", "bad", "warn"]


@dataclass(frozen=True, slots=True)
class FactPart:
    """A part of a value."""

    text: str
    ink: Ink = "plain"
    message: int | None = None
    """Target message of a link."""
    place: Place | None = None
    """Target context or participant of a link."""

    @property
    def is_link(self) -> bool:
        """Returns True if it is a link."""
        return self.message is not None or self.place is not None


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a name and a value.

    Attributes:
        name: at the left; "" gives the value the full width.
        parts: the value; only a single part wraps.
        lines: number of lines shown before expansion.
        middle: elides ids in the middle.
        tooltip: plain text; None shows the value if it is truncated.
        copy: clipboard text; the value by default.
        filter: display filter for the value.
        mono_name: the name is a key from the wire.
        right: text at the right end of a one-line row.
        indent: nesting level of a key.
        right_message: target message of `right`.
        name_ink: style of the name; None for the default.
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
    """Returns a row with one value; `more` as in Fact."""
    return Fact(name, (FactPart(value, ink),), **more)  # pyright: ignore[reportArgumentType] - attributes of Fact


def message_part(message: int) -> FactPart:
    """Returns a link to a message."""
    return FactPart(f"No. {message + 1}", "link", message)


def words_fact(text: str, *, lines: int = 6) -> Fact:
    """Returns a sentence over the full width."""
    return fact("", text, "plain", lines=lines)


_MOST_FACTS = 60


def value_facts(values: Mapping[str, Any], *, lines: int = 4, skip: Sequence[str] = ()) -> list[Fact]:
    """Returns the members of a JSON object as rows in mono, nested ones indented; at most 60 rows."""
    # A payload may have thousands of members; the tree shows them all.
    shown, hidden = outline_lines({key: value for key, value in values.items() if key not in skip}, _MOST_FACTS)
    rows = [_line_fact(line, lines) for line in shown]
    if hidden > 0:
        rows.append(fact("", f"{hidden} more, see Tree", "dim"))
    return rows


def _line_fact(line: Line, lines: int) -> Fact:
    more = {"mono_name": True, "indent": line.depth, "copy": line.copy}
    return fact(line.name, line.text, "dim", **more) if line.group else fact(
        line.name, line.text, "mono", lines=lines, **more
    )  # fmt: skip
