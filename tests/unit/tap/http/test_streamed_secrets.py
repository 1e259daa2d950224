"""Secrets in pieces of streamed answers: none is in what is written, wherever it was cut."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.secrets import streamed_event_queue
from inspector.protocol.secrets.streamed_event_queue import StreamedEventQueue
from inspector.protocol.secrets.streamed_pieces import pieces_of, rewrite_event
from inspector.tap.http.entries import Entry, Sort
from inspector.tap.http.lines import ExchangeLines, Line
from inspector.tap.http.unwritten import ModelUnwritten
from tests.streamed_secrets import FORMS, SECRETS, Event, Events, anthropic_text, chat_text, cut, joined
from tests.streamed_variants import VARIANTS

_STREAM = {"status": 200, "headers": [["content-type", "text/event-stream"]]}
_TOKEN = "tokenOfTheHeader0123456789"


def recorded(events: Sequence[Event], *, websocket: bool = False, end: bool = True) -> list[dict[str, Any]]:
    """The lines of an answer that came in these events."""
    headers = [["Authorization", f"Bearer {_TOKEN}"]]
    entries = [
        (Sort.BEGIN, json.dumps({"method": "POST", "target": "/v1", "headers": headers}).encode()),
        (Sort.ASKED_ALL, b""), (Sort.HEAD, json.dumps(_STREAM).encode()),
    ]  # fmt: skip
    for event in events:
        data = json.dumps(event, ensure_ascii=False).encode()
        entries.append((Sort.FRAME, b"\1" + data) if websocket else (Sort.ANSWERED, b"data: " + data + b"\n\n"))
    entries += [(Sort.END, b'{"how":"complete"}')] * end
    return _lines(entries)


def exchange(chunks: Sequence[bytes], *, end: bool = True) -> list[dict[str, Any]]:
    """The lines of an answer that came in these bytes."""
    entries = [(Sort.BEGIN, b'{"method": "GET", "target": "/sse", "headers": []}'), (Sort.ASKED_ALL, b"")]
    entries += [(Sort.HEAD, json.dumps(_STREAM).encode()), *((Sort.ANSWERED, one) for one in chunks)]
    return _lines([*entries, *[(Sort.END, b'{"how":"complete"}')] * end])


def _lines(entries: Sequence[tuple[Sort, bytes]]) -> list[dict[str, Any]]:
    made = ExchangeLines(ModelUnwritten())
    lines = [one for n, (sort, data) in enumerate(entries) for one in made.feed(Entry(sort, 1, n, data))]
    read = [json.loads(f"{one.head}{one.value}}}") for one in lines if isinstance(one, Line)]
    return [line for line in read if line["kind"] in ("sse-event", "websocket-frame")]


@given(
    st.sampled_from((*FORMS, *VARIANTS)), st.sampled_from(SECRETS), st.lists(st.integers(0, 10_000), max_size=60),
    st.booleans(), st.sampled_from(["", "Some words before it. "]),
)  # fmt: skip
def test_no_secret_can_be_joined_again(
    form: Events, secret: tuple[str, str], places: list[int], websocket: bool, before: str
) -> None:
    hidden, text = secret
    events = form(cut(before + text.replace("{}", hidden), places))
    lines = recorded(events, websocket=websocket)
    assert hidden not in joined([line["message"] for line in lines])
    assert len(lines) == len(events)
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)


@given(st.sampled_from((*FORMS, *VARIANTS)), st.text(max_size=60), st.lists(st.integers(0, 10_000), max_size=20))
def test_what_holds_no_secret_is_written_as_it_came(form: Events, text: str, places: list[int]) -> None:
    text = text.encode("utf-8", "replace").decode()
    events = form(cut(f"Plain words: {text}", places))
    assert [line["message"] for line in recorded(events)] == events


@pytest.mark.parametrize("size", [1, 5])
def test_what_is_around_a_secret_stays(size: int) -> None:
    hidden, text = SECRETS[0]
    whole = text.format(hidden)
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    lines = recorded(anthropic_text(pieces))
    said = "".join(line["message"].get("delta", {}).get("text", "") for line in lines)
    assert said == "the key sk-•••••••• is mine"


def test_lists_of_tokens_go_with_a_piece_that_is_masked() -> None:
    hidden, text = SECRETS[0]
    lines = recorded(chat_text(cut(text.format(hidden), range(0, 60, 4))))
    kept = [bytes(line["message"]["choices"][0]["logprobs"]["content"][0]["bytes"]).decode() for line in lines
            if line["message"]["choices"][0]["logprobs"]]  # fmt: skip
    assert 0 < len(kept) < len(lines)
    assert not any(piece and piece in hidden for piece in map(str.strip, kept))


def test_a_piece_that_is_written_with_escapes_is_replaced_all_the_same() -> None:
    """The same text stands once elsewhere, as it is."""
    written = r'{"copy": "part", "choices": [{"index": 0, "delta": {"content": "p\u0061rt"}}]}'
    event = json.loads(written)
    (piece,) = pieces_of(event)
    assert json.loads(rewrite_event(written, event, [(piece, "masked")])) == {
        "copy": "part", "choices": [{"index": 0, "delta": {"content": "masked"}}],
    }  # fmt: skip


def test_a_token_of_the_request_is_found_in_pieces() -> None:
    lines = recorded(chat_text(cut(f"I was called with {_TOKEN}.", range(0, 60, 3))))
    assert _TOKEN not in joined([line["message"] for line in lines])


@pytest.mark.parametrize("index", [[1], {"a": 1}, "a", None, 1.5])
@pytest.mark.parametrize("form", ["index", "contentBlockIndex"])
def test_any_value_numbers_a_block(form: str, index: object) -> None:
    """A server that numbers its blocks by an array does not end the recording."""
    sort: Event = {"type": "content_block_delta"} if form == "index" else {}
    said: Event = sort | {form: index, "delta": {"text": "x"}}
    events: list[Event] = [said, {"type": "content_block_stop", "index": index}]
    assert [line["message"] for line in recorded(events)] == events


def test_halves_of_a_surrogate_pair_hide_no_piece() -> None:
    """A stream that is cut by characters of UTF-16 has events that are no strict JSON."""
    hidden, text = SECRETS[0]
    whole = f"\ud83d {text.format(hidden)} \ude00"
    events = anthropic_text([whole[:20], whole[20:]])
    assert any("ud83d" in json.dumps(event) for event in events)
    held: StreamedEventQueue[str] = StreamedEventQueue()
    lines: list[str] = []
    for event in events:
        data = json.dumps(event).encode()
        lines += held.add_event(lambda new, data=data: data.decode() if new is None else new, data)
    lines += held.drain()
    said = "".join(json.loads(line.encode()).get("delta", {}).get("text", "") for line in lines)
    assert said == "\ud83d the key sk-•••••••• is mine \ude00"


_BESIDE = {
    "digits": "1" * 5_000, **{f"{depth}": "[" * depth + "]" * depth for depth in (201, 900, 960, 1_000, 100_000)},
    "surrogate": '"\\ud800"', "NaN": "NaN",
}  # fmt: skip
_AROUND = ('{{"x": {0}, {1}', ' {{"x": {0}, {1}', '[{{"x": {0}, {1}]', '{{"e": {{"x": {0}, {1}}}')
_BESIDE_AND_FORMS = [
    pytest.param(
        form, beside, copied, id=f"{copied}-{form}-{name}",
        marks=pytest.mark.sweep if name == "100000" and (copied or form != _AROUND[0]) else (),
    )
    for copied in (False, True) for form in _AROUND for name, beside in _BESIDE.items()
]  # fmt: skip
"""Values nested 100,000 deep take a second or two: one of them is tried each time."""


@pytest.mark.parametrize(("form", "beside", "copied"), _BESIDE_AND_FORMS)
def test_no_value_beside_a_piece_hides_it(form: str, beside: str, copied: bool) -> None:
    """Integers of 5,000 digits, values nested 1,000 deep, batches and blanks before an event."""
    hidden, text = SECRETS[0]
    held: StreamedEventQueue[str] = StreamedEventQueue()
    lines: list[str] = []
    for event in anthropic_text(cut(text.format(hidden), range(0, 60, 5))):
        event |= {"copy": event.get("delta", {}).get("text")} if copied else {}
        data = form.format(beside, json.dumps(event)[1:]).encode()
        lines += held.add_event(lambda new, data=data: data.decode() if new is None else new, data)
    lines += held.drain()
    said = [re.findall(r'"text": ?"([^"]*)"', line) for line in lines]
    whole = "".join(word for words in said for word in words).replace("\\u2022", "•")
    assert whole == "the key sk-•••••••• is mine"
    if not copied:
        assert all(beside in line for line in lines)


def test_events_without_a_text_count_while_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_event_queue, "MAX_PENDING_BYTES", 10_000)
    events: list[Event] = [*chat_text(["a"])][:1] + [{"type": "ping", "filler": "x" * 1_000}] * 50
    assert len(recorded(events, end=False)) > 40


def test_texts_that_are_over_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_event_queue, "MAX_PENDING_EVENTS", 20)
    held: StreamedEventQueue[None] = StreamedEventQueue()
    for number in range(200):
        event = {"type": "response.text.delta", "item_id": f"item_{number}", "delta": "word"}
        assert len([*held.add_event(lambda _: None, json.dumps(event).encode())]) <= 21
    assert len(vars(held)["_before"]) <= 20
    assert len(vars(held)["_sizes"]) <= 20


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without an end is written while it goes on, and no secret of it."""
    monkeypatch.setattr(streamed_event_queue, "MAX_PENDING_TEXT", 1_000)
    hidden, text = SECRETS[1]
    whole = f"Line of words, {text.format(hidden)}. " * 100
    pieces = [whole[start : start + 7] for start in range(0, len(whole), 7)]
    lines = recorded(chat_text(pieces), end=False)
    assert len(pieces) - 1_000 // 7 <= len(lines) < len(pieces)
    assert hidden not in joined([line["message"] for line in lines])
    monkeypatch.setattr(streamed_event_queue, "MAX_PENDING_TEXT", 1 << 16)
    monkeypatch.setattr(streamed_event_queue, "MAX_PENDING_EVENTS", 200)
    lines = recorded(chat_text(pieces), end=False)
    assert len(lines) >= len(pieces) - 200
    assert hidden not in joined([line["message"] for line in lines])


