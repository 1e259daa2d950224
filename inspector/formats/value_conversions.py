"""Small conversions shared by the formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inspector.protocol.header import ABSENT, Header, json_or_none
from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.timestamps import NO_TIME, parse_time

_MOST_VALUES, _LONGEST, _DEEPEST = 4, 60, 3
_PLACES = re.compile(r"(?i)(^|[a-z_])(id|uuid|hash|commit|time|timestamp|updated|type|at)$")
"""Names of members about a record's identity and time only."""
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-_.$]+")
_NAME = re.compile(r"[\w$-]{1,40}")


def error_words(text: str) -> str:
    """Returns the text of an error with a JSON body replaced by its innermost message: "529 Overloaded"."""
    head, brace, _ = text.partition("{")
    told = json_or_none(text[len(head) :].encode("utf-8", "surrogatepass")) if brace else None
    message = innermost_message(told)
    return " ".join(filter(None, (head.strip(), message))) if message else text


def innermost_message(error: object) -> str | None:
    """Returns the innermost message of nested errors."""
    found = None
    for _ in range(_DEEPEST_ERROR):
        if isinstance(error, str):
            return error
        if not isinstance(error, Mapping):
            return found
        message = error.get("message")
        found = message if isinstance(message, str) else found
        error = error.get("error")
    return found


_DEEPEST_ERROR = 8


def text_or_none(value: object) -> str | None:
    """Returns the value if it is a string, else None."""
    return value if isinstance(value, str) else None


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """Returns the value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings_in(value: object) -> list[Mapping[str, Any]]:
    """Returns the objects in a list; empty for any other value."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def line_time(header: Header) -> int:
    """Returns the time of a wrapper line under any of its usual keys; NO_TIME without one."""
    for value in (header.t, header.time, header.ts, header.timestamp, header.journal_time):
        if value is not ABSENT:
            return parse_time(value)
    return NO_TIME


def describe_record(name: str, values: Mapping[str, object]) -> str:
    """Returns a description of a record without text: "session start: robot version 1.0.77, cwd /tmp/repo".

    Args:
        name: its type as written.
        values: its content. Secrets are masked; empty values, ids and times are omitted.
    """
    told = ", ".join(islice(_value_words(mask_secrets(dict(values)), 1), _MOST_VALUES))
    words = _name_in_words(_short(name))
    return f"{words}: {told.removeprefix(f'{words} ')}" if told else words


def _value_words(values: Mapping[str, object], depth: int) -> Iterator[str]:
    for full_name, value in values.items():
        name = _short(full_name)
        # Paths, locations and empty values say little.
        if _PLACES.search(name) or value is False or value in (None, "", [], {}):
            continue
        words = _name_in_words(name)
        if isinstance(value, Mapping):
            if depth < _DEEPEST and all(_NAME.fullmatch(key) for key in value):
                yield from _value_words(value, depth + 1)
            else:
                yield _counted(len(value), words)
        elif isinstance(value, list):
            yield _counted(len(value), words)
        elif value is True:
            yield words
        else:
            yield f"{words} {_short(' '.join(str(value).split()))}"


def _short(text: str) -> str:
    """Shortens a text; a name of megabytes would be searched for minutes."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _counted(count: int, words: str) -> str:
    return f"{count:,} {words.removesuffix('s') if count == 1 else words}"


def _name_in_words(name: str) -> str:
    """Returns a name in words: "robotVersion" as "robot version"."""
    return " ".join(word if word.isupper() else word.lower() for word in _WORD_ENDS.sub(" ", name).split())
