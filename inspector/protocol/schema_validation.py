"""Validates values with JSON Schemas from the wire: offline, with limits of depth and time.

Dialects: 2020-12 unless `$schema` names an older one (MCP 2025-11-25, JSON Schema usage). Some cases are skipped and
never reported as wrong: an unknown dialect, an external reference, a schema or value too large or too deep, a timeout.
The library is imported for the first schema.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from inspector.protocol import bounded_regex
from inspector.protocol.secrets.masking import MASK

MAX_SCHEMA_BYTES = 1 << 17
MAX_VALUE_BYTES = 1 << 18
"""Bytes of JSON."""
_MAX_DEPTH = 48
_TIME_LIMIT_S = 0.02
"""Limit of processor time for one value in seconds."""
_MOST_COMPARED = 1_000
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_HIDDEN = (MASK, "[masked]", "REDACTED", "[REDACTED]", "<redacted>")
_LONGEST_SHOWN = 40
_TYPES = {
    "string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "object": "an object", "array": "a list", "null": "null",
}  # fmt: skip


class TooLongError(Exception):
    """Validation of a value exceeds its time limit."""


class Mismatch:
    """The first violation of a schema by a value.

    Attributes:
        where: the member, as `a.b[2]`; "" for the value itself.
        value: the actual value, in a few characters of JSON-like text.
        wants: the expectation, as the end of "asks for ...".
    """

    __slots__ = ("value", "wants", "where")

    def __init__(self, where: str, value: str, wants: str) -> None:
        self.where, self.value, self.wants = where, value, wants


class Schema:
    """A schema, compiled once."""

    def __init__(self, definition: Any) -> None:
        self._validator = _compiled(definition)

    @property
    def can_validate(self) -> bool:
        """True if values can be validated with it."""
        return self._validator is not None

    def find_mismatch(self, value: Any) -> Mismatch | None:
        """Returns the first violation, or None for a valid value or an undecidable schema."""
        # Deep values would take long, or exhaust the stack.
        if self._validator is None or _depth(value) > _MAX_DEPTH:
            return None
        # Time of this process, so that a busy machine does not end the check early.
        _deadline[0] = time.process_time() + _TIME_LIMIT_S
        try:
            error = next((one for one in self._validator.iter_errors(value) if not _is_hidden(one.instance)), None)
        except Exception:  # noqa: BLE001 - a schema from the wire may break its judge in any way
            return None
        return _as_mismatch(error) if error is not None else None


def find_external_reference(definition: Any) -> str | None:
    """Returns the first reference of a schema to another document. No reference is resolved."""
    for inner in _walk(definition, 0):
        for key in _REFERENCES:
            target = inner.get(key)
            if isinstance(target, str) and not target.startswith("#"):
                return target
    return None


def _matches_names(definition: Any) -> bool:
    """Returns True if member names are matched with expressions of possibly non-linear time."""
    patterns = (name for inner in _walk(definition, 0) for name in _names(inner.get("patternProperties")))
    return any("(" in pattern or sum(map(pattern.count, "*+{")) > 1 for pattern in patterns)


def _names(value: Any) -> Iterator[str]:
    return iter(value) if isinstance(value, dict) else iter(())


def _walk(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > 2 * _MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
        for key, inner in value.items():
            # Values in these members are no schemas.
            if key not in ("const", "enum", "default", "examples"):
                yield from _walk(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, depth + 1)


def _depth(value: Any) -> int:
    """Returns the nesting depth of a value, at most the limit plus one."""
    level, layer = 0, [value]
    while layer and level <= _MAX_DEPTH:
        level += 1
        inner = (one.values() if isinstance(one, dict) else one for one in layer if isinstance(one, dict | list))
        layer = [item for items in inner for item in items]
    return level


_deadline = [0.0]  # deadline of the current validation


def _compiled(definition: Any) -> Any:
    if isinstance(definition, bool) or not isinstance(definition, dict):
        return None
    # Such a schema could take too much time, or would have to be fetched.
    if _depth(definition) > _MAX_DEPTH or find_external_reference(definition) is not None or _matches_names(definition):
        return None
    dialects = _dialects()
    dialect = dialects.get(str(definition.get("$schema", _DEFAULT)).rstrip("#"))
    if dialect is None:
        return None
    # Imported late: the library takes long to load.
    from referencing import Registry

    try:
        dialect.check_schema(definition)
        # An empty registry, so that no reference is fetched from the network.
        return dialect(definition, registry=Registry())
    except Exception:  # noqa: BLE001 - as above
        return None


_DEFAULT = "https://json-schema.org/draft/2020-12/schema"


def are_validators_loaded() -> bool:
    """Returns True if the validators exist; importing and creating them takes 50 ms."""
    return _dialects.cache_info().currsize > 0


def load_validators() -> None:
    """Creates the validators, if necessary."""
    _dialects()


@cache
def _dialects() -> dict[str, Any]:
    """Returns validators by `$schema`; each stops at its deadline and matches expressions in bounded time."""
    from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
    from jsonschema.validators import extend

    known = {
        "http://json-schema.org/draft-04/schema": Draft4Validator,
        "http://json-schema.org/draft-06/schema": Draft6Validator,
        "http://json-schema.org/draft-07/schema": Draft7Validator,
        "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
        _DEFAULT: Draft202012Validator,
    }
    found: dict[str, Any] = {}
    for uri, dialect in known.items():
        # A schema from a server is hostile input, so each keyword has a deadline.
        judges = {keyword: _with_deadline(judge) for keyword, judge in dialect.VALIDATORS.items()}
        found[uri] = extend(
            dialect, {**judges, "pattern": _pattern, "uniqueItems": _limit_items(judges["uniqueItems"])}
        )
    return found


def _with_deadline(judge: Any) -> Any:
    def judged(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if time.process_time() > _deadline[0]:
            raise TooLongError
        yield from judge(validator, value, instance, schema) or ()

    return judged


def _limit_items(judge: Any) -> Any:
    """Skips the uniqueness check of long lists, since it takes quadratic time."""

    def judged(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, list) and len(instance) <= _MOST_COMPARED:
            yield from judge(validator, value, instance, schema)

    return judged


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """RULE: an expression without a linear-time match is skipped."""
    from jsonschema import ValidationError

    if not isinstance(instance, str) or not isinstance(pattern, str):
        return
    try:
        # Python's own expressions may take exponential time.
        if not bounded_regex.search_pattern(pattern, instance):
            yield ValidationError(f"does not match {pattern!r}")
    except bounded_regex.RegexRefusedError:
        return


def _is_hidden(instance: Any) -> bool:
    """Returns True if a value was masked before it was written, so that its original is unknown."""
    return isinstance(instance, str) and any(mask in instance for mask in _HIDDEN)


def _as_mismatch(error: Any) -> Mismatch:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    rule, wanted = error.validator, error.validator_value
    if rule == "required" and isinstance(error.instance, dict) and isinstance(wanted, list):
        missing = next((name for name in wanted if name not in error.instance), "a member")
        return Mismatch(f"{where}.{missing}".lstrip("."), "nothing", "a value")
    if rule in ("additionalProperties", "unevaluatedProperties") and isinstance(error.instance, dict):
        known = error.schema.get("properties") if isinstance(error.schema, dict) else None
        # The first extra member is named; the library's sentence would list all.
        extra = next((name for name in error.instance if name not in (known or {})), None)
        if extra is not None:
            return Mismatch(f"{where}.{extra}".lstrip("."), _shown(error.instance[extra]), "no such member")
    return Mismatch(where, _shown(error.instance), _wants(rule, wanted))


def _wants(rule: Any, wanted: Any) -> str:
    if rule == "type":
        names = wanted if isinstance(wanted, list) else [wanted]
        return " or ".join(_TYPES.get(str(name), str(name)) for name in names)
    if rule == "enum" and isinstance(wanted, list):
        return f"one of {', '.join(_shown(one) for one in wanted[:5])}"
    if rule == "const":
        return _shown(wanted)
    told = _LIMITS.get(rule)
    if told is not None:
        return f"{told} {_shown(wanted)}"
    return "another form" if isinstance(wanted, dict | list) else f"`{rule}` {_shown(wanted)}"


_LIMITS = {
    "minItems": "a list not shorter than", "maxItems": "a list not longer than", "minLength": "a text not shorter than",
    "maxLength": "a text not longer than", "minimum": "a number not below", "maximum": "a number not above",
    "exclusiveMinimum": "a number above", "exclusiveMaximum": "a number below", "multipleOf": "a multiple of",
    "pattern": "a text that matches",
}  # fmt: skip


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else "null" if value is None else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
