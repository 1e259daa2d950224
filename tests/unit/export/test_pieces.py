"""Secrets that are streamed in pieces, in exports that write each piece."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.export.files import export_to
from inspector.export.options import ExportOptions
from inspector.export.whole_slice import cut_whole
from inspector.filters import compile_filter
from tests.builders import document_at
from tests.streamed_secrets import FORMS, SECRETS, Event, Events, acp_text, cut, joined

_HEADERS = {"content-type": "application/json"}


def _logged(events: Sequence[Event], path: Path) -> CaptureDocument:
    """A recording of HTTP whose answer came in these events; of ACP its lines."""
    lines: list[object] = []
    if "jsonrpc" in events[0]:
        lines += events
    else:
        asked = {"model": "m", "messages": [], "stream": True}
        lines.append({"t": 1, "dir": "client->server", "kind": "http-request", "x": 1, "method": "POST",
                      "path": "/v1/chat/completions", "headers": _HEADERS, "message": asked})  # fmt: skip
        head = {"dir": "server->client", "x": 1}
        lines.append({"t": 2, **head, "kind": "http-response", "status": 200,
                      "headers": {"content-type": "text/event-stream"}})  # fmt: skip
        lines += [{"t": n, **head, "kind": "sse-event", "sse": {}, "message": one} for n, one in enumerate(events, 3)]
        lines.append({"t": 9_999, **head, "kind": "http-end", "how": "complete"})
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    return document_at(path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 5, 17])
def test_pieces_of_a_secret_are_masked_over_the_joined_text(form: Events, size: int, tmp_path: Path) -> None:
    for number, (hidden, text) in enumerate(SECRETS):
        whole = text.replace("{}", hidden)
        document = _logged(form(cut(whole, range(0, len(whole), size))), tmp_path / f"{number}.jsonl")
        for options in (ExportOptions(), ExportOptions(self_contained=True)):
            file = BytesIO()
            for _ in export_to(document, range(len(document.capture)), file, options):
                pass
            _expect_none(hidden, file.getvalue())
        _expect_none(hidden, b"".join(cut_whole(document, compile_filter(""))))


def test_frames_of_a_stream_too(tmp_path: Path) -> None:
    hidden, text = SECRETS[1]
    pieces = cut(text.format(hidden), range(0, 60, 4))
    path = _frames(tmp_path, pieces)
    document = document_at(path)
    file = BytesIO()
    for _ in export_to(document, range(len(document.capture)), file):
        pass
    said = [json.loads(line).get("frame", "") for line in file.getvalue().splitlines()]
    assert len(said) == 2 * len(pieces)
    chunks = [json.loads(one.split("#", 2)[2])["value"] for one in said if one.startswith("#stream-1")]
    plain = [one.split("#", 2)[2] for one in said if one.startswith("#stream-2")]
    assert hidden not in "".join(chunks)
    assert hidden not in "".join(plain)
    assert "".join(plain).startswith("export it: ")


@pytest.mark.parametrize(
    "words",
    [["list", "-e", "no,text"], ["show", "4"], ["query", "select * from messages"],
     *(["export", "-o", "-", "--format", name] for name in ("csv", "md", "html")),
     ["export", "-o", "-", "--format", "otlp", "--with-content"]],
    ids=" ".join,
)  # fmt: skip
def test_rows_of_frames_show_no_pieces(words: list[str], tmp_path: Path) -> None:
    hidden, text = SECRETS[1]
    path = _frames(tmp_path, cut(text.format(hidden), range(0, 60, 4)))
    said = CliRunner().invoke(app, [words[0], str(path), *words[1:]])
    assert said.exit_code == 0
    assert not [
        hidden[start : start + 4] for start in range(6, len(hidden) - 4) if hidden[start : start + 4] in said.output
    ]
    kept = CliRunner().invoke(app, ["export", str(path), "-o", "-", "--unmasked"])
    assert hidden[5:9] in kept.output


def _frames(folder: Path, pieces: Sequence[str]) -> Path:
    """A capture of two streams, of chunks and of text."""
    path = folder / "frames.ctxcap"
    frames = [f"#stream-1#{json.dumps({'type': 'token', 'value': piece})}" for piece in pieces]
    frames += [f"#stream-2#{piece}" for piece in pieces]
    lines = [{"ctxcap": 1}, *({"t": n, "dir": "in", "src": 0, "frame": frame} for n, frame in enumerate(frames, 1))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_what_is_not_masked_is_exact(tmp_path: Path) -> None:
    hidden, text = SECRETS[1]
    document = _logged(acp_text(cut(text.format(hidden), range(0, 60, 4))), tmp_path / "a.jsonl")
    file = BytesIO()
    for _ in export_to(document, range(len(document.capture)), file, ExportOptions(masked=False)):
        pass
    assert file.getvalue() == (tmp_path / "a.jsonl").read_bytes()


def _expect_none(hidden: str, written: bytes) -> None:
    lines = [json.loads(line) for line in written.splitlines()]
    said = [line.get("message", line) for line in lines]
    assert hidden not in joined(said)
    assert hidden not in written.decode()
