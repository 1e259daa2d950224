"""Completes display filters: fields, operators, payload keys, and values of a capture with their counts.

The grammar decides the kind of candidate at the cursor, so no candidate causes a syntax error.
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
from inspector.store.messages.payload_values import OPEN_JSON, decode_embedded_json

MAX_CANDIDATES = 200
"""Limit of candidates."""
# The sample is decoded while the user types, so it must be small.
_MOST_KEYS, _PAYLOADS_READ = 60, 300
_NAME_FIELDS = ("tool", "from", "kind", "model")
"""Fields whose values are names that people search for."""
_PARTICIPANT_FIELDS = ("from", "to")
# Long messages are rare, and one of a megabyte would take as long as the whole sample.
_MAX_DECODED_BYTES = 1 << 16
"""Limit in bytes of a message that is decoded for completion."""
_MAX_SAMPLE_BYTES = 1 << 20
"""Limit in bytes of all messages that are decoded for it."""
_LONGEST_OFFERED = 200
"""Limit in characters of an offered payload value."""

_STRINGS = re.compile(STRING)
_QUOTE = re.compile("[\"']")
_WORD = re.compile(r"(?:json\((?:json\()*[\w.$-]*(?:\)+[\w.$-]*)*|[\w.$/:*@-]+)$")
_WORD_ON = re.compile(r"[\w.$/:*@-]*")
_SYMBOL = re.compile(r"[=!<>&|~]+$")
_WHOLE_SYMBOLS = frozenset(("==", "!=", "<=", ">=", "&&", "||"))
"""Symbols that no further character extends, so a new token may follow directly."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One completion."""

    text: str
    """The text to insert."""
    label: str
    """The text to display."""
    help: str = ""
    """One sentence; "" for values."""
    count: int | None = None
    """Number of messages, or other filtered items, with this value."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Candidates for a place of a filter text.

    Attributes:
        start, stop: range of characters that a candidate replaces.
        candidates: prefix matches, then substring matches; at most MAX_CANDIDATES.
        what: field, operator, value or word; "" if there are no candidates.
    """

    start: int
    stop: int
    what: str = ""
    candidates: list[Candidate] = field(default_factory=list)

    def applied(self, text: str, candidate: Candidate) -> tuple[str, int]:
        """Returns the text with a candidate inserted, and the new cursor position. A space follows unfinished text."""
        gap = " " if self.what != "value" and not text[self.stop : self.stop + 1].isspace() else ""
        lead = " " if self.what != "operator" and text[: self.start].endswith(tuple(_WHOLE_SYMBOLS)) else ""
        put_in = lead + candidate.text + gap
        return text[: self.start] + put_in + text[self.stop :], self.start + len(put_in)


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    stop: int
    written: str
    """Text up to the cursor, without its opening quote."""
    expected: frozenset[str]
    field: Field | None
    operator: Operator | None


