"""Counts what work is done, not how long it takes: calls, and values that numpy is given."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

assert np.ma  # it is imported when it is first asked for, and looks at numpy's own functions then

_COUNTED = str.split(
    "append arange argsort asarray bincount concatenate count_nonzero cumsum empty flatnonzero fromiter full isin"
    " lexsort repeat sort split stack unique union1d vstack where zeros searchsorted minimum maximum add"
)


class Operations:
    """What was done.

    Attributes:
        calls: of functions, those in C included.
        values: in arrays that functions of numpy were given or made.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.values = 0

    def note_call(self, _frame: object, event: str, _argument: object) -> None:
        """For `sys.setprofile`."""
        if event in ("call", "c_call"):
            self.calls += 1


class _Counting:
    """Stands for a function of numpy, and for what belongs to it, such as `np.maximum.at`."""

    def __init__(self, function: Any, operations: Operations, looked_into: int) -> None:
        self._function = function
        self._operations = operations
        self._looked_into = looked_into  # arguments that are not gone through: where something is put or searched

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        found = self._function(*arguments, **named)
        for value in (*arguments[self._looked_into :], found):
            parts = value if isinstance(value, tuple | list) else (value,)
            self._operations.values += sum(part.size for part in parts if isinstance(part, np.ndarray))
        return found

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        return _Counting(value, self._operations, 1) if name == "at" else value


@contextmanager
def counted(into: Operations) -> Generator[None]:
    """Count what is done within, beside what was counted before."""
    before = {name: getattr(np, name) for name in _COUNTED}
    for name, function in before.items():
        setattr(np, name, _Counting(function, into, int(name == "searchsorted")))
    profiled = sys.getprofile()
    sys.setprofile(into.note_call)
    try:
        yield
    finally:
        sys.setprofile(profiled)
        for name, function in before.items():
            setattr(np, name, function)
