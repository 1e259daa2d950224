"""Finds values that differ in every pair of aligned calls, such as seeds and ports, to be ignored.

RULES: a field of arguments or JSON results counts by its name, a number in a text by the word before it. It differs in
all pairs that have it, in at least three, and in three of them alone. A value of the divergence's cause that occurs in
the different act explains it, and is never noise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from inspector.analysis.views.compare.comparison import RunComparison
from inspector.analysis.views.compare.difference_classes import DifferenceClass
from inspector.analysis.views.compare.run_steps import RunSteps, called
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text

_LEAST = 3
"""Pairs in which a value differs, and in which nothing else does."""
_MOST_PAIRS = 2_000
_NUMBERED = re.compile(r"([A-Za-z]\w{1,30}[:=]?) ?(\d+(?:[.:]\d+)*)(?=[\s,;)\]]|$)")
_NAME = re.compile(r"[\w-]+")
_DIGITS = re.compile(r"\d+")
_MOST_TEXT = 1 << 16

Values = dict[str, tuple[bytes, ...]]


class NoiseValue(msgspec.Struct, frozen=True):
    """A value that differs in every pair.

    Attributes:
        item: the name of the field, or a pattern, as `--ignore` takes it.
        pairs: pairs of calls that have it.
    """

    item: str
    pairs: int


def find_noise(comparison: RunComparison) -> list[NoiseValue]:
    """Returns values that differ in every pair, most frequent first. O(bytes) of at most some pairs of calls."""
    differs, alone, vetoed = Counter[str](), Counter[str](), set[str]()
    for row, one, other in _pairs(comparison):
        shared = one.keys() & other.keys()
        changed = {name for name in shared if one[name] != other[name]}
        vetoed |= shared - changed
        differs.update(changed)
        if len(changed) == 1 and one.keys() == other.keys():
            alone.update(changed)
        if row == comparison.divergence.cause:
            vetoed |= {name for name in changed if _explains(comparison, one[name], other[name])}
    found = [
        name
        for name, count in differs.most_common()
        if name and min(count, alone[name]) >= _LEAST and name not in vetoed
    ]
    return [NoiseValue(name, differs[name]) for name in found]


def _pairs(comparison: RunComparison) -> Iterator[tuple[int, Values, Values]]:
    """Yields paired calls with their values by name: of arguments, and of results of equal calls."""
    rows, one, other = comparison.rows, comparison.one, comparison.other
    known = np.flatnonzero((rows.one >= 0) & (rows.other >= 0) & (rows.notes < 0))
    known = known[one.kinds[rows.one[known]] == StepKind.CALL]
    changed = np.isin(rows.classes[known], (DifferenceClass.ARGUMENTS, DifferenceClass.RESULT))
    if np.count_nonzero(changed) < _LEAST:
        return
    # Equal pairs may show that a value does not always differ.
    for row in np.concatenate((known[changed][:_MOST_PAIRS], known[~changed][:_MOST_PAIRS])).tolist():
        a, b = int(rows.one[row]), int(rows.other[row])
        yield row, _arguments(comparison, one, a), _arguments(comparison, other, b)
        if rows.classes[row] != DifferenceClass.ARGUMENTS:
            yield row, _results(comparison, one, a), _results(comparison, other, b)


def _payload(run: RunSteps, message: int) -> Mapping[str, Any]:
    records = run.analysis.capture.records
    return {} if message == NO_ROW or records.is_big(message) else records.quick_payload(message)


def _arguments(comparison: RunComparison, run: RunSteps, place: int) -> Values:
    values = called(_payload(run, int(run.rows[place])), comparison.ignored)[1]
    return _fields(comparison, values, of_result=False)


def _results(comparison: RunComparison, run: RunSteps, place: int) -> Values:
    text = counted_text(kinds.RESPONSE, _payload(run, int(run.ends[place])))
    if text[:1] in ("{", "["):
        try:
            return _fields(comparison, comparison.ignored.pruned(msgspec.json.decode(text)), of_result=True)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass
    normalized = comparison.ignored.text(text[:_MOST_TEXT], of_result=True).decode("utf-8", "replace")
    found: dict[str, list[bytes]] = {"": [_NUMBERED.sub(r"\1", normalized).encode()]}
    for word, number in _NUMBERED.findall(normalized):
        form = _DIGITS.sub(r"\\d+", re.escape(number))
        found.setdefault(rf"\b{re.escape(word)} ?{form}", []).append(number.encode())
    return {name: tuple(values) for name, values in found.items()}


def _fields(comparison: RunComparison, values: Any, *, of_result: bool) -> Values:
    """Returns the plain values below each key, in order."""
    found: dict[str, list[bytes]] = {}
    waiting: list[tuple[str, Any]] = [("", values)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(str(key), inner) for key, inner in sorted(value.items(), key=lambda item: str(item[0]))]
        elif isinstance(value, list):
            waiting += [(name, inner) for inner in value]
        else:
            text = comparison.ignored.result_text(value) if isinstance(value, str) and of_result else None
            # Any other name would be taken as a path or a pattern.
            name = name if _NAME.fullmatch(name) else ""
            found.setdefault(name, []).append(comparison.ignored.value_text(value) if text is None else text)
    return {name: tuple(values) for name, values in found.items()}


def _explains(comparison: RunComparison, one: tuple[bytes, ...], other: tuple[bytes, ...]) -> bool:
    """Returns True if the act where the runs part repeats the value in either run."""
    row, rows = comparison.divergence.row, comparison.rows
    for run, places, values in ((comparison.one, rows.one, one), (comparison.other, rows.other, other)):
        if places[row] < 0:
            continue
        message = int(run.rows[places[row]])
        kind = run.analysis.capture.string("kind", message) or ""
        said = comparison.ignored.text(counted_text(kind, _payload(run, message)))
        if any(len(value) > 0 and value in said for value in values):
            return True
    return False
