"""Comparison of two messages, by their values or by the words of their texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.stories import require_message
from inspector.engine.threads import in_thread_if_large
from inspector.present.json_spans import span_at
from inspector.present.message_difference import Change as Change
from inspector.present.message_difference import align_lines, change_counts, text_changes, value_changes
from inspector.present.plot_words import message_words
from inspector.present.subject import TEXT_KINDS
from inspector.present.wire_text import visible_controls
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.messages.piece_masks import shown_line

_MAX_VALUE_CHARACTERS = 200_000
"""Most characters of a message compared by values; longer ones are compared by lines."""
_MIN_WORD_CHARACTERS = 24
"""Fewest characters of a changed text whose words are compared."""

Kind = Literal["added", "removed", "changed"]
Aspect = Literal["values", "text"]


class Light(msgspec.Struct, frozen=True):
    """A differing range of a text.

    Attributes:
        start, stop: its characters.
        kind: kind of the change.
    """

    start: int
    stop: int
    kind: Kind


class ComparedSide(msgspec.Struct, frozen=True):
    """One of two compared messages.

    Attributes:
        title: names the message.
        text: its JSON, or its text; masked, with visible control characters.
        lights: differing ranges of the text.
    """

    title: str
    text: str
    lights: list[Light]


class Comparison(msgspec.Struct, frozen=True):
    """Two compared messages.

    Attributes:
        aspect: what is compared.
        words: the number of differences.
        left, right: the messages.
        is_json: the texts are JSON.
        changes: differing values, by path; empty if words or lines are compared.
    """

    aspect: Aspect
    words: str
    left: ComparedSide
    right: ComparedSide
    is_json: bool
    changes: list[Change]


class CompareMessages(Request[Comparison], frozen=True):
    """Compares two messages.

    Attributes:
        left, right: their indices.
        aspect: None compares texts if both messages consist of text and the texts differ.
    """

    left: int
    right: int
    aspect: Aspect | None = None


@dataclass(frozen=True, slots=True)
class _Side:
    title: str
    value: object
    text: str
    is_text_message: bool
    """True if the text is the message's main content."""

    def masked(self) -> _Side:
        return replace(self, value=mask_secrets(self.value), text=visible_controls(mask_text(self.text)))


def _side_of(document: CaptureDocument, message: int) -> _Side:
    """Reads a message, without masking."""
    capture = document.capture
    value = capture.records.envelope(message)
    if not isinstance(value, dict | list):
        # Lines that are not JSON are compared as text.
        value = shown_line(capture, message).decode("utf-8", "backslashreplace")
    kind = capture.string("kind", message) or ""
    said = text_shown(kind, capture.records.payload(message)) or ""
    says = bool(said) and (kind in TEXT_KINDS or kind == kinds.RESPONSE)
    return _Side(message_words(document, message), value, said, says)


def _compare(held: OpenDocument, asked: CompareMessages) -> Steps[Comparison]:
    for message in (asked.left, asked.right):
        require_message(held, message)
    return (
        yield from compared_messages((held.document, asked.left), (held.document, asked.right), asked.aspect)
    )  # fmt: skip


def compared_messages(
    left: tuple[CaptureDocument, int], right: tuple[CaptureDocument, int], aspect: Aspect | None
) -> Steps[Comparison]:
    """Compares two messages, each of a document; `aspect` as in `CompareMessages`."""
    sides: list[_Side] = []
    size = 0
    for document, message in (left, right):
        sides.append(_side_of(document, message))
        size += int(document.capture.columns["size"][message])
        yield
    return (yield from in_thread_if_large(lambda: _compared([side.masked() for side in sides], aspect), size))


def _compared(sides: Sequence[_Side], wanted: Aspect | None) -> Comparison:
    left, right = sides
    consist_of_text = left.is_text_message and right.is_text_message
    aspect = wanted or ("text" if consist_of_text and left.text != right.text else "values")
    if aspect == "text":
        return _by_text(sides, (left.text, right.text), aspect, is_json=False)
    written = [json.dumps(side.value, indent=2, ensure_ascii=False, default=str) for side in sides]
    texts = visible_controls(written[0]), visible_controls(written[1])
    if max(map(len, written)) > _MAX_VALUE_CHARACTERS:
        return _by_text(sides, texts, aspect, is_json=True)
    return _by_values(sides, align_lines(*texts))


def _by_text(sides: Sequence[_Side], texts: tuple[str, str], aspect: Aspect, *, is_json: bool) -> Comparison:
    """Compares words, or lines of long texts."""
    found = text_changes(*texts)
    words = f"{len(found):,} stretches differ" if found else "no difference"
    removed = [Light(*one.before, "changed" if one.after[0] < one.after[1] else "removed") for one in found]
    added = [Light(*one.after, "changed" if one.before[0] < one.before[1] else "added") for one in found]
    return Comparison(aspect, words, *_compared_sides(sides, texts, (removed, added)), is_json, [])


def _compared_sides(
    sides: Sequence[_Side], texts: tuple[str, str], lights: tuple[list[Light], list[Light]]
) -> tuple[ComparedSide, ComparedSide]:
    left, right = (ComparedSide(side.title, text, some) for side, text, some in zip(sides, texts, lights, strict=True))
    return left, right


def _by_values(sides: Sequence[_Side], texts: tuple[str, str]) -> Comparison:
    changes = value_changes(*(side.value for side in sides))
    lights: tuple[list[Light], list[Light]] = ([], [])
    for change in changes:
        spans = [
            span_at(text, change.steps) if change.kind in ("changed", own) else None
            for text, own in zip(texts, ("removed", "added"), strict=True)
        ]
        places = [(span.start, span.stop) for span in spans if span is not None]
        if len(places) == 2 and all(stop - start >= _MIN_WORD_CHARACTERS for start, stop in places):
            _add_words(texts, places, lights)
            continue
        for span, some in zip(spans, lights, strict=True):
            if span is not None:
                some.append(Light(span.start, span.stop, change.kind))
    return Comparison("values", change_counts(changes), *_compared_sides(sides, texts, lights), True, changes)


def _add_words(texts: Sequence[str], places: Sequence[tuple[int, int]], lights: Sequence[list[Light]]) -> None:
    """Adds only the differing words of two long texts."""
    parts = [text[start:stop] for text, (start, stop) in zip(texts, places, strict=True)]
    for one in text_changes(*parts):
        for (start, _), (first, last), some in zip(places, (one.before, one.after), lights, strict=True):
            if last > first:
                some.append(Light(start + first, start + last, "changed"))


QUERIES = (Query(CompareMessages, Comparison, _compare),)
