"""Rows of two aligned runs: steps side by side, folded equal stretches, and differing lines below a step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.engine.requests.run_comparisons import DifferenceClass, DifferenceLine, StepKind
from inspector.present import formats
from inspector.present.rows import (
    EMPTY,
    PRIMARY,
    SECONDARY,
    TERTIARY,
    Cell,
    Column,
    Icon,
    Layout,
    Pill,
    Row,
    Space,
    Tag,
    Text,
)
from inspector.ui.panels.compare.class_looks import look_of

LEAST_FOLD = 3
"""Shortest stretch of equal steps that is folded."""
LINE_INDENT = 22
"""Room before a line of a difference, pixels at 100 %."""
_INDENT = 16
_DEEPEST = 8
_FOLD, _STEP, _LINE = 0, 1, 2
_ICONS = {
    StepKind.PROMPT: "ri.user-line", StepKind.ANSWER: "ri.chat-1-line", StepKind.THOUGHT: "ri.lightbulb-line",
    StepKind.CALL: "ri.arrow-right-up-line", StepKind.COMPACTION: "ri.stack-line", StepKind.MODEL: "ri.mind-map",
}  # fmt: skip
_LINE_LOOKS = {
    "same": ("", ""), "changed": ("badge.transient", "\N{ALMOST EQUAL TO} changed"),
    "removed": ("severity.error", "\N{MINUS SIGN} only in A"), "added": ("badge.consumed", "+ only in B"),
}  # fmt: skip
"""Colour and words of a line of a difference."""
_OTHER_ICON = "ri.file-list-3-line"
Numbers = NDArray[np.int64]


class Entry(NamedTuple):
    """A row of the list.

    Attributes:
        what: a fold, a step or a line of a difference.
        place: row of the comparison; first one of a fold.
        extra: the row after a fold; number of a line.
    """

    what: int
    place: int
    extra: int

    @property
    def is_step(self) -> bool:
        return self.what == _STEP

    @property
    def is_fold(self) -> bool:
        return self.what == _FOLD


def layout_of(titles: tuple[str, str]) -> Layout:
    """Returns the columns of two lanes: number and text of each, and the class between them."""
    return Layout(
        ((
            Column(width="000,000", font="number", right=True), Column(titles[0], gap=14), Column(width=124, gap=4),
            Column(width="000,000", font="number", right=True), Column(titles[1]),
        ),),
        height="row",
    )  # fmt: skip


class Lanes(Protocol):
    """Two aligned lists; arrays as in `ComparedRuns`."""

    @property
    def classes(self) -> NDArray[np.uint8]: ...
    @property
    def depths(self) -> NDArray[np.uint8]: ...
    @property
    def kinds(self) -> NDArray[np.uint8]: ...
    @property
    def messages(self) -> NDArray[np.int64]: ...


class LaneText(Protocol):
    """A row in words, as `ComparedRow`."""

    @property
    def row(self) -> int: ...
    @property
    def sides(self) -> tuple[str, str]: ...
    @property
    def text(self) -> str: ...


class LaneRows:
    """Source of the rows of two lanes.

    Attributes:
        tags: words before the text of some rows.
    """

    def __init__(
        self, compared: Lanes | None, describe: Callable[[int], LaneText | None],
        titles: tuple[str, str] = ("", ""), noun: str = "step",
    ) -> None:  # fmt: skip
        """Folds all equal stretches.

        Args:
            compared: the lanes; None for none.
            describe: returns a row in words, or None until it has arrived.
            titles: of the lanes.
            noun: names a row.
        """
        self.layout = layout_of(titles)
        self.compared, self._describe, self._noun = compared, describe, noun
        self._lines: dict[int, Sequence[DifferenceLine]] = {}  # below rows
        self.tags: dict[int, str] = {}
        self.classes = np.zeros(0, np.uint8) if compared is None else compared.classes
        self._opened: set[int] = set()  # folds, by their first rows
        self._shown: frozenset[int] = frozenset()
        self._entries: NDArray[np.int64] = np.zeros((0, 3), np.int64)
        self._folds: NDArray[np.int64] = np.zeros((0, 2), np.int64)
        self._build()

    # Folding

    @property
    def differing(self) -> Numbers:
        """Rows of the comparison that differ, without filtered ones."""
        return np.flatnonzero(self._stands_out)

    def filter_classes(self, shown: frozenset[int]) -> None:
        """Folds differences of other classes too; without classes all are shown."""
        self._shown = shown
        self._build()

    def switch_fold(self, place: int) -> None:
        """Opens a folded stretch, or folds it."""
        self._opened ^= {place}
        self._build()

    def reveal(self, place: int) -> None:
        """Opens the folded stretch that contains a row."""
        for start, stop in self._folds[(self._folds[:, 0] <= place) & (self._folds[:, 1] > place)].tolist():
            if start not in self._opened and stop > place:
                self.switch_fold(start)

    def lines_of(self, place: int) -> Sequence[DifferenceLine] | None:
        """Returns the lines shown below a row, or None."""
        return self._lines.get(place)

    @property
    def places_with_lines(self) -> list[int]:
        """Rows with lines below them."""
        return list(self._lines)

    def show_lines(self, place: int, lines: Sequence[DifferenceLine] | None) -> None:
        """Shows lines below a row; None removes them."""
        self._lines.pop(place, None)
        if lines is not None:
            self._lines[place] = lines
        self._build()

    def _build(self) -> None:
        count = len(self.classes)
        self._stands_out = self.classes != DifferenceClass.SAME
        if self._shown:
            self._stands_out &= np.isin(self.classes, list(self._shown))
        plain = np.concatenate(([False], ~self._stands_out, [False]))
        edges = np.flatnonzero(np.diff(plain.astype(np.int8))).reshape(-1, 2)
        self._folds = edges[edges[:, 1] - edges[:, 0] >= LEAST_FOLD]
        visible = np.zeros(count + 1, np.int64)
        closed = self._folds[~np.isin(self._folds[:, 0], list(self._opened))]
        np.add.at(visible, closed[:, 0], 1)
        np.add.at(visible, closed[:, 1], -1)
        steps = np.flatnonzero(np.cumsum(visible[:-1]) == 0)
        parts = [
            np.stack((np.full(len(self._folds), _FOLD), self._folds[:, 0], self._folds[:, 1]), axis=1),
            np.stack((np.full(len(steps), _STEP), steps, np.zeros(len(steps), np.int64)), axis=1),
        ]
        seen = set(steps.tolist()) if self._lines else set[int]()
        for place, lines in ((one, lines) for one, lines in self._lines.items() if one in seen):
            count = len(lines)
            parts.append(np.stack((np.full(count, _LINE), np.full(count, place), np.arange(count)), axis=1))
        entries = np.concatenate(parts)
        self._entries = entries[np.lexsort((entries[:, 2], entries[:, 0], entries[:, 1]))]

    # Rows

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, row: int) -> Entry:
        return Entry(*self._entries[row].tolist())

    def key_at(self, row: int) -> Hashable:
        return self.entry(row)

    def row_of(self, key: Hashable) -> int:
        if not isinstance(key, Entry) or not len(self._entries):
            return -1
        first = int(np.searchsorted(self._entries[:, 1], key.place, side="left"))
        for row in range(first, len(self._entries)):
            found = self.entry(row)
            if found == key:
                return row
            if found.place > key.place:
                break
        # The fold that contains it.
        fold = int(np.searchsorted(self._entries[:, 1], key.place, side="right")) - 1
        return fold if fold >= 0 and self.entry(fold).is_fold and key.place < self.entry(fold).extra else -1

    def row_of_step(self, place: int) -> int:
        """Returns the list's row of a row of the comparison, or -1."""
        return self.row_of(Entry(_STEP, place, 0))

    def spec(self, row: int) -> Row:
        entry = self.entry(row)
        return self._fold(entry) if entry.is_fold else self._step(entry) if entry.is_step else self._line(entry)

    def _fold(self, entry: Entry) -> Row:
        inside = self.classes[entry.place : entry.extra]
        others = int(np.count_nonzero(inside))
        words = formats.count_of(len(inside) - others, f"equal {self._noun}")
        if others:
            words = f"{formats.count_of(others, 'other difference')}, {words}"
        is_open = entry.place in self._opened
        arrow = Icon("collapse" if is_open else "expand", TERTIARY, 14, 20)
        lines = ((EMPTY, (arrow, Text(words, ink=TERTIARY))),)
        return Row(entry, lines, words, spoken=f"{words}, {'shown' if is_open else 'folded'}", expanded=is_open)

    def _step(self, entry: Entry) -> Row:
        compared, place = self.compared, entry.place
        assert compared is not None
        told, found = self._describe(place), int(self.classes[place])
        in_a, in_b = (compared.messages[place] >= 0).tolist()
        look = look_of(found, in_a=in_a, in_b=in_b)
        sides = ("", "") if told is None else told.sides
        numbers = [f"{no + 1:,}" if no >= 0 else "" for no in compared.messages[place].tolist()]
        differs = found != DifferenceClass.SAME
        ink = PRIMARY if differs else SECONDARY
        cells: list[Cell] = []
        for number, text, is_there in zip(numbers, sides, (in_a, in_b), strict=True):
            indent = _INDENT * min(int(compared.depths[place]), _DEEPEST)
            icon = Icon(_ICONS.get(StepKind(int(compared.kinds[place])), _OTHER_ICON), TERTIARY, 14, 22)
            absent: Cell = (Space(indent), Text("\N{EM DASH}", ink=TERTIARY))
            cells.append((Text(number, "number", TERTIARY, "never"),))
            tag = (Tag(self.tags[place]),) if place in self.tags and not len(cells) > 1 else ()
            cells.append((Space(indent), icon, *tag, Text(text, ink=ink)) if is_there else (*absent, *tag))
        between: Cell = (Pill(look.pill),) if differs else EMPTY
        word = ", ".join(filter(None, (self.tags.get(place, ""), look.word)))
        spoken = self._spoken(numbers, sides, word, differs=differs)
        text = (told.text if told is not None else "") or sides[0]
        return Row(
            entry, ((cells[0], cells[1], between, cells[2], cells[3]),), text, spoken=spoken,
            copied="\t".join((look.word, numbers[0], sides[0], numbers[1], sides[1])),
            expanded=place in self._lines if differs and self._noun == "step" else None,
        )  # fmt: skip

    def _line(self, entry: Entry) -> Row:
        line = self._lines[entry.place][entry.extra]
        if line.kind == "gap":
            told: list[Cell] = [(Space(LINE_INDENT), Text(text, "small", TERTIARY)) for text in line.sides]
            return Row(entry, ((EMPTY, told[0], EMPTY, EMPTY, told[1]),), line.sides[0])
        token, sign = _LINE_LOOKS[line.kind]
        cells: list[Cell] = [
            (
                Space(LINE_INDENT),
                Text(text, "mono", PRIMARY if line.kind != "same" else TERTIARY, tinted=spans, tint=token),
            )
            for text, spans in zip(line.sides, line.spans, strict=True)
        ]
        if entry.extra and self._lines[entry.place][entry.extra - 1].kind == line.kind:
            sign = sign[:1]  # the line above has the words
        between: Cell = (Text(sign, "small", token or TERTIARY, "never"),) if sign else EMPTY
        words = [f"{name}: {text}" for name, text in zip("AB", line.sides, strict=True)]
        spoken = f"same: {line.sides[0]}" if line.kind == "same" else f"{line.kind}, {', '.join(words)}"
        text = line.sides[0] or line.sides[1]
        return Row(entry, ((EMPTY, cells[0], between, EMPTY, cells[1]),), text, spoken=spoken)

    @staticmethod
    def _spoken(numbers: list[str], sides: tuple[str, str], word: str, *, differs: bool) -> str:
        if not differs:
            return f"Same, number {numbers[0]} and {numbers[1]}: {sides[0]}"
        told = [f"{name} number {number}: {side}" if number else f"not in {name}"
                for name, number, side in zip("AB", numbers, sides, strict=True)]  # fmt: skip
        return f"{word}, {', '.join(told)}"
