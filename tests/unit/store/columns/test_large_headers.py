"""Messages above 1 MB, known by their head: the same facts as a whole reading gives, from a fraction of the bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.payloads import message_text
from inspector.protocol.truncated_json import TRUNCATION_MARK
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES
from inspector.store.messages.records import Records
from tests import builders
from tests.builders import document_of, envelope, received, tool_result

FILLING = "x" * (MAX_WHOLE_BYTES + 1_000)


def big(**fields: Any) -> dict[str, Any]:
    """An envelope above 1 MB, with keys behind its payload where `fields` are."""
    return {**envelope("chat", {"text": "Hello there. " + FILLING}, id="big"), **fields}


def capture_line(inner: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"t": 1767603600000000000, "dir": "in", "src": 0, **fields, "frame": inner})


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of what is read of a file from now on."""
    lengths: list[int] = []
    whole = Records.line_part

    def part(records: Records, message: int, start: int, length: int) -> bytes:
        lengths.append(length)
        return whole(records, message, start, length)

    monkeypatch.setattr(Records, "line_part", part)
    return lengths


@pytest.mark.parametrize(
    "line",
    [
        big(), received(big()), capture_line(big()), json.dumps({"time": 1, "message": big()}),
        json.dumps({"time": 1, "message": json.dumps(big())}),
    ],
    ids=["bare", "gateway log", "capture", "wrapped", "wrapped in a string"],
)  # fmt: skip
def test_a_head_says_who_what_and_how_it_begins_in_every_format(line: Any, read: list[int]) -> None:
    document = document_of(line)
    capture = document.capture
    assert capture.records.is_big(0)
    assert capture.records.envelope_id(0) == "big"
    text = message_text(capture, 0) or ""
    assert text.startswith("Hello there. xxx")
    assert text.endswith(TRUNCATION_MARK)
    assert len(text) < HEAD_BYTES
    assert max(read) <= HEAD_BYTES
    whole = capture.records.envelope_bytes(0)
    assert json.loads(whole)["payload"]["text"].endswith("xxx")
    assert len(whole) > MAX_WHOLE_BYTES


def test_keys_behind_the_payload_are_found_at_the_end(read: list[int]) -> None:
    late = big()
    late["correlation_id"] = ["one", "two"]
    late["id"] = late.pop("id")
    capture = document_of(envelope(id="one"), late).capture
    assert capture.records.envelope_id(1) == "big"
    assert capture.records.correlation_ids(1) == ["one", "two"]
    assert max(read) <= HEAD_BYTES


def test_keys_far_from_both_ends_are_found_by_reading_on(read: list[int]) -> None:
    middle = {"kind": "chat", "payload": {"text": FILLING}, "id": "far", "correlation_id": ["one"], "more": FILLING}
    capture = document_of(envelope(id="one"), middle).capture
    assert capture.records.envelope_id(1) == "far"
    assert capture.records.correlation_ids(1) == ["one"]
    before = len(read)
    assert capture.records.envelope_id(1) == "far"
    assert len(read) == before  # what was found is kept


def test_an_id_that_text_at_the_end_pretends_is_not_believed() -> None:
    inner = {
        "kind": "chat",
        "payload": {"text": FILLING, "more": {"id": "fake", "correlation_id": "fake"}},
        "id": "real",
    }
    assert document_of(inner).capture.records.envelope_id(0) == "real"


def test_hints_behind_a_long_content_count() -> None:
    asked = builders.tool_call("search", id="ask")
    meta = {"context": {"lifecycle": "transient", "summary": "15 records"}}
    document = document_of(asked, tool_result(asked, FILLING, meta=meta))
    assert document.capture.flags_of(1) & Flag.HAS_META
    assert document.analysis.transients.lifecycle(1).summary == "15 records"
    assert document.capture.records.payload(1)["result"]["_meta"] == meta


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[" * (2 * MAX_WHOLE_BYTES), "nested too deeply"),
        (b"x" * (2 * MAX_WHOLE_BYTES), "no JSON at byte 0"),
        (b'{"kind":"chat","payload":{"text":"' + b"x" * MAX_WHOLE_BYTES, "MB of it"),
    ],
)
def test_a_long_unreadable_line_says_why_by_its_head(line: bytes, reason: str, read: list[int]) -> None:
    capture = document_of(envelope(), line).capture
    assert capture.flags_of(1) & Flag.UNREADABLE
    assert reason in (capture.records.reason(1) or "")
    assert capture.records.envelope(1) is None
    assert max(read) <= HEAD_BYTES


def test_a_file_that_became_shorter_is_no_crash() -> None:
    document = document_of(big())
    path = document.path
    assert path is not None
    with path.open("r+b") as file:
        file.truncate(100)
    assert "shorter" in (document.capture.records.reason(0) or "")


def test_every_field_of_a_big_message_has_a_value_without_reading_it_whole(read: list[int]) -> None:
    document = document_of(big(correlation_id=["one"], context="a/b", to=["you"]))
    for field in FIELD_BY_NAME.values():
        field.value(document.analysis, 0)
    assert max(read) <= HEAD_BYTES


_KEYS = st.permutations(["id", "ts", "from", "kind", "payload", "correlation_id", "context", "to", "other"])


@given(_KEYS, st.sampled_from(["payload", "other"]), st.text(max_size=20))
def test_wherever_keys_stand_a_big_message_says_what_a_small_one_does(order: list[str], where: str, name: str) -> None:
    values: dict[str, Any] = {
        "id": f"id-{name}", "ts": "2026-01-05T09:00:00Z", "from": name, "kind": "chat", "payload": {"text": "Hi"},
        "correlation_id": [f"c-{name}", "d"], "context": "a", "to": ["you"], "other": "",
    }  # fmt: skip
    small = {key: values[key] for key in order}
    long = {**small, where: {"text": "Hi", "more": FILLING} if where == "payload" else FILLING}
    said = [_said(document_of(line)) for line in (small, long)]
    assert said[0] == said[1]
    builders.clean_up()


def _said(document: CaptureDocument) -> list[Any]:
    names = ("id", "from", "to", "kind", "correlation", "context", "time")
    return [FIELD_BY_NAME[name].value(document.analysis, 0) for name in names]
