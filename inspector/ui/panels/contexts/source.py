"""Row specifications of the context tree: chevron, state, label, problems, tokens, counts (docs/design.md 14)."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import TYPE_CHECKING

from inspector.present.formats import short_count
from inspector.present.rows import (
    AUTO,
    PRIMARY,
    SECONDARY,
    TERTIARY,
    Cell,
    Column,
    Dot,
    Icon,
    Layout,
    Part,
    Row,
    Space,
    Spot,
    Text,
)
from inspector.present.sources import FAULTY_STATES, GROWING_STATES, token_of

if TYPE_CHECKING:
    from inspector.ui.panels.contexts.model import ContextTreeModel

CHEVRON_X = 14
"""Centre of the chevron in pixels at 100 %, from the left edge of the row's level."""
TOKENS_MIN_WIDTH = 250
"""Width from which a second number leaves labels readable, pixels at 100 %."""
_USAGE_MIN_WIDTH = 380
"""Width from which reported usage is shown in three numbers, pixels at 100 %."""
_CHEVRON, _INDENT, _ICON = 16, 14, 12
_ALIKE = 12
"""Characters that the beginnings of neighbouring labels share, so that their ends are shown."""
_MAX_INDENT_LEVEL = 18
"""Most indented levels; deeper labels would have no width left."""
# The widest result of `short_count`, so that columns are aligned.
_WIDEST_TOKENS = "999.9k"


class ContextSource:
    """Rows of a `ContextTreeModel`, by code. A hidden row is represented by its nearest visible ancestor."""

    def __init__(self, model: ContextTreeModel) -> None:
        self._model = model
        self._layout: tuple[object, Layout] = None, Layout()

    def __len__(self) -> int:
        return len(self._model.rows)

    def key_at(self, row: int) -> Hashable:
        return self._model.code(row)

    def row_of(self, key: Hashable) -> int:
        assert isinstance(key, int)
        rows = self._model.rows
        # Contexts may have been merged.
        code = rows.code_of(rows.space_of(key), key) if key >= 0 else key
        return rows.shown_row(key if code is None else code)

    # Columns

    @property
    def token_units(self) -> tuple[str, ...]:
        """Words behind the numbers of tokens; the numbers leave room for labels."""
        model, room = self._model, self._model.room
        units: list[str] = []
        if model.shows_usage:
            if room >= _USAGE_MIN_WIDTH:
                units += [" in", " cached", " out"]
            elif room >= TOKENS_MIN_WIDTH or model.is_usage_asked:
                units.append(" used" if room >= TOKENS_MIN_WIDTH else "")
        if model.shows_tokens and (not units or room >= _USAGE_MIN_WIDTH):
            units.append(" tok" if room >= TOKENS_MIN_WIDTH else "")
        return tuple(units)

    @property
    def layout(self) -> Layout:
        units, most = self.token_units, self._model.most_messages
        if self._layout[0] != (units, most):
            signs = Column(width=AUTO, right=True, gap=8)
            tokens = [
                Column(width=f"{_WIDEST_TOKENS}{unit}", font="count", right=True, gap=8 if last else 4)
                for unit, last in zip(units, [False] * (len(units) - 1) + [True], strict=False)
            ]
            count = Column(width=f"{most:,}" if units else AUTO, font="count", right=True)
            columns = (Column(gap=4), signs, *tokens, count)
            self._layout = (units, most), Layout((columns,), height="row", left=0, least=64)
        return self._layout[1]

    # Rows

    def spec(self, row: int) -> Row:
        model = self._model
        count: Cell = (Text(f"{model.count(row):,}", "count", TERTIARY, "never"),)
        return Row(
            model.code(row),
            ((self._tree_cell(row), self._signs(row), *self._tokens(row), count),),
            model.label(row),
            described=model.describe(row),
            indent=min(model.depth(row), _MAX_INDENT_LEVEL) * _INDENT,
            expanded=model.is_expanded(row) if model.has_children(row) else None,
        )

    def _tree_cell(self, row: int) -> Cell:
        model = self._model
        chevron = "" if not model.has_children(row) else "collapse" if model.is_expanded(row) else "expand"
        begin: tuple[Part, ...] = (
            Space(CHEVRON_X - _CHEVRON // 2), Icon(chevron, SECONDARY, _CHEVRON, advance=_CHEVRON),
        )  # fmt: skip
        source, state = model.source_of(row), model.state(row)
        if source is not None:
            mark: Part = Dot("active" if state in GROWING_STATES else "concluded", advance=18, halo=0.0)
            if state in FAULTY_STATES:
                mark = Icon("error", "severity.error", _ICON, advance=18, shift=1)
            return *begin, mark, Spot(token_of(source), advance=12), self._label(row, "body-strong", PRIMARY)
        if model.node(row) is None:
            return *begin, Icon("space", advance=21, shift=1), self._label(row, "body-strong", PRIMARY)
        halo = model.halos.halo(model.code(row), time.monotonic()) if state == "active" else 0.0
        implicit, ended = model.is_implicit(row), state in ("concluded", "cancelled")
        reasoning = [Icon("reasoning", "family.reasoning", advance=18)] if model.is_reasoning(row) else []
        ink = SECONDARY if ended else TERTIARY if implicit else PRIMARY
        dot = Dot(state, advance=18, implicit=implicit, halo=halo)
        return *begin, dot, *reasoning, self._label(row, "body", ink)

    def _label(self, row: int, font: str, ink: str) -> Text:
        model = self._model
        text, needle = model.label(row), model.needle
        at = text.casefold().find(needle) if needle and model.node(row) is not None else -1
        lit = tuple(range(at, at + len(needle))) if at >= 0 else ()
        # Words are elided at the end, ids and labels with a common beginning in the middle.
        by_both_ends = model.is_raw_id(row) or self._begins_like_neighbour(row)
        return Text(text, font, ink, "middle" if by_both_ends else "right", lit=lit)

    def _begins_like_neighbour(self, row: int) -> bool:
        model = self._model
        begin = model.label(row)[:_ALIKE]
        near = (one for one in (row - 1, row + 1) if 0 <= one < model.rowCount())
        return len(begin) == _ALIKE and any(model.label(one).startswith(begin) for one in near)

    def _signs(self, row: int) -> Cell:
        """Returns the mark or comment, and the worst problem of the subtree with the number if there is room.

        Notes have no icon here: it would be in every other row.
        """
        model, signs = self._model, list[Part]()
        note, tally = model.note(row), model.tally(row)
        if note:
            signs.append(Icon("mark" if note.marked else "comment", "accent.text", _ICON, advance=16))
        if tally.problems and tally.worst is not None:
            ink = f"severity.{tally.worst.word}"
            signs.append(Icon(tally.worst.word, ink, _ICON, advance=_ICON))
            # Spaces always show the count: their sum is the status bar's figure.
            if model.node(row) is None or model.room >= TOKENS_MIN_WIDTH:
                signs += [Space(3), Text(f"{tally.problems:,}", "count", ink, "never")]
        return tuple(signs)

    def _tokens(self, row: int) -> list[Cell]:
        model, used = self._model, self._model.reported(row)
        values = {" in": used.input, " cached": used.cached, " out": used.output, " tok": model.token_count(row)}
        total = sum(used) if model.shows_usage else model.token_count(row)
        return [
            (Text(f"{short_count(values.get(unit, total))}{unit}", "count", SECONDARY, "never"),)
            for unit in self.token_units
        ]
