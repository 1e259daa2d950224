"""Resolves field names that users write: fields of the table, or `payload.<path>`."""

from __future__ import annotations

import re

from inspector.filters.ast import Presence
from inspector.filters.compile import compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Field
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.parse import parse
from inspector.filters.payloads import payload_field

_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')


def names_in(text: str) -> list[str]:
    """Splits a comma-separated list of field names. Quoted keys may contain commas."""
    return [name for part in _BETWEEN_COMMAS.findall(text) if (name := part.strip())]


def field_named(name: str) -> Field:
    """Returns a field by its name.

    Raises:
        FilterError: no field has this name; suggests the nearest one.
    """
    name = name.strip()
    found = FIELD_BY_NAME.get(name)
    if found is not None:
        return found
    compile_filter(name, takes_words=False)
    expression = parse(name)
    if not isinstance(expression, Presence):
        raise FilterError(f"{name} is no field." if name else "A field is missing.", position=0, length=len(name))
    return payload_field(expression.field.path[1:])
