"""Model of a declaration, and its faults with line, column and reason."""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from inspector.formats.declared.line_pattern import LinePattern, PatternError
from inspector.formats.declared.record_paths import RecordPath, parse_path
from inspector.formats.declared.toml_places import KeyPath, Place, TomlPlaces
from inspector.formats.format import TrafficKind
from inspector.formats.table import FORMAT_TITLES

MAX_BYTES = 1 << 18
"""Largest declaration in bytes."""
_MAX_NAMES = 40
"""Limit of named faults."""
_MAX_PARTS = 100
_PART = r"""(?:[\w\-]++|"(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"""(?<![\w\-"'\\])(?:{_PART}[ \t]*+\.[ \t]*+){{{_MAX_PARTS}}}+""")
"""Keys with many parts; `tomllib` takes cubic time for them."""


class LineForm(enum.StrEnum):
    """Ways to split a log into records."""

    JSON_LINES = "json-lines"
    JSON_ARRAY = "json-array"
    REGEX = "regex"


class TimeUnit(enum.StrEnum):
    """Unit of times."""

    ISO = "iso"
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


class EventKind(enum.StrEnum):
    """Event of the readers' vocabulary (`inspector.formats.vocabulary`) that a record becomes."""

    PROMPT = "prompt"
    ANSWER = "answer"
    THOUGHT = "thought"
    INSTRUCTIONS = "instructions"
    CALL = "call"
    RESULT = "result"
    AGENT_STARTED = "agent_started"
    AGENT_ENDED = "agent_ended"
    COMPACTION = "compaction"
    ERROR = "error"
    BOOKKEEPING = "bookkeeping"
    MESSAGE = "message"


def _paths_of(written: object) -> tuple[RecordPath, ...]:
    """Returns the paths of a text, or of an array of alternatives."""
    texts = written if isinstance(written, list) else [written]
    if not texts:
        raise PydanticCustomError("path", "this array has no path")
    paths: list[RecordPath] = []
    for text in texts:
        if not isinstance(text, str):
            raise PydanticCustomError("path", "a path is a text, or an array of texts for alternatives")
        try:
            paths.append(parse_path(text))
        except ValueError as error:
            raise PydanticCustomError("path", "{reason}", {"reason": str(error)}) from None
    return tuple(paths)


def _path_of(written: object) -> RecordPath:
    if not isinstance(written, str):
        raise PydanticCustomError("path", "a path is a text")
    return _paths_of(written)[0]


_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def _printed(text: str) -> str:
    found = _UNPRINTABLE.search(text)
    if found is not None:
        raise PydanticCustomError("text", "U+{code} is no printed character", {"code": f"{ord(found[0]):04X}"})
    return text


Printed = Annotated[str, AfterValidator(_printed)]
"""Text without control characters and marks of direction."""
Paths = Annotated[tuple[RecordPath, ...], BeforeValidator(_paths_of)]
"""Alternatives: the first with a value counts."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Lines(_Table):
    """`[lines]`: the way to split a log into records.

    Attributes:
        form: one JSON object a line, elements of a JSON array, or lines of text.
        path: place of the array in the document, or of one in each line; its elements are the records.
        regex: expression with named groups; a record is the groups that matched.
    """

    form: Annotated[LineForm, Field(strict=False)] = LineForm.JSON_LINES
    path: Annotated[RecordPath, BeforeValidator(_path_of)] = ()
    regex: str | None = None

    @field_validator("path")
    @classmethod
    def _is_of_array(cls, path: RecordPath, info: ValidationInfo) -> RecordPath:
        if info.data.get("form") is LineForm.REGEX:
            raise PydanticCustomError("path", 'the form "regex" has no path')
        return path

    @field_validator("regex")
    @classmethod
    def _compiles(cls, regex: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("form", LineForm.REGEX) is not LineForm.REGEX:
            raise PydanticCustomError("regex", 'only the form "regex" has an expression')
        if regex is not None:
            try:
                names = LinePattern(regex).names
            except PatternError as error:
                raise PydanticCustomError("regex", "{reason}", {"reason": str(error)}) from None
            if not names:
                raise PydanticCustomError("regex", "the expression has no named group, such as (?P<text>.*)")
        return regex


Scalar = str | int | float | bool


def _allowed_of(written: object) -> dict[str, list[Scalar]]:
    if not isinstance(written, Mapping):
        raise PydanticCustomError("values", 'values is a table: { "message.role" = ["user", "assistant"] }')
    found: dict[str, list[Scalar]] = {}
    for text, one in written.items():
        _paths_of(text)
        found[text] = one if isinstance(one, list) else [one]
        if not all(isinstance(value, str | int | float | bool) for value in found[text]):
            raise PydanticCustomError(
                "values", "{path} has to be a text, a number, or an array of these", {"path": text}
            )
    return found


class Match(_Table):
    """`[match]`: records of this format. Without it the format is used only if the user chooses it.

    Attributes:
        keys: paths that all have a value.
        values: allowed values by path.
    """

    keys: Annotated[tuple[RecordPath, ...], BeforeValidator(_paths_of)] = ()
    values: Annotated[dict[str, list[Scalar]], BeforeValidator(_allowed_of), Field(strict=False)] = {}

    @property
    def allowed(self) -> list[tuple[RecordPath, list[Scalar]]]:
        """Allowed values by path."""
        return [(parse_path(path), values) for path, values in self.values.items()]


class Fields(_Table):
    """`[fields]`: paths to the facts of a record."""

    id: Paths = ()
    time: Paths = ()
    time_unit: Annotated[TimeUnit, Field(strict=False)] = TimeUnit.ISO
    sender: Paths = ()
    receiver: Paths = ()
    text: Paths = ()
    session: Paths = ()
    agent: Paths = ()
    parent: Paths = ()


class CallFields(_Table):
    """`[call]`: paths to the facts of a tool call."""

    id: Paths = ()
    tool: Paths = ()
    arguments: Paths = ()


class ResultFields(_Table):
    """`[result]`: paths to the facts of a tool's result.

    Attributes:
        call: id of the call.
        error: a text, or a value that is true for a failure.
        error_values: values of `error` that mean a failure; empty for any that is not false, 0 or "ok".
    """

    call: Paths = ()
    tool: Paths = ()
    content: Paths = ()
    error: Paths = ()
    error_values: tuple[Scalar, ...] = Field(default=(), strict=False)


class SubAgentFields(_Table):
    """`[sub_agent]`: paths to the facts of an agent that a record starts or ends."""

    id: Paths = ()
    label: Paths = ()
    type: Paths = ()
    prompt: Paths = ()


class UsageFields(_Table):
    """`[usage]`: paths to the tokens of a model call.

    Attributes:
        id: common to all records of the same call; without it each record is another call.
        input_has_cache: `input` includes tokens from the cache, as OpenAI counts.
    """

    id: Paths = ()
    model: Paths = ()
    input: Paths = ()
    output: Paths = ()
    cache_read: Paths = ()
    cache_write: Paths = ()
    cost: Paths = ()
    input_has_cache: bool = False


def _events_of(written: object) -> tuple[EventKind, ...]:
    kinds: dict[Any, EventKind] = {kind.value: kind for kind in EventKind}
    names: list[Any] = written if isinstance(written, list) else [written]
    unknown = "an empty array" if not names else None
    unknown = next((str(name) for name in names if not isinstance(name, str) or name not in kinds), unknown)
    if unknown is not None:
        raise PydanticCustomError("event", "{name} is no event: {all}", {"name": unknown, "all": ", ".join(kinds)})
    return tuple(kinds[name] for name in names)


Events = Annotated[tuple[EventKind, ...], BeforeValidator(_events_of)]


class Kind(_Table):
    """`[kind]`: events of a record by its kind.

    Attributes:
        path: paths to the kind; without it the facts of a record decide.
        values: events by kind; several for a record with a text and a call.
        other: events of other kinds.
    """

    path: Paths = ()
    values: dict[str, Events] = {}
    other: Events = (EventKind.BOOKKEEPING,)


class Names(_Table):
    """`[participants]`: names for records that state no sender."""

    user: Printed = "user"
    agent: Printed = ""
    program: Printed = ""


class Declaration(_Table):
    """A declared format."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    title: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_printed)]
    traffic: Annotated[TrafficKind, Field(strict=False)] = TrafficKind.TRANSCRIPT
    lines: Lines = Lines()
    match: Match = Match()
    fields: Fields = Fields()
    call: CallFields = CallFields()
    result: ResultFields = ResultFields()
    sub_agent: SubAgentFields = SubAgentFields()
    usage: UsageFields = UsageFields()
    kind: Kind = Kind()
    participants: Names = Names()

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in FORMAT_TITLES:
            raise PydanticCustomError("name", "{name} is the name of a built-in format", {"name": name})
        return name

    @field_validator("lines")
    @classmethod
    def _is_complete(cls, lines: Lines) -> Lines:
        if lines.form is LineForm.REGEX and lines.regex is None:
            raise PydanticCustomError("regex", "the form \"regex\" needs an expression: regex = '(?P<text>.*)'")
        return lines


class Fault(NamedTuple):
    """A fault of a declaration.

    Attributes:
        place: line and column.
        reason: a sentence's end.
    """

    place: Place
    reason: str

    def __str__(self) -> str:
        return f"line {self.place.line}, column {self.place.column}: {self.reason}"


class DeclarationError(Exception):
    """A declaration has faults.

    Attributes:
        faults: at least one, by place.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = tuple(faults)


def parse_declaration(text: str) -> Declaration:
    """Parses a declaration.

    Raises:
        DeclarationError: with all faults.
    """
    if len(text) > MAX_BYTES:
        raise DeclarationError([Fault(Place(1, 1), f"a declaration has at most {MAX_BYTES:,} characters")])
    deep = _DEEP.search(text)
    if deep is not None:
        place = Place(text.count("\n", 0, deep.start()) + 1, deep.start() - text.rfind("\n", 0, deep.start()))
        raise DeclarationError([Fault(place, f"no TOML: more than {_MAX_PARTS} names are joined by dots")])
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError([_syntax_fault(text, str(error))]) from None
    except (RecursionError, ValueError, OverflowError) as error:  # deep arrays, integers of thousands of digits
        reason = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise DeclarationError([Fault(Place(1, 1), f"no TOML: {reason}")]) from None
    try:
        return Declaration.model_validate(written)
    except ValidationError as error:
        faults = _faults_of(error, written, TomlPlaces(text.replace("\r\n", "\n")))
        raise DeclarationError(faults) from None


_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _syntax_fault(text: str, message: str) -> Fault:
    """Returns the fault of a syntax error; `tomllib` writes its place at the end of the message."""
    found = _PLACE.search(message)
    reason = message[: found.start()] if found is not None else message
    if found is not None and found[1] is not None:
        return Fault(Place(int(found[1]), int(found[2])), f"no TOML: {reason}")
    line = text.replace("\r\n", "\n").split("\n")
    return Fault(Place(len(line), len(line[-1]) + 1), f"no TOML: {reason}")


def _faults_of(error: ValidationError, written: Mapping[str, Any], places: TomlPlaces) -> list[Fault]:
    found: dict[tuple[Place, str], Fault] = {}
    for one in error.errors(include_url=False, include_context=True)[:_MAX_NAMES]:
        path: KeyPath = _known_part(written, one["loc"])
        is_key = one["type"] in ("extra_forbidden", "missing")
        place = places.key_place(path) if is_key else places.value_place(path)
        reason = _reason(one, path)
        found[place, reason] = Fault(place, reason)
    return sorted(found.values())


def _known_part(document: Any, path: Sequence[str | int]) -> KeyPath:
    """Returns the steps of an error's location that are keys of the document; others name alternatives of a type."""
    known: list[str | int] = []
    written: Any = document
    for step in path:
        if isinstance(step, int):
            found = written[step] if isinstance(written, list) and step < len(written) else None
        else:
            found = written.get(step) if isinstance(written, dict) else None
        if found is None:  # TOML has no null
            break
        written = found
        known.append(step)
    return tuple(known)


def _reason(error: ErrorDetails, path: KeyPath) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{name} is no key of a declaration{_suggestion(path)}"
    if error["type"] == "missing":
        return f"{name} is missing"
    if error["type"] in ("enum", "string_pattern_mismatch"):
        expected = error.get("ctx", {}).get("expected")
        words = f"one of {expected}" if expected else "lower-case letters, digits and hyphens, such as my-robot"
        return f"{name} has to be {words}"
    if error["type"] in _WORDS:
        # A location that goes on below the value names one of several allowed types.
        words = _WORDS[error["type"]] if len(error["loc"]) == len(path) else "a text, a number, or true or false"
        return f"{'.'.join(map(str, path))} has to be {words}"
    return f"{'.'.join(map(str, path))}: {error['msg']}"


_WORDS = {
    "model_type": "a table", "dict_type": "a table", "tuple_type": "an array", "string_type": "a text",
    "string_too_short": "a text of at least 1 character", "string_too_long": "a text of at most 80 characters",
    "bool_type": "true or false", "int_type": "a number", "float_type": "a number",
}  # fmt: skip
"""What a value has to be, by Pydantic's name of the error."""


def _suggestion(path: KeyPath) -> str:
    """Returns the keys that are allowed beside an unknown one."""
    model: type[BaseModel] = Declaration
    for step in path[:-1]:
        inner = model.model_fields[step].annotation if step in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return ""
        model = inner
    return f"; there are {', '.join(model.model_fields)}"
