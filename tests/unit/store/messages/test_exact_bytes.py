"""A message is saved byte for byte, whatever it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.store.messages.exact_bytes import ExactMessage
from inspector.store.messages.records import Records
from tests.builders import document_of, envelope, received

BIG = {**envelope("chat", {"text": "é" * 700_000}, id="big"), "later": 1}
RAW = json.dumps(BIG, ensure_ascii=False).encode()
TORN = RAW[:-5]
FRAME = b'{"t":1767603600000000000,"dir":"in","src":0,"frame":' + RAW + b"}"
TAPPED = FRAME.replace(b'"in"', b'"client->server"')


@pytest.mark.parametrize(
    ("line", "exact"),
    [
        (RAW, RAW), (FRAME, RAW), (TAPPED, RAW), (TORN, TORN), (b"#stream#" + b"\x00\xff" * 700_000, None),
        (json.dumps(received(BIG)).encode(), json.dumps(BIG).encode()),
        (json.dumps({"time": 1, "message": RAW.decode()}).encode(), RAW),
        (b'{"kind":"chat",  "id":"x","payload":{"n":1.0}}', b'{"kind":"chat",  "id":"x","payload":{"n":1.0}}'),
        (b"\xff\xfe no JSON", b"\xff\xfe no JSON"),
    ],
    ids=["bare", "capture", "tap", "torn", "stream", "gateway log", "in a string", "small", "small unreadable"],
)  # fmt: skip
def test_the_bytes_are_those_that_were_written(line: bytes, exact: bytes | None, tmp_path: Path) -> None:
    document = document_of(envelope(), line)
    target = tmp_path / "saved"
    target.write_bytes(b"what was there")
    written = ExactMessage(document.capture, 1).save(target)
    assert target.read_bytes() == (line if exact is None else exact)
    assert written == target.stat().st_size
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("line", [RAW, FRAME, TAPPED, TORN])
def test_a_big_message_is_never_in_memory_whole(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = document_of(envelope(), line).capture
    monkeypatch.setattr(Records, "read_line_of", lambda *_: pytest.fail("read whole"))
    assert max(map(len, ExactMessage(capture, 1).read_parts())) <= 1 << 20


@pytest.mark.parametrize("line", [RAW, b'{"kind":"chat","id":"x"}'], ids=["big", "small"])
def test_what_was_to_be_saved_is_saved_though_its_document_moves_or_is_closed(line: bytes, tmp_path: Path) -> None:
    document = document_of(envelope(), line)
    source, copy = document.capture.sources[0], tmp_path / "copy"
    exact = ExactMessage(document.capture, 1)
    copy.write_bytes(source.read(0, source.size))
    source.move_to(copy)
    assert exact.save(tmp_path / "moved") == len(line)
    document.close()
    assert exact.save(tmp_path / "closed") == len(line)
    assert (tmp_path / "moved").read_bytes() == (tmp_path / "closed").read_bytes() == line


def test_what_is_lost_is_not_saved(tmp_path: Path) -> None:
    document = document_of(envelope())
    source = document.capture.sources[0]
    source.move_to(source.path, lost_to=source.size)
    with pytest.raises(OSError, match="shorter"):
        ExactMessage(document.capture, 0).save(tmp_path / "saved")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", [RAW, b'{"kind":"chat","id":"x"}'], ids=["big", "small"])
def test_what_cannot_be_read_leaves_the_target_alone(line: bytes, tmp_path: Path) -> None:
    document = document_of(envelope(), line)
    assert document.path is not None
    with document.path.open("r+b") as file:
        file.truncate(document.path.stat().st_size - 10)
    target = tmp_path / "saved"
    target.write_bytes(b"what was there")
    with pytest.raises(OSError, match="shorter"):
        ExactMessage(document.capture, 1).save(target)
    assert target.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    capture: Any = document_of(envelope()).capture
    with pytest.raises(OSError, match="No such file"):
        ExactMessage(capture, 0).save(tmp_path / "nowhere" / "x")
