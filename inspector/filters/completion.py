"""What may come next in a display filter: fields, operators, and the values seen in a capture, with how often.

The grammar says which of these fits where the cursor stands, so that what is offered can never be a syntax error.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from lark.exceptions import UnexpectedInput
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Interned, InternedSets
from inspector.analysis.findings import Severity
from inspector.analysis.passes.contexts.node_columns import NodeTable, PathTable
from inspector.filters.ast import Presence
from inspector.filters.errors import FilterError
from inspector.filters.field import Field, FieldType
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.grammar import STRING
from inspector.filters.operators import OPERATOR_BY_SPELLING, Operator, operators_for
from inspector.filters.parse import parse, parser_at
from inspector.filters.payloads import payload_field
from inspector.filters.strings import quote, unescape
from inspector.protocol.secrets.masking import mask_text
from inspector.store.messages.payload_values import OPEN_JSON, opened

MOST = 200
"""Candidates offered at a place."""
_MOST_KEYS, _PAYLOADS_READ = 60, 300
_NAMED = ("tool", "from", "kind", "model")
"""Fields with names that people search for."""
_SHORT = 1 << 16
"""Bytes of a message that is decoded for this."""
_LONGEST_OFFERED = 200
"""Characters of a payload's value that somebody may want to compare with."""

_STRINGS = re.compile(STRING)
_QUOTE = re.compile("[\"']")
_WORD = re.compile(r"(?:json\((?:json\()*[\w.$-]*(?:\)+[\w.$-]*)*|[\w.$/:*@-]+)$")
_WORD_ON = re.compile(r"[\w.$/:*@-]*")
_SYMBOL = re.compile(r"[=!<>&|~]+$")
_WHOLE_SYMBOLS = frozenset(("==", "!=", "<=", ">=", "&&", "||"))
"""What cannot be gone on with: right behind it the next thing may be written."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be put in."""

    text: str
    """What is put in."""
    label: str
    """What is shown."""
    help: str = ""
    """One sentence; "" for values."""
    count: int | None = None
    """How many have this value: messages, or what else is filtered."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What is offered at a place of a filter text.

    Attributes:
        start, stop: the characters a candidate takes the place of.
        candidates: what begins as what is written there, then what has it inside; at most MOST.
        what: field, operator, value or word; "" when nothing is offered.
    """

    start: int
    stop: int
    what: str = ""
    candidates: list[Candidate] = field(default_factory=list)

    def applied(self, text: str, candidate: Candidate) -> tuple[str, int]:
        """The text with a candidate put in, and where the cursor is then; a blank follows what goes on."""
        gap = " " if self.what != "value" and not text[self.stop : self.stop + 1].isspace() else ""
        lead = " " if self.what != "operator" and text[: self.start].endswith(tuple(_WHOLE_SYMBOLS)) else ""
        put_in = lead + candidate.text + gap
        return text[: self.start] + put_in + text[self.stop :], self.start + len(put_in)


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    stop: int
    written: str
    """What is written there so far, without its quote."""
    expected: frozenset[str]
    field: Field | None
    operator: Operator | None


