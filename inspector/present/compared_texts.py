"""Whole texts of a step in two runs, and their lines side by side with marked differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import msgspec

from inspector.analysis.views.compare.comparison import RunComparison
from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.present.difference_words import DifferenceWords
from inspector.present.message_difference import align_lines, text_changes
from inspector.present.wire_text import visible_controls
from inspector.protocol.mcp_definitions import definitions_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.columns.hashes import NO_ROW

LineKind = Literal["same", "changed", "removed", "added", "gap"]
Span = tuple[int, int]

_AROUND = 2
"""Equal lines shown before and after a difference."""
_MOST_LINES = 200
_MOST_CHARACTERS = 200_000
_MOST_MARKED = 2_000
"""Longest line whose differing words are marked."""


class DifferenceLine(msgspec.Struct, frozen=True):
    """A line of both texts, no longer than the asked width.

    Attributes:
        kind: "gap" for left out lines; their number is in `sides`.
        sides: the line of each text.
        spans: differing ranges of each.
    """

    kind: LineKind
    sides: tuple[str, str]
    spans: tuple[tuple[Span, ...], tuple[Span, ...]] = ((), ())


def whole_texts(words: DifferenceWords, comparison: RunComparison, row: int) -> tuple[str, str]:
    """Returns the texts that a row compares, masked: arguments, results, definitions or prompts."""
    one, other = _texts(words, comparison, row)
    return _shown(one), _shown(other)


def _shown(text: str) -> str:
    # Masked before it is cut, so that no part of a secret is shown without its end.
    return visible_controls(mask_text(text)[:_MOST_CHARACTERS])


def _texts(words: DifferenceWords, comparison: RunComparison, row: int) -> tuple[str, str]:
    rows = comparison.rows
    if rows.notes[row] >= 0:
        change = comparison.changes[int(rows.notes[row])]
        return _value_text(change.one), _value_text(change.other)
    a, b = int(rows.one[row]), int(rows.other[row])
    found, given = DifferenceClass(int(rows.classes[row])), Input(int(rows.inputs[row]))
    run, place = (comparison.one, a) if a >= 0 else (comparison.other, b)
    is_call = run.kinds[place] == StepKind.CALL
    if a < 0 or b < 0:
        text = _alone(words, 0 if b < 0 else 1, place, is_call=is_call)
        return (text, "") if b < 0 else ("", text)
    if not is_call:
        return words.text(0, a), words.text(1, b)
    if given is Input.COMPACTION:
        return words.collapses(a, b)
    if found is DifferenceClass.DEFINITION:
        return _definitions(words, comparison, a, b)
    if found in (DifferenceClass.RESULT, DifferenceClass.FAILED) or given in (Input.DELIVERY, Input.END):
        return words.results(a, b)
    one, other = words.argument_values(a, b)
    return _value_text(one), _value_text(other)


def _alone(words: DifferenceWords, side: int, place: int, *, is_call: bool) -> str:
    return _value_text(words.arguments_of(side, place)) if is_call else words.text(side, place)


def _definitions(words: DifferenceWords, comparison: RunComparison, a: int, b: int) -> tuple[str, str]:
    """Returns the definitions of tools that differ."""
    lists: list[dict[str, Any]] = []
    for side, (run, place) in enumerate(((comparison.one, a), (comparison.other, b))):
        end = int(run.ends[place])
        result = {} if end == NO_ROW else words.payload(side, end).get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        known = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        lists.append({name: next(tool for tool in known if tool.get("name") == name) for name in definitions_of(known)})
    one, other = lists
    differing = [name for name in [*one, *other] if one.get(name) != other.get(name)]
    first, second = (
        _value_text({name: tools[name] for name in dict.fromkeys(differing) if name in tools}) for tools in lists
    )
    return first, second


def _value_text(value: object) -> str:
    """Returns a value as lines: long texts as they are, others as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    value = mask_secrets(value)
    if isinstance(value, Mapping):
        return "\n".join(_member(str(key), one) for key, one in value.items())
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _member(key: str, value: object) -> str:
    if isinstance(value, str):
        return f"{key}:\n{value}" if "\n" in value else f"{key}: {value}"
    return f"{key}: {json.dumps(value, indent=2, ensure_ascii=False, default=str)}"


# Lines


def difference_lines(one: str, other: str, width: int) -> list[DifferenceLine]:
    """Returns the lines of two texts around their differences, wrapped at a number of characters."""
    left, right = (text.split("\n") for text in align_lines(one, other))
    count = max(len(left), len(right))
    pairs = [(x, y) for x, y in zip(_filled(left, count), _filled(right, count), strict=True)]
    differs = [x != y for x, y in pairs]
    near = [any(differs[max(0, n - _AROUND) : n + _AROUND + 1]) for n in range(count)]
    lines: list[DifferenceLine] = []
    skipped = 0
    for (x, y), is_near in zip(pairs, near, strict=True):
        if not is_near:
            skipped += 1
            continue
        lines += _gap(skipped)
        skipped = 0
        lines += _wrapped(x, y, max(8, width))
        if len(lines) >= _MOST_LINES:
            return [*lines[:_MOST_LINES], DifferenceLine("gap", ("More lines", "More lines"))]
    return lines + _gap(skipped)


def _filled(lines: list[str], count: int) -> list[str]:
    return lines + [""] * (count - len(lines))


def _gap(count: int) -> list[DifferenceLine]:
    words = f"{count:,} equal line{'' if count == 1 else 's'}"
    return [DifferenceLine("gap", (words, words))] if count else []


def _wrapped(one: str, other: str, width: int) -> Iterator[DifferenceLine]:
    """Yields one line of both texts as lines of a width."""
    kind: LineKind = "same" if one == other else "removed" if not other else "added" if not one else "changed"
    spans: tuple[Sequence[Span], Sequence[Span]] = ((), ())
    if kind == "changed" and max(len(one), len(other)) <= _MOST_MARKED:
        found = text_changes(one, other)
        spans = [change.before for change in found], [change.after for change in found]
    elif kind != "same":
        spans = [(0, len(one))], [(0, len(other))]
    for pieces in zip_longest(_cuts(one, width), _cuts(other, width), fillvalue=(0, 0)):
        cut = [
            tuple((max(a, start) - start, min(b, stop) - start) for a, b in some if a < stop and b > start and a < b)
            for some, (start, stop) in zip(spans, pieces, strict=True)
        ]
        sides = [text[start:stop] for text, (start, stop) in zip((one, other), pieces, strict=True)]
        yield DifferenceLine(kind, (sides[0], sides[1]), (cut[0], cut[1]))


def _cuts(text: str, width: int) -> Iterator[Span]:
    """Yields the lines of a text as ranges, broken after a blank if one is in their last two thirds."""
    start = 0
    while len(text) - start > width:
        blank = text.rfind(" ", start + width // 3, start + width)
        stop = start + width if blank < 0 else blank + 1
        yield start, stop
        start = stop
    yield start, len(text)
