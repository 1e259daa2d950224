"""Compares two messages: values by structure, texts by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

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
    matcher = _matcher(*parts)
    return [
        TextChange((starts[0][a], starts[0][b]), (starts[1][c], starts[1][d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


# 2,000 random parts take 1 s, and twice as many take six times that.
_MOST_EXACT = 2_000
"""Limit of parts with exact matching of frequent ones; above it, that would take minutes."""


def _matcher(one: list[str], other: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, one, other, autojunk=max(len(one), len(other)) > _MOST_EXACT)


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
    matcher = _matcher(*lines)
    for _, a, b, c, d in matcher.get_opcodes():
        high = max(b - a, d - c)
        for some, these in zip(padded, (lines[0][a:b], lines[1][c:d]), strict=True):
            some += these + [""] * (high - len(these))
    return "\n".join(padded[0]), "\n".join(padded[1])
