"""Rows of the facets: a head per field, its values, and a row that shows further values."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.requests.facets import ShownValue
from inspector.present import formats
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Check, Column, Layout, Row, Space, Text
from inspector.present.wire_text import safe_line

LAYOUT = Layout(((Column(gap=8), Column(width="auto", right=True)),), height="row")
"""Check box and value, and count."""


@dataclass(frozen=True, slots=True)
class FacetRow:
    """A row.

    Attributes:
        field: the facet.
        title: name of the facet in a head; number of further values in a row below them.
        value: of a value's row.
        is_more: True for the row that shows further values.
    """

    field: str
    title: str = ""
    value: ShownValue | None = None
    is_more: bool = False

    @property
    def is_head(self) -> bool:
        """True for the head of a facet."""
        return self.value is None and not self.is_more

    @property
    def key(self) -> tuple[str, bool, str | None]:
        """Identity of a head, a value or the row of further values, whatever its count."""
        return self.field, self.is_more, self.value and self.value.value

    @property
    def words(self) -> str:
        """The text, with control characters made visible."""
        return self.value.label or safe_line(self.value.value, 200) if self.value is not None else self.title


def facet_spec(row: FacetRow) -> Row:
    """Returns a row as shown in the list."""
    value = row.value
    if value is None:
        text = Text(row.title, "small", TERTIARY) if row.is_more else Text(row.title, "label", SECONDARY)
        cell = (Space(18), text) if row.is_more else (text,)
        return Row(row.key, ((cell,),), row.title, selectable=row.is_more)
    state = "on" if value.chosen else "excluded" if value.excluded else "off"
    ink = TERTIARY if value.excluded or not value.count else PRIMARY
    said = ", chosen" if value.chosen else ", hidden" if value.excluded else ""
    cells = (
        (Check(state), Text(row.words, "mono-row" if row.field == "tool" else "body", ink)),
        (Text(formats.number(value.count), "count", TERTIARY, "never"),),
    )
    return Row(
        row.key, (cells,), row.words,
        spoken=f"{row.words}, {formats.count_of(value.count, 'message')}{said}",
        tip=f"{value.value}\nClick to filter by it, Alt+click to hide it", checked=value.chosen,
    )  # fmt: skip
