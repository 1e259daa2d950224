"""Classes of differences between two runs, and of inputs of a model that differ."""

from __future__ import annotations

import enum


class DifferenceClass(enum.IntEnum):
    """Class of a row."""

    SAME = 0
    WORDS = 1
    """A text in other words."""
    ARGUMENTS = 2
    RESULT = 3
    FAILED = 4
    """A call that failed, or was not allowed, in one run only."""
    MISSING = 5
    """Only in the first run."""
    EXTRA = 6
    """Only in the second run."""
    ORDER = 7
    AGENT = 8
    MODEL = 9
    """Another model, or another setting of it."""
    DEFINITION = 10
    """Another definition of a tool."""
    PROMPT = 11
    """Another prompt or system prompt."""


class Input(enum.IntEnum):
    """Kind of a model's input that differs."""

    NOTHING = 0
    RESULT = 1
    DEFINITION = 2
    PROMPT = 3
    MODEL = 4
    SETTINGS = 5
    COMPACTION = 6
    """A compaction or a collapsed result took something."""
    DELIVERY = 7
    """A message did not arrive."""
    END = 8
    """The log of one run ends."""
