"""Compares two messages: values by structure, texts by words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from inspector.base.longest_chain import longest_chain

Steps = tuple[str | int, ...]
"""Path to a value: keys and indices."""

_MOST_WORDS = 20_000
"""Limit of words that are compared; longer texts are compared by lines."""
_WORDS, _LINES = re.compile(r"\w+|\s+|[^\w\s]"), re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        kind: kind of the change.
        steps: path of the value; the same in both if changed.
    """

    kind: Literal["added", "removed", "changed"]
    steps: Steps


def value_changes(one: object, other: object) -> list[Change]:
    """Compares two JSON values by structure; the order of members does not count."""
    from deepdiff import DeepDiff  # takes about 0.2 s

    found: Any = DeepDiff(one, other, view="tree", ignore_numeric_type_changes=True, threshold_to_diff_deeper=0)
    changes: list[Change] = []
    for kind, levels in found.items():
        what: Literal["added", "removed", "changed"] = (
            "added" if kind.endswith("_added") else "removed" if kind.endswith("_removed") else "changed"
        )
        changes += [Change(what, tuple(level.path(output_format="list"))) for level in levels]
    # As text, since keys and indices cannot be compared with each other.
    return sorted(changes, key=lambda change: [str(step) for step in change.steps])


@dataclass(frozen=True, slots=True)
class TextChange:
    """A differing range of text: start and end in both texts."""

    before: tuple[int, int]
    after: tuple[int, int]


def text_changes(one: str, other: str) -> list[TextChange]:
    """Compares two texts by words; long ones by lines."""
    parts = [_WORDS.findall(text) for text in (one, other)]
    # The comparison takes quadratic time.
    if max(map(len, parts)) > _MOST_WORDS:
        parts = [_LINES.findall(text) for text in (one, other)]
    starts = [_starts(some) for some in parts]
    return [
        TextChange((starts[0][a], starts[0][b]), (starts[1][c], starts[1][d]))
        for equal, a, b, c, d in _ranges(*parts)
        if not equal
    ]


# 2,000 random parts take 1 s, and twice as many take six times that.
_MOST_EXACT = 2_000
"""Limit of parts with exact matching of frequent ones; above it, that would take minutes."""


def _ranges(one: list[str], other: list[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yields equal and differing ranges in order: True if equal, start and end in both lists.

    Parts that occur once in each of two long lists divide them, since matching takes quadratic time.
    """
    a = c = 0
    anchors = _common_anchors(one, other) if max(len(one), len(other)) > _MOST_EXACT else []
    for b, d in [*anchors, (len(one), len(other))]:
        if a < b or c < d:
            matcher = SequenceMatcher(None, one[a:b], other[c:d], autojunk=max(b - a, d - c) > _MOST_EXACT)
            for tag, *places in matcher.get_opcodes():
                first, second, third, fourth = places
                yield tag == "equal", a + first, a + second, c + third, c + fourth
        if b < len(one):
            yield True, b, b + 1, d, d + 1
        a, c = b + 1, d + 1


def _common_anchors(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    """Returns places of parts that occur once in each list: the longest sequence that ascends in both."""
    counts, places = (Counter(some) for some in (one, other)), {part: place for place, part in enumerate(other)}
    first, second = counts
    pairs = [(place, places[part]) for place, part in enumerate(one) if first[part] == 1 == second[part]]
    return longest_chain(pairs)


def _starts(parts: Sequence[str]) -> list[int]:
    """Returns the start offset of each part, and the end of the last."""
    found = [0]
    for part in parts:
        found.append(found[-1] + len(part))
    return found


def change_counts(changes: Sequence[Change]) -> str:
    """Counts changes by kind: "2 changed, 1 added"; "no difference"."""
    parts = ((kind, sum(change.kind == kind for change in changes)) for kind in ("changed", "added", "removed"))
    return ", ".join(f"{count:,} {kind}" for kind, count in parts if count) or "no difference"


def align_lines(one: str, other: str) -> tuple[str, str]:
    """Pads two texts with empty lines so that equal lines align."""
    lines = [text.splitlines() for text in (one, other)]
    padded: tuple[list[str], list[str]] = ([], [])
    for _, a, b, c, d in _ranges(*lines):
        high = max(b - a, d - c)
        for some, these in zip(padded, (lines[0][a:b], lines[1][c:d]), strict=True):
            some += these + [""] * (high - len(these))
    return "\n".join(padded[0]), "\n".join(padded[1])
