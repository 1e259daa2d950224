"""What differs between two messages: values by their structure, texts by their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

Steps = tuple[str | int, ...]
"""The way from the whole to a value: keys and places."""

_MOST_WORDS = 20_000
"""Of a text that are compared one by one; of longer texts lines are."""
_WORDS, _LINES = re.compile(r"\w+|\s+|[^\w\s]"), re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        kind: what became of a value.
        steps: where it stands; in both where it changed.
    """

    kind: Literal["added", "removed", "changed"]
    steps: Steps


def value_changes(one: object, other: object) -> list[Change]:
    """What differs between two JSON values, by their structure; the order of members is none."""
    from deepdiff import DeepDiff  # some 0.2 s, for whoever asks

    found: Any = DeepDiff(one, other, view="tree", ignore_numeric_type_changes=True, threshold_to_diff_deeper=0)
    changes: list[Change] = []
    for kind, levels in found.items():
        what: Literal["added", "removed", "changed"] = (
            "added" if kind.endswith("_added") else "removed" if kind.endswith("_removed") else "changed"
        )
        changes += [Change(what, tuple(level.path(output_format="list"))) for level in levels]
    return sorted(changes, key=lambda change: [str(step) for step in change.steps])


@dataclass(frozen=True, slots=True)
class TextChange:
    """A stretch of text that differs: from and to which character in either one."""

    before: tuple[int, int]
    after: tuple[int, int]


def text_changes(one: str, other: str) -> list[TextChange]:
    """What differs between two texts, by words; between long ones by lines."""
    parts = [_WORDS.findall(text) for text in (one, other)]
    if max(map(len, parts)) > _MOST_WORDS:
        parts = [_LINES.findall(text) for text in (one, other)]
    starts = [_starts(some) for some in parts]
    matcher = _matcher(*parts)
    return [
        TextChange((starts[0][a], starts[0][b]), (starts[1][c], starts[1][d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


_MOST_EXACT = 2_000
"""Parts up to which those that are frequent are matched, too; of more that takes minutes."""


def _matcher(one: list[str], other: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, one, other, autojunk=max(len(one), len(other)) > _MOST_EXACT)


def _starts(parts: Sequence[str]) -> list[int]:
    """Where each part begins, and where the last one ends."""
    found = [0]
    for part in parts:
        found.append(found[-1] + len(part))
    return found


def counted(changes: Sequence[Change]) -> str:
    """How many there are of each kind: "2 changed, 1 added"; "no difference"."""
    parts = ((kind, sum(change.kind == kind for change in changes)) for kind in ("changed", "added", "removed"))
    return ", ".join(f"{count:,} {kind}" for kind, count in parts if count) or "no difference"


def aligned(one: str, other: str) -> tuple[str, str]:
    """Two texts with empty lines put in, so that lines that are alike stand beside each other."""
    lines = [text.splitlines() for text in (one, other)]
    padded: tuple[list[str], list[str]] = ([], [])
    matcher = _matcher(*lines)
    for _, a, b, c, d in matcher.get_opcodes():
        high = max(b - a, d - c)
        for some, these in zip(padded, (lines[0][a:b], lines[1][c:d]), strict=True):
            some += these + [""] * (high - len(these))
    return "\n".join(padded[0]), "\n".join(padded[1])