@pytest.mark.parametrize("size", [1, 5])
def test_pieces_of_plain_events_are_masked(size: int) -> None:
    """Events without JSON, of which the text is streamed as it is; a named one is no piece."""
    hidden, text = SECRETS[1]
    whole = text.format(hidden).replace("\n", " ")
    held = [f"data: {whole[start : start + size]}\n\n".encode() for start in range(0, len(whole), size)]
    lines = exchange([b"event: endpoint\ndata: /messages?id=1\n\n", *held], end=False)
    assert [line.get("text") for line in lines] == ["/messages?id=1"]
    said = "".join(line.get("text", "") for line in exchange(held))
    assert hidden not in said
    assert hidden[6:12] not in said


def event_stream(events: Sequence[Event]) -> str:
    return "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events)


def json_lines(events: Sequence[Event]) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


@pytest.mark.parametrize("form", [anthropic_text, chat_text, *VARIANTS])
@pytest.mark.parametrize("written", [event_stream, json_lines, json.dumps], ids=["events", "lines", "array"])
def test_pieces_in_a_whole_body_are_masked(form: Events, written: Any) -> None:
    """Answers that are streamed as another type than an event stream."""
    hidden, text = SECRETS[0]
    events = form(cut(text.format(hidden), range(0, 60, 5)))
    entries = [(Sort.BEGIN, b'{"method": "GET", "target": "/x", "headers": []}'), (Sort.ASKED_ALL, b"")]
    entries += [(Sort.HEAD, b'{"status": 200, "headers": []}'), (Sort.ANSWERED, written(events).encode())]
    made = ExchangeLines(ModelUnwritten())
    entries.append((Sort.END, b'{"how":"complete"}'))
    lines = [one for n, (sort, data) in enumerate(entries) for one in made.feed(Entry(sort, 1, n, data))]
    said = "".join(f"{one.head}{one.value}" for one in lines if isinstance(one, Line))
    pieces = [hidden[start : start + 5] for start in range(3, len(hidden) - 5)]
    assert [piece for piece in pieces if piece in said] == []