class Completer:
    """Completes filters over one capture. Caches the counts of one field until new messages arrive.

    Args:
        analysis: the capture and its passes.
        fields: fields of messages, or of other filtered items, by name.
        payloads: complete payload fields too.
    """

    def __init__(
        self, analysis: Analysis, fields: Mapping[str, Field] = FIELD_BY_NAME, *, payloads: bool = True
    ) -> None:
        self._analysis = analysis
        self._known = fields
        self._payloads = payloads
        self._counted: tuple[str, bool, int] | None = None
        self._counts: _CachedCounts | _PathCounts = _CachedCounts(iter(()))

    def complete(self, text: str, cursor: int) -> Completion:
        """Returns completions at `cursor`, an offset in `text`. Never raises. O(messages) for values, in numpy."""
        place = _place_of(text, cursor, self._known)
        if place is None:
            return Completion(cursor, cursor)
        what, candidates = self._candidates_at(place)
        chosen = _rank_candidates(place.written, candidates)
        return Completion(place.start, place.stop, what if chosen else "", chosen)

    def _candidates_at(self, place: _Place) -> tuple[str, Iterable[Candidate]]:
        # A field and an operator are known, so a value of this field comes next.
        if "BARE" in place.expected and place.field is not None:
            return "value", self._value_candidates(place.field, place.operator, place.written.casefold())
        if "FIELD" in place.expected:
            return "field", self._fields(place.written)
        if "OPERATOR" in place.expected and place.field is not None:
            return "operator", [*_operators(place.field), *_word_candidates(place.expected)]
        return "word", _word_candidates(place.expected)

    def _fields(self, written: str) -> Iterator[Candidate]:
        yield from (Candidate(f.name, f.name, f.help) for f in self._known.values())
        if not self._payloads:
            return
        if written.startswith("payload"):
            # Only on request, since a sample of messages must be decoded.
            yield from (
                Candidate(name, name, "A value inside the payload.", count) for name, count in self._payload_keys()
            )
        if written.startswith("j"):
            yield Candidate(
                "json(", "json(...)", "A text of the payload that holds JSON, opened: json(payload.text).a."
            )
        if written.startswith("json("):
            yield from (Candidate(name, name, "A value in a text.", count) for name, count in self._opened_keys())

    def filter_for(self, word: str) -> str | None:
        """Returns the filter for a tool, participant, kind or model of this name, if any; ignores case."""
        wanted = word.casefold()
        for name in _NAME_FIELDS:
            field_ = self._known.get(name)
            for value, _ in () if field_ is None else self._counts_of(field_, calls=False).matching(wanted):
                # People search for `grep`, tools may be named `files/grep`.
                if wanted in (value.casefold(), value.casefold().rpartition("/")[2]):
                    return f"{name} == {quote(value)}"
        return None

    def payload_names(self) -> list[str]:
        """Returns names of payload fields in a sample of messages, by descending frequency."""
        return [name for name, _ in self._payload_keys()]

    def _sampled_values(self, field_: Field) -> Iterator[Candidate]:
        """Yields values of a payload field in a sample of messages, by descending frequency.

        Decoding all would be too slow.
        """
        asked = (field_.name, False, len(self._analysis))
        if self._counted != asked:
            column = field_.column(self._analysis)
            # Candidates are shown on screen, so secrets and values of secret keys are left out.
            values = ((row, column.value(row)) for row in self._some_rows())
            seen = Counter(
                value
                for row, value in values
                if isinstance(value, str) and len(value) <= _LONGEST_OFFERED and mask_text(value) == value
                if field_.secret_at(self._analysis, row) is None
            )
            self._counted, self._counts = asked, _CachedCounts(iter(seen.most_common(MAX_CANDIDATES)))
        for value, _count in self._counts:
            yield Candidate(quote(value), value, "Seen in some of the messages.")

    def _some_rows(self) -> list[int]:
        """Returns a sample of short messages; few enough to decode while the user types."""
        total = len(self._analysis)
        if not total:
            return []
        # Spread over the capture: the first messages are mostly greetings and lists.
        rows = np.unique(np.linspace(0, total - 1, min(total, _PAYLOADS_READ)).astype(int))
        sizes = self._analysis.capture.columns["size"][rows]
        rows, sizes = rows[sizes <= _MAX_DECODED_BYTES], sizes[sizes <= _MAX_DECODED_BYTES]
        return rows[sizes.cumsum(dtype=np.int64) <= _MAX_SAMPLE_BYTES].tolist()

    def _payload_keys(self) -> list[tuple[str, int]]:
        """Returns names of payload fields in a sample of messages, by descending frequency."""
        capture, seen = self._analysis.capture, Counter[tuple[str, ...]]()
        for row in self._some_rows():
            payload = capture.records.payload(row)
            seen.update((key,) for key in payload)
            seen.update((key, inner) for key, value in payload.items() if isinstance(value, dict) for inner in value)
        return _named(seen)

    def _opened_keys(self) -> list[tuple[str, int]]:
        """Returns names of fields inside texts that hold JSON, by descending frequency."""
        capture, seen = self._analysis.capture, Counter[tuple[str, ...]]()
        for row in self._some_rows():
            for path, text in _texts(capture.records.payload(row), ()):
                value = decode_embedded_json(text)
                if isinstance(value, dict | list):
                    # The keys of list items differ; the text itself is still a field.
                    within = value if isinstance(value, dict) else {}
                    seen.update((*path, OPEN_JSON, *more) for more in ((), *((key,) for key in within)))
        return _named(seen)

    def _value_candidates(self, field_: Field, operator: Operator | None, wanted: str) -> Iterator[Candidate]:
        """Yields values. Of thousands of values, only the matching ones become candidates."""
        if field_.type is FieldType.BOOLEAN:
            yield Candidate("true", "true")
        elif field_.type is FieldType.SEVERITY:
            yield from (Candidate(severity.word, severity.word) for severity in Severity)
        elif field_.type is FieldType.ANY:
            yield from self._sampled_values(field_) if field_.secret is None else ()
        else:
            calls = operator is not None and operator.symbol == "like" and field_.like_column is not None
            counts = self._counts_of(field_, calls=calls)
            for value, count in counts.matching(wanted):
                yield Candidate(quote(value), self._label(field_, value), count=count)
            if field_.name in _PARTICIPANT_FIELDS:  # sub-agents are shown by names that filters do not know
                for value, count in counts:
                    label = self._label(field_, value)
                    if label != value and wanted in label.casefold() and wanted not in value.casefold():
                        yield Candidate(quote(value), label, count=count)
            seen = {value for value, _ in self._counts_of(field_, calls=calls)} if field_.values else set[str]()
            yield from (Candidate(quote(value), value, count=0) for value in field_.values if value not in seen)
            if field_.type is FieldType.CONTEXT:
                yield Candidate("$context", "$context", "The context that is selected.")

    def _label(self, field_: Field, value: str) -> str:
        """Returns a value to display; that of a sub-agent after its shown name."""
        shown = self._analysis.capture.shown_name(value) if field_.name in _PARTICIPANT_FIELDS else value
        return value if shown == value else f"{' '.join(shown.split())} ({value})"

    def _counts_of(self, field_: Field, *, calls: bool) -> _CachedCounts | _PathCounts:
        asked = (field_.name, calls, len(self._analysis))
        if self._counted != asked:
            make = field_.like_column if calls and field_.like_column is not None else field_.column
            # Counted once per field, then filtered at each key press.
            self._counted, self._counts = asked, _counts_in(make(self._analysis))
        return self._counts