class Completer:
    """Completes filters over one capture. Remembers the counts of the field asked last, as long as nothing comes.

    Args:
        analysis: the capture and what the passes know about it.
        fields: by name; those of messages, or of what else is filtered in their language.
        payloads: whether there are payloads to look into.
    """

    def __init__(
        self, analysis: Analysis, fields: Mapping[str, Field] = FIELD_BY_NAME, *, payloads: bool = True
    ) -> None:
        self._analysis = analysis
        self._known = fields
        self._payloads = payloads
        self._counted: tuple[str, bool, int] | None = None
        self._counts: _Remembered | _PathCounts = _Remembered(iter(()))

    def complete(self, text: str, cursor: int) -> Completion:
        """What may stand at the cursor, a place in `text`; never raises. O(messages) for values, in numpy."""
        place = _place_of(text, cursor, self._known)
        if place is None:
            return Completion(cursor, cursor)
        what, candidates = self._offered(place)
        chosen = _chosen(place.written, candidates)
        return Completion(place.start, place.stop, what if chosen else "", chosen)

    def _offered(self, place: _Place) -> tuple[str, Iterable[Candidate]]:
        if "BARE" in place.expected and place.field is not None:
            return "value", self._values(place.field, place.operator, place.written.casefold())
        if "FIELD" in place.expected:
            return "field", self._fields(place.written)
        if "OPERATOR" in place.expected and place.field is not None:
            return "operator", [*_operators(place.field), *_words(place.expected)]
        return "word", _words(place.expected)

    def _fields(self, written: str) -> Iterator[Candidate]:
        yield from (Candidate(f.name, f.name, f.help) for f in self._known.values())
        if not self._payloads:
            return
        if written.startswith("payload"):
            yield from (Candidate(name, name, "A value inside the payload.", count) for name, count in self._keys())
        if written.startswith("j"):
            yield Candidate(
                "json(", "json(...)", "A text of the payload that holds JSON, opened: json(payload.text).a."
            )
        if written.startswith("json("):
            yield from (Candidate(name, name, "A value in a text.", count) for name, count in self._opened_keys())

    def filter_for(self, word: str) -> str | None:
        """Return the filter for a tool, participant, kind or model of this name, letter case aside; None if none is."""
        wanted = word.casefold()
        for name in _NAMED:
            field_ = self._known.get(name)
            for value, _ in () if field_ is None else self._counts_of(field_, calls=False).holding(wanted):
                if wanted in (value.casefold(), value.casefold().rpartition("/")[2]):
                    return f"{name} == {quote(value)}"
        return None

    def payload_names(self) -> list[str]:
        """Names of values in the payloads of some messages, as fields; the frequent ones first."""
        return [name for name, _ in self._keys()]

    def _seen_in(self, field_: Field) -> Iterator[Candidate]:
        """Values of a payload's field in some messages, the frequent ones first; all could not be decoded in time."""
        asked = (field_.name, False, len(self._analysis))
        if self._counted != asked:
            column = field_.column(self._analysis)
            values = ((row, column.value(row)) for row in self._some_rows())
            seen = Counter(
                value
                for row, value in values
                if isinstance(value, str) and len(value) <= _LONGEST_OFFERED and mask_text(value) == value
                if field_.secret_at(self._analysis, row) is None
            )
            self._counted, self._counts = asked, _Remembered(iter(seen.most_common(MOST)))
        for value, _count in self._counts:
            yield Candidate(quote(value), value, "Seen in some of the messages.")

    def _some_rows(self) -> list[int]:
        """Messages from everywhere, so few and so short that they can be decoded while one types."""
        total = len(self._analysis)
        if not total:
            return []
        rows = np.unique(np.linspace(0, total - 1, min(total, _PAYLOADS_READ)).astype(int))
        short = self._analysis.capture.columns["size"][rows] <= _SHORT
        return rows[short].tolist()

    def _keys(self) -> list[tuple[str, int]]:
        """Names of values in the payloads of some messages, the frequent ones first."""
        capture, seen = self._analysis.capture, Counter[str]()
        for row in self._some_rows():
            payload = capture.records.payload(row)
            seen.update(payload_field((key,)).name for key in payload)
            seen.update(
                payload_field((key, inner)).name
                for key, value in payload.items()
                if isinstance(value, dict)
                for inner in value
            )
        return seen.most_common(_MOST_KEYS)

    def _opened_keys(self) -> list[tuple[str, int]]:
        """The same of texts that hold JSON, and of what is in them."""
        capture, seen = self._analysis.capture, Counter[str]()
        for row in self._some_rows():
            for path, text in _texts(capture.records.payload(row), ()):
                value = opened(text)
                if isinstance(value, dict | list):
                    within = value if isinstance(value, dict) else {}
                    seen.update(payload_field((*path, OPEN_JSON, *more)).name for more in ((), *((k,) for k in within)))
        return seen.most_common(_MOST_KEYS)

    def _values(self, field_: Field, operator: Operator | None, wanted: str) -> Iterator[Candidate]:
        """Values; of the thousands there may be only those are made candidates that have what is written in them."""
        if field_.type is FieldType.BOOLEAN:
            yield Candidate("true", "true")
        elif field_.type is FieldType.SEVERITY:
            yield from (Candidate(severity.word, severity.word) for severity in Severity)
        elif field_.type is FieldType.ANY:
            yield from self._seen_in(field_) if field_.secret is None else ()
        else:
            calls = operator is not None and operator.symbol == "like" and field_.like_column is not None
            for value, count in self._counts_of(field_, calls=calls).holding(wanted):
                yield Candidate(quote(value), value, count=count)
            seen = {value for value, _ in self._counts_of(field_, calls=calls)} if field_.values else set[str]()
            yield from (Candidate(quote(value), value, count=0) for value in field_.values if value not in seen)
            if field_.type is FieldType.CONTEXT:
                yield Candidate("$context", "$context", "The context that is selected.")

    def _counts_of(self, field_: Field, *, calls: bool) -> _Remembered | _PathCounts:
        asked = (field_.name, calls, len(self._analysis))
        if self._counted != asked:
            make = field_.like_column if calls and field_.like_column is not None else field_.column
            self._counted, self._counts = asked, _counts_in(make(self._analysis))
        return self._counts


