"""Guards around code of plug-ins: the first failure of a part switches it off for this document, with a reason.

Guards belong to the process. Opening another document tries all parts again (`renew`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

import msgspec

from inspector.base.time_bounds import TimeBoundError, call_within
from inspector.protocol.secrets.masking import mask_text

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

LINE_S, BLOCK_S, VALUE_S, VIEW_S, IMPORT_S = 1.0, 5.0, 1.0, 2.0, 10.0
"""Time bounds in seconds: a line, a block of a check, the value of a field, a payload view, an import."""
MAX_BYTES = 16 << 20
"""Bound in bytes of an answer to one call."""
_MAX_NODES = 1_000_000
"""Bound of values in one answer."""
_MAX_REASON, _MAX_MASKED = 300, 10_000
"""Characters of a reason, and of the error that it is taken from."""
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


class Trip(NamedTuple):
    """A part that was switched off."""

    part: str
    """As `plug-in robot: format robot`."""
    reason: str
    """A sentence's end, as `it raised ValueError: no surface`."""

    @property
    def sentence(self) -> str:
        """Sentence for the user."""
        return f"{self.part[:1].upper()}{self.part[1:]} is switched off for this log: {self.reason}."


class GarbageError(Exception):
    """An answer has a wrong type or size; the message is a reason."""


class Guard:
    """Calls one part of a plug-in within its bounds.

    Attributes:
        part: name for the user, also the same part's in other processes.
    """

    def __init__(self, part: str) -> None:
        self.part = part

    @property
    def is_off(self) -> bool:
        return self.part in _off

    def call(
        self, seconds: float, function: Callable[..., Any], *arguments: Any, checked: Callable[[Any], _Result],
    ) -> _Result | None:  # fmt: skip
        """Calls the part's code; returns None if it is switched off, or fails now. Never raises.

        Args:
            seconds: its time bound.
            function, arguments: the call.
            checked: returns the valid answer, or raises GarbageError; runs within the time bound.
        """
        if self.part in _off and not _again:
            return None
        try:
            return call_foreign(seconds, _answer, function, arguments, checked)
        except TimeBoundError:
            self.trip(f"it took longer than {seconds:g} s")
        except KeyboardInterrupt:
            raise
        except GarbageError as error:
            self.trip(str(error))
        except BaseException as error:  # noqa: BLE001 - code of others: it may also raise SystemExit
            self.trip(f"it raised {error_words(error)}")
        return None

    def trip(self, reason: str) -> None:
        """Switches the part off until another document is opened."""
        note_trips([Trip(self.part, reason)])


def _answer(
    function: Callable[..., Any], arguments: tuple[Any, ...], checked: Callable[[Any], _Result]
) -> _Result:  # fmt: skip
    return checked(function(*arguments))


def call_foreign(seconds: float, function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Calls code of a plug-in as `call_within`. What it prints goes to standard error, away from results of commands.

    Args:
        seconds: its time bound.
        function, arguments: the call.
    """
    global _running, _output
    process = os.getpid()
    # Counted, since calls of several threads overlap, and the first to end may not be the last that began.
    with _output_lock:
        if not _running:
            _output, sys.stdout = sys.stdout, sys.stderr
        _running += 1
    try:
        return call_within(seconds, function, *arguments)
    finally:
        if os.getpid() != process:  # a fork would go on with the work of its parent
            os._exit(0)
        with _output_lock:
            _running -= 1
            if not _running:
                sys.stdout = _output


_output_lock = threading.Lock()
_running, _output = 0, sys.stdout

_off: dict[str, Trip] = {}
_again = 0


@contextlib.contextmanager
def reading_again() -> Generator[None]:
    """Calls also parts that are switched off: for lines that they have read before they failed with another."""
    global _again
    _again += 1
    try:
        yield
    finally:
        _again -= 1


def renew() -> None:
    """Tries all parts again: a document is opened."""
    _off.clear()


def trips() -> tuple[Trip, ...]:
    """Returns the parts that are switched off, in order."""
    return tuple(_off.values())


def note_trips(found: Iterable[Trip]) -> None:
    """Switches parts off, also the ones that failed in a worker process."""
    for one in found:
        if one.part not in _off:
            _off[one.part] = one
            _log.info("%s is switched off: %s.", one.part, one.reason)


def error_words(error: BaseException) -> str:
    """Returns the type and text of an exception on one line, without secrets."""
    text = ""
    with contextlib.suppress(Exception):  # also its text comes from others
        # Masked before the cut, which may leave a part of a key that has no shape of one.
        text = mask_text(str(error)[:_MAX_MASKED])[:_MAX_REASON]
        text = _UNPRINTABLE.sub(" ", text).encode("utf-8", "replace").decode()
    name = _UNPRINTABLE.sub(" ", type(error).__name__[:60])
    return f"{name}: {text}" if text else name


def check_size(answer: object, most: int = MAX_BYTES) -> None:
    """Raises GarbageError if texts and bytes in an answer have more than `most` bytes together."""
    size, nodes, left = 0, 0, [answer]
    while left:
        one = left.pop()
        nodes += 1
        if isinstance(one, str | bytes | bytearray | memoryview):
            size += len(one)
        elif isinstance(one, bool | None):
            continue
        elif isinstance(one, int):
            size += sys.getsizeof(one)
        elif isinstance(one, Mapping):
            left += one.keys()
            left += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            left += one
        elif isinstance(one, msgspec.Struct):
            left += (getattr(one, name) for name in one.__struct_fields__)
        elif is_dataclass(one):
            left += (getattr(one, member.name) for member in fields(one))
        # The stack counts as well: it holds the members of everything opened so far.
        if size > most or nodes + len(left) > _MAX_NODES:
            raise GarbageError(f"it returned more than {most >> 20} MB or {_MAX_NODES:,} values for one call")