def _named(paths: Counter[tuple[str, ...]]) -> list[tuple[str, int]]:
    """Returns the fields of the most frequent paths; a field takes 0.3 ms, so only these are made."""
    return [(payload_field(path).name, count) for path, count in paths.most_common(_MOST_KEYS)]


_DEEP_TEXT = 5
"""Maximum nesting depth of texts that are searched for JSON."""


def _texts(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields texts of a payload that may hold JSON, with their paths."""
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "["):
            yield path, value
    elif len(path) < _DEEP_TEXT and isinstance(value, dict | list):
        # Items of a list mostly have the same shape, so three of them show its keys.
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            yield from _texts(inner, (*path, str(key)))


class _CachedCounts:
    """Counted values, computed lazily and cached."""

    def __init__(self, counts: Iterator[tuple[str, int]]) -> None:
        self._left = counts
        self._known: list[tuple[str, int]] = []

    def __iter__(self) -> Iterator[tuple[str, int]]:
        yield from self._known
        for one in self._left:
            self._known.append(one)
            yield one

    def matching(self, wanted: str) -> Iterator[tuple[str, int]]:
        """Yields up to MAX_CANDIDATES values that contain `wanted` (lower case) and no secret; prefix matches first."""
        inside: list[tuple[str, int]] = []

        def in_order() -> Iterator[tuple[str, int]]:
            for one in self:
                at = _match_offset(wanted, one)
                if at > 0:
                    inside.append(one)
                elif not at:
                    yield one
            yield from inside

        return islice(filter(_may_be_offered, in_order()), MAX_CANDIDATES)


class _PathCounts:
    """Context paths with message counts; builds only the offered ones of thousands.

    Args:
        column: column of paths.
        paths: its table.
    """

    def __init__(self, column: Interned, paths: PathTable) -> None:
        self._paths = paths
        self._search = paths.search()
        # Two spaces may have equal paths, which are one candidate.
        self._are_distinct = paths.are_distinct
        self._counts = _entry_counts(column, len(paths))

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return self._counts_of_nodes(np.ones(len(self._counts) - 1, np.bool_))

    def matching(self, wanted: str) -> Iterator[tuple[str, int]]:
        """Yields matches in the same order as `_CachedCounts.matching`."""

        def in_order() -> Iterator[tuple[str, int]]:
            yield from (
                one
                for one in self._counts_of_nodes(self._search.with_prefix(wanted))
                if _match_offset(wanted, one) == 0
            )
            yield from (
                one for one in self._counts_of_nodes(self._search.holding(wanted)) if _match_offset(wanted, one) > 0
            )

        return islice(filter(_may_be_offered, in_order()), MAX_CANDIDATES)

    def _counts_of_nodes(self, nodes: NDArray[np.bool_]) -> Iterator[tuple[str, int]]:
        """Yields paths of nodes with messages, by descending count."""
        entries = np.flatnonzero(nodes & (self._counts[1:] > 0)) + 1
        order = entries[np.argsort(-self._counts[entries], kind="stable")]
        found = ((self._paths[entry], int(self._counts[entry])) for entry in order.tolist())
        return found if self._are_distinct else iter(_merge_counts(found))


def _counts_in(column: Column) -> _CachedCounts | _PathCounts:
    """Returns the values of a column with message counts."""
    if isinstance(column, Interned) and isinstance(column.table, PathTable):
        return _PathCounts(column, column.table)
    return _CachedCounts(_value_counts(column))


def _value_counts(column: Column) -> Iterator[tuple[str, int]]:
    """Yields the strings of a column with message counts, by descending count; empty for other columns."""
    if isinstance(column, Interned):
        counts = _entry_counts(column)
        order: list[int] = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts))].tolist()
        table = column.table.texts() if isinstance(column.table, NodeTable) else column.table
        found = ((table[entry], int(counts[entry])) for entry in order)
        yield from _merge_counts(found) if isinstance(column.table, NodeTable) else found
    elif isinstance(column, InternedSets):
        seen: Counter[str] = Counter()
        counts = _entry_counts(column)
        for entry in np.flatnonzero(counts).tolist():
            # A message counts once, even if its list names a value twice.
            for value in set(column.table[entry]):
                seen[value] += int(counts[entry])
        yield from seen.most_common()


def _merge_counts(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Merges duplicate values, such as names of contexts, and sums their counts."""
    sums = defaultdict[str, int](int)
    for value, count in counts:
        sums[value] += count
    return sorted(sums.items(), key=lambda one: one[1], reverse=True)


def _match_offset(wanted: str, counted: tuple[str, int]) -> int:
    """Returns the offset of a lower-case text in a value, ignoring case; -1 if absent."""
    return counted[0].casefold().find(wanted)


def _may_be_offered(counted: tuple[str, int]) -> bool:
    """Returns True if the value contains no secret: hidden text must not be offered."""
    return mask_text(counted[0]) == counted[0]


def _entry_counts(column: Interned | InternedSets, at_least: int = 1) -> NDArray[np.int64]:
    """Returns message counts by table entry, at least `at_least` long. The absent entry counts 0."""
    counts = np.bincount(column.ids[0 : len(column)], minlength=at_least)
    # Entry 0 is the absent value.
    counts[0] = 0
    return counts


def _operators(field_: Field) -> Iterator[Candidate]:
    for operator in operators_for(field_.type):
        text = "in {" if operator.symbol == "in" else operator.symbol
        yield Candidate(text, operator.symbol, operator.help)


def _word_candidates(expected: frozenset[str]) -> Iterator[Candidate]:
    if "_AND" in expected:
        yield Candidate("&&", "&&", "Both must hold.")
        yield Candidate("||", "||", "One of both must hold.")
    if "LBRACE" in expected:
        yield Candidate("{", "{", "The beginning of a set of values.")
    if "CLOSE" in expected:
        yield Candidate("}", "}", "The end of the set.")


def _rank_candidates(written: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Returns prefix matches, then substring matches; empty if the only match is already written in full."""
    wanted = written.casefold()
    begins: list[Candidate] = []
    inside: list[Candidate] = []
    for candidate in candidates:
        label = candidate.label.casefold()
        if label.startswith(wanted):
            begins.append(candidate)
            if len(begins) >= MAX_CANDIDATES:
                break
        elif wanted in label and len(inside) < MAX_CANDIDATES:
            inside.append(candidate)
    found = (begins + inside)[:MAX_CANDIDATES]
    # A popup with the finished word would only take the Enter key.
    return [] if [candidate.label for candidate in found] == [written] else found


def _place_of(text: str, cursor: int, fields: Mapping[str, Field]) -> _Place | None:
    """Returns the completion place at the cursor; None inside text that is not a filter."""
    before = text[:cursor]
    start, stop, written = _written_at(text, before)
    if written in _WHOLE_SYMBOLS:
        start, stop, written = cursor, cursor, ""
    head = text[:start]
    whole = before[-2:] in _WHOLE_SYMBOLS
    if not written and start == stop and head and not head[-1].isspace() and head[-1] not in "({,!" and not whole:
        return None  # after a finished token
    try:
        # Only the text before the token decides: what follows may be unfinished.
        tokens, expected = parser_at(head)
    except (UnexpectedInput, FilterError):
        return None
    if _SYMBOL.fullmatch(written) and not expected & {"OPERATOR", "_AND"}:
        if written.strip("!"):
            return None
        start, written = cursor, ""  # the operand of `!` comes next
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
    """Returns start and end of the token at the cursor, and its text up to the cursor."""
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
    """Returns the offset of the quoted string around the cursor, if any."""
    at = 0
    while (quotes := _QUOTE.search(before, at)) is not None:
        whole = _STRINGS.match(before, quotes.start())
        if whole is None:
            return quotes.start()
        at = whole.end()
    return None