_DEEP_TEXT = 5
"""So far down texts are looked for that hold JSON."""


def _texts(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts in a payload that may hold JSON, with their paths."""
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "["):
            yield path, value
    elif len(path) < _DEEP_TEXT and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            yield from _texts(inner, (*path, str(key)))


class _Remembered:
    """Values and their counts, worked out as far as anybody has asked."""

    def __init__(self, counts: Iterator[tuple[str, int]]) -> None:
        self._left = counts
        self._known: list[tuple[str, int]] = []

    def __iter__(self) -> Iterator[tuple[str, int]]:
        yield from self._known
        for one in self._left:
            self._known.append(one)
            yield one

    def holding(self, wanted: str) -> Iterator[tuple[str, int]]:
        """The first of those that may be offered where a text in lower case is written: what begins so first."""
        inside: list[tuple[str, int]] = []

        def in_order() -> Iterator[tuple[str, int]]:
            for one in self:
                at = _place(wanted, one)
                if at > 0:
                    inside.append(one)
                elif not at:
                    yield one
            yield from inside

        return islice(filter(_may_be_offered, in_order()), MOST)


class _PathCounts:
    """Paths of contexts and how many messages each holds; of thousands those alone are made that are offered.

    Args:
        column: whose values are paths.
        paths: its table.
    """

    def __init__(self, column: Interned, paths: PathTable) -> None:
        self._paths = paths
        self._search = paths.search()
        self._are_distinct = paths.are_distinct
        self._counts = _entry_counts(column, len(paths))

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return self._some(np.ones(len(self._counts) - 1, np.bool_))

    def holding(self, wanted: str) -> Iterator[tuple[str, int]]:
        """As of what is remembered."""

        def in_order() -> Iterator[tuple[str, int]]:
            yield from (one for one in self._some(self._search.beginning(wanted)) if _place(wanted, one) == 0)
            yield from (one for one in self._some(self._search.holding(wanted)) if _place(wanted, one) > 0)

        return islice(filter(_may_be_offered, in_order()), MOST)

    def _some(self, nodes: NDArray[np.bool_]) -> Iterator[tuple[str, int]]:
        """Paths of some nodes that hold messages, the frequent ones first."""
        entries = np.flatnonzero(nodes & (self._counts[1:] > 0)) + 1
        order = entries[np.argsort(-self._counts[entries], kind="stable")]
        found = ((self._paths[entry], int(self._counts[entry])) for entry in order.tolist())
        return found if self._are_distinct else iter(_summed(found))


def _counts_in(column: Column) -> _Remembered | _PathCounts:
    """The values of a column and how many messages have each."""
    if isinstance(column, Interned) and isinstance(column.table, PathTable):
        return _PathCounts(column, column.table)
    return _Remembered(_value_counts(column))


def _value_counts(column: Column) -> Iterator[tuple[str, int]]:
    """The strings of a column and how many messages have each, the frequent ones first; none for other columns."""
    if isinstance(column, Interned):
        counts = _entry_counts(column)
        order: list[int] = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts))].tolist()
        table = column.table.texts() if isinstance(column.table, NodeTable) else column.table
        found = ((table[entry], int(counts[entry])) for entry in order)
        yield from _summed(found) if isinstance(column.table, NodeTable) else found
    elif isinstance(column, InternedSets):
        seen: Counter[str] = Counter()
        counts = _entry_counts(column)
        for entry in np.flatnonzero(counts).tolist():
            for value in set(column.table[entry]):
                seen[value] += int(counts[entry])
        yield from seen.most_common()


def _summed(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Values of which some come more than once, as names of contexts do, each with the sum of its counts."""
    sums = defaultdict[str, int](int)
    for value, count in counts:
        sums[value] += count
    return sorted(sums.items(), key=lambda one: one[1], reverse=True)


def _place(wanted: str, counted: tuple[str, int]) -> int:
    """Where a text in lower case stands in a value, letter case aside; -1."""
    return counted[0].casefold().find(wanted)


def _may_be_offered(counted: tuple[str, int]) -> bool:
    """Whether nothing in a value must be hidden: what is not shown cannot be offered."""
    return mask_text(counted[0]) == counted[0]


def _entry_counts(column: Interned | InternedSets, at_least: int = 1) -> NDArray[np.int64]:
    """How many messages have each entry of the table, of so many of them; none has the absent one."""
    counts = np.bincount(column.ids[0 : len(column)], minlength=at_least)
    counts[0] = 0
    return counts


def _operators(field_: Field) -> Iterator[Candidate]:
    for operator in operators_for(field_.type):
        text = "in {" if operator.symbol == "in" else operator.symbol
        yield Candidate(text, operator.symbol, operator.help)


def _words(expected: frozenset[str]) -> Iterator[Candidate]:
    if "_AND" in expected:
        yield Candidate("&&", "&&", "Both must hold.")
        yield Candidate("||", "||", "One of both must hold.")
    if "LBRACE" in expected:
        yield Candidate("{", "{", "The beginning of a set of values.")
    if "CLOSE" in expected:
        yield Candidate("}", "}", "The end of the set.")


def _chosen(written: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """What begins as written, then what has it inside; nothing when all of it is written already."""
    wanted = written.casefold()
    begins: list[Candidate] = []
    inside: list[Candidate] = []
    for candidate in candidates:
        label = candidate.label.casefold()
        if label.startswith(wanted):
            begins.append(candidate)
            if len(begins) >= MOST:
                break
        elif wanted in label and len(inside) < MOST:
            inside.append(candidate)
    found = (begins + inside)[:MOST]
    return [] if [candidate.label for candidate in found] == [written] else found


def _place_of(text: str, cursor: int, fields: Mapping[str, Field]) -> _Place | None:
    """What is being written at the cursor; None where nothing can be: in the middle of what is no filter."""
    before = text[:cursor]
    start, stop, written = _written_at(text, before)
    if written in _WHOLE_SYMBOLS:
        start, stop, written = cursor, cursor, ""
    head = text[:start]
    whole = before[-2:] in _WHOLE_SYMBOLS
    if not written and start == stop and head and not head[-1].isspace() and head[-1] not in "({,!" and not whole:
        return None  # at the end of something finished
    try:
        tokens, expected = parser_at(head)
    except (UnexpectedInput, FilterError):
        return None
    if _SYMBOL.fullmatch(written) and not expected & {"OPERATOR", "_AND"}:
        if written.strip("!"):
            return None
        start, written = cursor, ""  # what is not to hold comes after it
    named = next((token.value for token in reversed(tokens) if token.type == "FIELD"), None)
    symbol = next((token.value for token in reversed(tokens) if token.type in ("OPERATOR", "IN")), None)
    return _Place(
        start, stop, written, expected, _field(named, fields),
        None if symbol is None else OPERATOR_BY_SPELLING.get(symbol),
    )  # fmt: skip


def _field(name: str | None, fields: Mapping[str, Field]) -> Field | None:
    if name is None:
        return None
    if name.startswith(("payload.", "json(")):
        with contextlib.suppress(FilterError):
            expression = parse(name)
            if isinstance(expression, Presence) and len(expression.field.path) > 1:
                return payload_field(expression.field.path[1:])
        return None
    return fields.get(name)


def _written_at(text: str, before: str) -> tuple[int, int, str]:
    """The piece at the cursor: where it begins and ends, and what of it stands before the cursor."""
    cursor = len(before)
    opened = _open_quote(before)
    if opened is not None:
        whole = _STRINGS.match(text, opened)
        return opened, whole.end() if whole else cursor, unescape(before[opened + 1 :])[0]
    word = _WORD.search(before) or _SYMBOL.search(before)
    if word is None:
        return cursor, cursor, ""
    rest = _WORD_ON.match(text, cursor) if _WORD.search(before) else None
    return word.start(), rest.end() if rest else cursor, word[0]


def _open_quote(before: str) -> int | None:
    """Where the quoted string begins in whose middle the cursor is."""
    at = 0
    while (quotes := _QUOTE.search(before, at)) is not None:
        whole = _STRINGS.match(before, quotes.start())
        if whole is None:
            return quotes.start()
        at = whole.end()
    return None
