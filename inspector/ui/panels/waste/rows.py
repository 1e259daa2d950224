"""Rows of the waste panel: words for each case, and filters for its messages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from inspector.engine.requests.waste import Waste, WasteKind
from inspector.present import formats
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Cell, Column, Layout, Row, Text
from inspector.present.wire_text import excerpt, safe_line
from inspector.ui.panels.list_panel import ShownMessages
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE

PERHAPS = "(likely)"
_SURE, _UNSURE = "Certain: the traffic shows it.", "It may be intended, or rests on an assumption."
FILTERED_MOST = 50
"""Maximum of messages in one filter."""


@dataclass(frozen=True, slots=True)
class WasteLine:
    """A row as texts.

    Attributes:
        tokens: number with thousands separators.
        kind: the kind of waste.
        about: the tool, or the participant whose context it is.
        mono: True if `about` is a tool.
        number: "No. 12".
    """

    tokens: str
    kind: str
    sure: bool
    sentence: str
    advice: str
    about: str
    mono: bool
    number: str

    @property
    def words(self) -> str:
        """The kind, marked if it is only likely."""
        return self.kind if self.sure else f"{self.kind} {PERHAPS}"

    @property
    def copied(self) -> str:
        """The row as text separated by tabs."""
        return "\t".join((self.tokens, self.words, self.about, self.number, self.sentence, self.advice))


def waste_line(one: Waste) -> WasteLine:
    return WasteLine(
        formats.number(one.tokens), one.kind.value, one.sure, excerpt(one.sentence, 600), excerpt(one.advice, 600),
        safe_line(one.tool or one.participant or "", 120), one.tool is not None, formats.message_number(one.message),
    )  # fmt: skip


def filter_for(wastes: Sequence[Waste]) -> str:
    """Returns the display filter for the messages of some cases, for at most `FILTERED_MOST` messages."""
    messages = dict.fromkeys(row for one in wastes for row in (one.message, *one.messages))
    return f"no in {{{', '.join(str(row + 1) for row in sorted(list(messages)[:FILTERED_MOST]))}}}"


_WIDEST_KIND = f"{max((kind.value for kind in WasteKind), key=len)} {PERHAPS}"
LAYOUT = Layout(((
    Column("Tokens", "8,888,888", font="number", right=True, gap=20),
    Column("Kind", _WIDEST_KIND, from_width=440, gap=20),
    Column("Case"),
    Column("By", 120, from_width=680, wide=210, wide_from=1150),
    Column("No.", "No. 00000", font="number", right=True),
),))  # fmt: skip
"""Tokens and sentence have priority in narrow views."""


class WasteRows:
    """Listed cases.

    Attributes:
        wastes: by row.
    """

    layout = LAYOUT

    def __init__(self, shown: ShownMessages) -> None:
        self.wastes: Sequence[Waste] = ()
        self._shown = shown
        self._row_of: dict[Hashable, int] = {}

    def replace_rows(self, wastes: Sequence[Waste]) -> None:
        self.wastes = wastes
        self._row_of = {key_of(one): row for row, one in enumerate(wastes)}

    def __len__(self) -> int:
        return len(self.wastes)

    def key_at(self, row: int) -> Hashable:
        return key_of(self.wastes[row])

    def row_of(self, key: Hashable) -> int:
        return self._row_of.get(key, -1)

    def spec(self, row: int) -> Row:
        one = self.wastes[row]
        self._shown.request_rows(near.message for near in self.wastes[max(0, row - BEFORE) : row + AFTER])
        line, hidden = waste_line(one), self._shown.row_of(one.message) is None
        first, second = (TERTIARY, TERTIARY) if hidden else (PRIMARY, SECONDARY)
        # Certain cases stand out; likely ones are dimmed.
        tokens = Text(line.tokens, "number", first if line.sure else second, "never")
        kind: Cell = (Text(line.kind, ink=second, space=6),)
        if not line.sure:
            kind = (*kind, Text(PERHAPS, "small", TERTIARY, "never"))
        # The tooltip has the advice in any case.
        case = (Text(line.sentence, ink=first, space=10), Text(line.advice, ink=TERTIARY, least=160))
        about = (Text(line.about, "mono-row" if line.mono else "body", second),)
        number = (Text(line.number, "number", "accent.text", "never"),)
        certain = _SURE if line.sure else _UNSURE
        count = formats.count_of(one.tokens, "token")
        spoken = (count, line.words, line.sentence, line.advice, line.about, line.number,
                  "hidden by the view" if hidden else "")  # fmt: skip
        return Row(
            key_of(one), (((tokens,), kind, case, about, number),), line.sentence,
            spoken=", ".join(filter(None, spoken)),
            tip=f"{line.sentence}\n\n{line.advice}\n\n{certain} {line.number}",
            copied=line.copied, message=one.message,
        )  # fmt: skip


def key_of(one: Waste) -> Hashable:
    return one.kind.name, one.message
