"""Fields of the filter language, for columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError
from inspector.engine.requests.filters import payload_names
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends, Field
from inspector.filters.field import FieldType as FieldType
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.naming import field_named
from inspector.filters.naming import names_in as names_in


class FieldFacts(msgspec.Struct, frozen=True):
    """A field.

    Attributes:
        name, label, help: its name, its title and one sentence.
        type: of its values.
        follows_clock: its values change with time.
    """

    name: str
    label: str
    help: str
    type: FieldType
    follows_clock: bool = False


class NamesOfFields(Request[list[str]], frozen=True):
    """Names of all fields, then of frequent payload values."""

    is_urgent: ClassVar[bool] = True


def known_field(name: str) -> Field:
    """Returns the field of a name. Raises RequestError if there is none."""
    try:
        return field_named(name)
    except FilterError as error:
        raise RequestError(str(error)) from None


def describe_field(name: str) -> FieldFacts:
    """Describes the field of a name, `payload.<path>` included. Raises RequestError if there is none."""
    field = known_field(name)
    return FieldFacts(field.name, field.label, field.help, field.type, field.depends is Depends.CLOCK)


def describe_fields(names: Iterable[str]) -> dict[str, FieldFacts]:
    """Describes fields by name, without unknown ones."""
    found: dict[str, FieldFacts] = {}
    for name in names:
        with suppress(RequestError):  # a field of another version
            found[name] = describe_field(name)
    return found


def _names(held: OpenDocument, _asked: NamesOfFields) -> list[str]:
    return [*FIELD_BY_NAME, *payload_names(held)]


QUERIES = (Query(NamesOfFields, list[str], _names),)
