"""Reads a filter without operators as words to search for, and suggests the filter that was meant instead.

Used for texts that are no valid filter: whatever is one keeps its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.filters.ast import Presence, leaves_of
from inspector.filters.errors import FilterError, nearest_choice, truncate
from inspector.filters.grammar import RESERVED, STRING
from inspector.filters.parse import parse
from inspector.filters.strings import quote, unescape
from inspector.filters.syntax_errors import OTHER_SPELLINGS

_WORD = re.compile(
    rf"""\s*(?:(?P<quoted>{STRING})(?!\S)|(?P<pair>[^\W\d][\w.]*:(?:{STRING})(?!\S))"""
    r"""|(?P<word>[^\s"'()&|!=<>{}\\][^\s"()&|!=<>{}\\]*))"""
)
_FIELD_AND_VALUE = re.compile(rf"([^\W\d][\w.]*):({STRING}|[^\s\"]+)")
_MAX_SHOWN = 60
# Each word is one search of the whole text.
_MOST_WORDS = 100
_WRITTEN_BARE = ("whole number", "number", "yes or no", "severity")
_PROSE = ("text", "info", "summary", "comment")
"""Fields with long texts that a user would not write in full."""

SUGGESTED_FILTERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("failed", "failure", "failures", "errors", "exception"), ("failures", "error")),
    **dict.fromkeys(("rejected", "refused", "denied"), ("rejections", 'state == "rejected"')),
    **dict.fromkeys(("cancelled", "canceled"), ("cancellations", 'state == "cancelled"')),
    **dict.fromkeys(("thought", "thoughts", "thinking"), ("thoughts", 'kind == "reasoning/thought"')),
    **dict.fromkeys(("conclusion", "conclusions"), ("conclusions", 'kind == "reasoning/conclusion"')),
    "reasoning": ("reasoning", 'kind like "reasoning/*"'),
    **dict.fromkeys(("call", "calls"), ("calls", 'kind == "mcp/request"')),
    **dict.fromkeys(("result", "results"), ("results", 'kind == "mcp/response"')),
    **dict.fromkeys(("request", "requests"), ("requests", 'kind in {"mcp/request", "jsonrpc/request"}')),
    **dict.fromkeys(("response", "responses"), ("responses", 'kind in {"mcp/response", "jsonrpc/response"}')),
    **dict.fromkeys(("proposal", "proposals", "proposed"), ("proposals", 'kind == "mcp/proposal"')),
    **dict.fromkeys(("chat", "chats", "prompt", "prompts"), ("chat messages", 'kind == "chat"')),
    **dict.fromkeys(("unanswered", "pending", "open"), ("unanswered requests and proposals", "waiting")),
    **dict.fromkeys(("marked", "marks"), ("marked messages", "mark")),
    **dict.fromkeys(("commented", "comments"), ("messages with a comment", "comment")),
    **dict.fromkeys(("finding", "findings", "problem", "problems"), ("messages with findings", "finding")),
    **dict.fromkeys(("slow", "slowest"), ("results after 10 s or more", "latency >= 10s")),
    **dict.fromkeys(("collapsed", "transient", "consumed"), ("results with a lifecycle", "badge")),
}
"""Words that users write for a filter: a noun for the messages, and the filter."""


@dataclass(frozen=True, slots=True)
class FilterNote:
    """Advice about a valid filter."""

    message: str
    """The interpretation of the text."""
    suggestion: str = ""
    """A second sentence; with `replacement`, the question or label before it."""
    replacement: str | None = None
    """Filter to replace the whole text, if any."""

    def __str__(self) -> str:
        if self.replacement is None:
            return " ".join(filter(None, (self.message, self.suggestion)))
        end = "" if self.suggestion.endswith(":") else "?"
        return f"{self.message} {self.suggestion} {self.replacement}{end}"


@dataclass(frozen=True, slots=True)
class PlainWords:
    """Plain words and the search they stand for."""

    texts: tuple[str, ...]
    """The search terms."""
    filter: str
    """The search as a filter."""
    note: FilterNote


def plain_words(text: str, fields: Mapping[str, Any]) -> PlainWords | None:
    """Interprets a text as words to search for.

    Args:
        text: the text as written.
        fields: all fields by name.

    Returns:
        The search, unless the text is a filter or an attempt at one.

    Raises:
        FilterError: the text names fields as other programs do, as in `tool:Bash`.
    """
    words = _split_words(text)
    # A pasted paragraph is no search; it gets the syntax error instead.
    if not words or len(words) > _MOST_WORDS or _is_language(text, words, fields):
        return None
    _refuse_colons(text, words, fields)
    texts = tuple(word.text for word in words)
    searched = " && ".join(map(quote, texts))
    if len(words) == 1:
        heard = f"Searching for the word {truncate(words[0].text, _MAX_SHOWN)}."
    else:
        heard = f"Searching for the words {truncate(' '.join(word.written for word in words), _MAX_SHOWN)}."
    return PlainWords(texts, searched, _note(heard, words, fields))


def as_filter(text: str, fields: Mapping[str, Any]) -> str:
    """Returns the text as a filter that can be joined with others; plain words become their search."""
    try:
        words = plain_words(text, fields)
    except FilterError:
        return text
    return text if words is None else words.filter


@dataclass(frozen=True, slots=True)
class _Word:
    written: str
    text: str
    quoted: bool


def _split_words(text: str) -> list[_Word]:
    """Splits a text into words and quoted phrases; empty if it has filter characters outside quotes."""
    found: list[_Word] = []
    at, text = 0, text.strip()
    while at < len(text):
        word = _WORD.match(text, at)
        # Signs of the filter language outside quotes: an attempt at a filter.
        if word is None:
            return []
        written = word["quoted"] or word["pair"] or word["word"]
        content = unescape(written[1:-1])[0] if word["quoted"] else written
        if not content.strip() or written in ("~", "$context", "payload"):
            return []
        found.append(_Word(written, content, bool(word["quoted"])))
        at = word.end()
    return found


def _is_language(text: str, words: list[_Word], fields: Mapping[str, Any]) -> bool:
    """Returns True for a filter, an unfinished filter, or one with an operator of another language."""
    try:
        expression = parse(text)
    except FilterError:
        known = words[0].text in fields or words[0].text.startswith(("payload.", "json("))
        operators = RESERVED | OTHER_SPELLINGS
        # `tool is Bash` is an attempt at a comparison; `is Bash slow` is a search.
        return known and len(words) in (2, 3) and not words[0].quoted and words[1].text in operators
    leaves = list(leaves_of(expression)) if expression is not None else []
    names = [str(leaf.field) for leaf in leaves if isinstance(leaf, Presence)]
    # A single word is also a test of presence, but only of a field that exists.
    return len(names) < len(leaves) or any(name in fields or name.startswith("payload.") for name in names)


def _refuse_colons(text: str, words: list[_Word], fields: Mapping[str, Any]) -> None:
    """Raises FilterError if a word is a field, a colon and its value."""
    terms: list[str] = []
    named = ""
    for word in words:
        # Quotes state that the colon is part of the text.
        pair = None if word.quoted else _FIELD_AND_VALUE.fullmatch(word.written)
        if pair is not None and (pair[1] in fields or pair[1].startswith("payload.")):
            value = unescape(pair[2][1:-1])[0] if pair[2][0] in "\"'" else pair[2]
            terms.append(f"{pair[1]} == {_format_value(pair[1], value, fields)}")
            named = named or pair[1]
        else:
            terms.append(quote(word.text))
    if named:
        meant = " && ".join(terms)
        raise FilterError(
            f"The field {named} needs an operator, not a colon.", position=0, length=len(text),
            suggestion=f"Did you mean {truncate(meant, _MAX_SHOWN)}?", replacement=meant,
        )  # fmt: skip


def _format_value(field: str, value: str, fields: Mapping[str, Any]) -> str:
    """Formats a value for its field: numbers and truth values bare, all others in quotes."""
    bare = re.fullmatch(r"[\w.+-]+", value) is not None
    return value if bare and _type_name(field, fields) in _WRITTEN_BARE else quote(value)


def _type_name(field: str, fields: Mapping[str, Any]) -> str:
    return str(getattr(getattr(fields.get(field), "type", None), "value", "text"))


def _note(heard: str, words: list[_Word], fields: Mapping[str, Any]) -> FilterNote:
    """Chooses the suggestion for a search."""
    texts = [word.text for word in words]
    lower = " ".join(texts).casefold()
    first = texts[0]
    type_ = _type_name(first, fields)
    if len(words) == 2 and first in fields and type_ != "yes or no" and not words[0].quoted:
        # Users write a part of a long text, and equality would miss it.
        operator = "contains" if first in _PROSE else "=="
        return FilterNote(heard, "Did you mean", f"{first} {operator} {_format_value(first, texts[1], fields)}")
    connectors = {"or": " || ", "and": " && "}
    joined = [connectors.get(text.casefold()) for text in texts[1:-1]]
    if len(set(joined) - {None}) == 1 and len(words) % 2 and all(joined[::2]) and not any(joined[1::2]):
        sign = next(filter(None, joined))
        return FilterNote(heard, "Did you mean", sign.join(quote(text) for text in texts[::2]))
    if first.isdecimal() and len(words) == 1 and "no" in fields:
        return FilterNote(heard, "For the message of this number:", f"no == {first}")
    known = SUGGESTED_FILTERS.get(lower)
    if known is None and len(words) == 2 and lower.endswith((" calls", " call", " messages", " requests", " tools")):
        known = SUGGESTED_FILTERS.get(texts[0].casefold())
    # The suggested filters are about messages, not about runs or findings.
    if known is not None and "kind" in fields:
        return FilterNote(heard, f"For {known[0]}:", known[1])
    near = nearest_choice(first, fields) if len(words) == 1 else None
    if near is not None:
        return FilterNote(heard, "Did you mean the field", near)
    return FilterNote(heard, "For a field, write field == value.")
