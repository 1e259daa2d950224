"""Normalizes values of two runs: ids, times, temporary paths and the order of JSON keys do not count.

RULES: UUIDs, ids with the prefixes of model APIs, hexadecimal numbers of 32 digits and addresses count as ids. Times
count if they have seconds; a date is data. Durations and times of day do not count in results. The order of
lines counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from inspector.protocol.message_text import compact_json

_FIELD = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_IDS = (
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
    r"|\b(?:call|toolu|tooluse|msg|run|req|resp|chatcmpl|fc|rs|item|thread|agent)[_-][0-9A-Za-z]{8,}\b"
    r"|\b[0-9a-fA-F]{32,128}\b|\b0x[0-9a-fA-F]{6,16}\b"
)
_TIMES = (
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d?\d (?:\d\d:\d\d(?::\d\d)?|\d{4})\b"
    r"|\b1[5-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b"
)
_TEMPORARY = (
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders/\w\w/\w+/T|/dev/shm)/(?:[\w.-]*\d[\w.-]*|tmp[\w.-]+)"
    r"|[A-Z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp\\[\w.-]+|\btmp[\w]{6,8}\b"
)
_DURATIONS = (
    r"|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?(?: ?[AP]M)?\b"
    r"|\b\d+(?:\.\d+)?(?: ?(?:ns|us|\x{b5}s|ms|s|sec|secs|seconds)\b)"
)
_UNCOUNTED = frozenset({"_meta", "progressToken"})
_MASK = b"*"
_DEEPEST = 64
_MAX_DECODED = 1 << 20
"""Characters of a text that is decoded as JSON."""


class IgnoreError(ValueError):
    """A pattern is malformed; the text is a sentence."""


class Ignored:
    """Values that do not count.

    Args:
        items: names of fields, such as `limit` or `options.limit`; anything else is a regular expression, whose
            matches in texts do not count.

    Raises:
        IgnoreError: a pattern is malformed.
    """

    def __init__(self, items: Sequence[str] = ()) -> None:
        fields = [one for one in items if _FIELD.fullmatch(one)]
        self._names = frozenset(one for one in fields if "." not in one)
        self._paths = frozenset(tuple(one.split(".")) for one in fields if "." in one)
        given = [_compiled(one) for one in items if one not in fields]
        self._in_all = [*given, _compiled("|".join((_IDS, _TIMES, _TEMPORARY)))]
        self._in_results = [*given, _compiled("|".join((_IDS, _TIMES, _TEMPORARY)) + _DURATIONS)]

    def text(self, value: str, *, of_result: bool = False) -> bytes:
        """Returns a text with one mark in place of each value that does not count; white space is joined."""
        found = " ".join(value.split()).encode("utf-8", "surrogatepass")
        for pattern in self._in_results if of_result else self._in_all:
            found = pattern.sub(_MASK, found)
        return found

    def result_text(self, value: str) -> bytes:
        """Returns the text of a result; JSON in it with sorted keys."""
        if value[:1] in "{[" and len(value) <= _MAX_DECODED:
            try:
                return self.json_text(msgspec.json.decode(value), of_result=True)
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                pass
        return self.text(value, of_result=True)

    def value_text(self, value: object) -> bytes:
        """Returns a pruned argument as text."""
        return self.text(value) if isinstance(value, str) else self.json_text(value)

    def json_text(self, value: object, *, of_result: bool = False) -> bytes:
        """Returns JSON as text with sorted keys, without what does not count."""
        value = self.pruned(value)
        try:
            text = msgspec.json.encode(value, order="sorted").decode()
        except (TypeError, ValueError, RecursionError):
            text = compact_json(value)
        return self.text(text, of_result=of_result)

    def pruned(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """Returns JSON without ignored fields. A path holds at any depth."""
        if len(path) > _DEEPEST:
            return value
        if isinstance(value, Mapping):
            if not self._names and not self._paths and not path and _UNCOUNTED.isdisjoint(value):
                return value
            return {
                key: self.pruned(inner, (*path, str(key))) for key, inner in value.items()
                if not self._ignores((*path, str(key)))
            }  # fmt: skip
        if isinstance(value, list) and (self._names or self._paths):
            return [self.pruned(inner, path) for inner in value]
        return value

    def _ignores(self, path: tuple[str, ...]) -> bool:
        name = path[-1]
        if name in _UNCOUNTED or name in self._names:
            return True
        return any(path[-len(one) :] == one for one in self._paths)


def _compiled(pattern: str) -> Any:
    import re2  # a C++ library: linear time, and a thirtieth of that of `re` for many alternatives

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise IgnoreError(f"--ignore: {pattern} is no expression that RE2 takes: {words}.") from None
