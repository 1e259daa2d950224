"""Secrets that are streamed in pieces, in exports that write each piece."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from mcp.client import Client
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.export.files import export_to
from inspector.export.options import ExportOptions
from inspector.export.whole_slice import cut_whole
from inspector.filters import compile_filter
from inspector.mcp_server.captures import Captures
from inspector.mcp_server.server import server_of
from inspector.survey.byte_ranges import ranges_of
from tests.builders import document_at, envelope
from tests.streamed_secrets import FORMS, SECRETS, Event, Events, acp_text, chat_text, cut, joined
from tests.streamed_variants import VARIANTS, progress

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


_ALL_FORMS = (*FORMS, *VARIANTS, progress)
_CASES = [
    pytest.param(form, size, secrets, marks=() if is_quick else pytest.mark.sweep)
    for form in _ALL_FORMS for size in (1, 5, 17)
    for secrets, is_quick in ((SECRETS[:2], size == 5), (SECRETS[2:], size == 5 and form in (chat_text, acp_text)))
]  # fmt: skip
"""Each time all forms carry two secrets in pieces of 5 characters, two forms all secrets."""


@pytest.mark.parametrize(("form", "size", "secrets"), _CASES)
def test_pieces_of_a_secret_are_masked_over_the_joined_text(
    form: Events, size: int, secrets: Sequence[tuple[str, str]], tmp_path: Path
) -> None:
    for number, (hidden, text) in enumerate(secrets):
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


_COMMANDS: list[list[str]] = [
    ["list", "-e", "no,text"], ["list", "-e", "no,text,payload.text", "--format", "jsonl"],
    ["show", "1"], ["show", "4"],
    ["query", "select * from messages"], ["query", "select payload(no) from messages"], ["slice", "-o", "-"],
    *(["export", "-o", "-", "--format", name] for name in ("jsonl", "csv", "md", "html")),
    ["export", "-o", "-", "--format", "jsonl", "--self-contained"],
    ["export", "-o", "-", "--format", "otlp", "--with-content"],
]  # fmt: skip
_SECRET = SECRETS[1]
_BEGUN = 1_800_000_000 * 10**9


_QUICK_COMMANDS = ("list -e no,text", "slice -o -", "export -o - --format jsonl")
_COMMANDS_AND_LOGS = [
    pytest.param(
        words, log, id=f"{log}-{' '.join(words)}",
        marks=() if log == "frames" or " ".join(words) in _QUICK_COMMANDS else pytest.mark.sweep,
    )
    for log in ("frames", "many_frames", "bare_frames", "interleaved") for words in _COMMANDS
]  # fmt: skip
"""Each time all commands print one log, and a few commands all logs."""


@pytest.mark.parametrize(("words", "log"), _COMMANDS_AND_LOGS)
def test_rows_of_pieces_show_no_secret(words: list[str], log: str, tmp_path: Path) -> None:
    hidden, text = _SECRET
    path = _LOGS[log](tmp_path, cut(text.format(hidden), range(0, 60, 4)))
    said = CliRunner().invoke(app, [words[0], str(path), *words[1:]])
    assert said.exit_code == 0
    assert _pieces_of(hidden, said.output) == []


@pytest.mark.parametrize("log", ["frames", "many_frames", "bare_frames", "interleaved"])
def test_rows_of_pieces_show_the_secret_on_request(log: str, tmp_path: Path) -> None:
    hidden, text = _SECRET
    path = _LOGS[log](tmp_path, cut(text.format(hidden), range(0, 60, 4)))
    kept = CliRunner().invoke(app, ["export", str(path), "-o", "-", "--unmasked"])
    assert hidden[5:9] in kept.output


def test_slices_of_slices_show_no_secret(tmp_path: Path) -> None:
    """A filter that takes half of the pieces, and what belongs to them."""
    hidden, text = _SECRET
    path = _frames(tmp_path, cut(text.format(hidden), range(0, 60, 4)))
    for words in (["--until", "2027-01-15T08:00:08Z"], ["-Y", 'stream == "stream-1"', "--with-related"]):
        said = CliRunner().invoke(app, ["slice", str(path), "-o", "-", *words])
        assert said.exit_code == 0
        assert "stream-1" in said.output
        assert _pieces_of(hidden, said.output) == []
    kept = CliRunner().invoke(app, ["slice", str(path), "-o", "-", "--unmasked"])
    assert hidden[5:9] in kept.output


def test_a_secret_across_two_stretches_of_a_slice_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden, text = _SECRET
    path = _frames(tmp_path, cut(text.format(hidden), range(0, 60, 4)))
    size = path.stat().st_size
    monkeypatch.setattr("inspector.cli.slice.ranges_of", partial(ranges_of, step=size // 4))
    said = CliRunner().invoke(app, ["slice", str(path), "-o", "-", "--workers", "1"])
    assert said.exit_code == 0
    assert _pieces_of(hidden, said.output) == []


async def test_answers_of_the_server_show_no_secret(tmp_path: Path) -> None:
    hidden, text = _SECRET
    for make in _LOGS.values():
        path = make(tmp_path, cut(text.format(hidden), range(0, 60, 4)))
        with closing(Captures([path])) as captures:
            async with Client(server_of(captures)) as client:
                for tool, arguments in (
                    ("list", {"limit": 200, "fields": ["no", "text"]}), ("show", {"no": 3}), ("show", {"no": 4}),
                ):  # fmt: skip
                    answer = await client.call_tool(tool, {"capture": path.name, **arguments})
                    assert _pieces_of(hidden, str(answer)) == []


def _pieces_of(hidden: str, text: str) -> list[str]:
    return [
        piece
        for start in range(6, len(hidden) - 4)
        if not (piece := hidden[start : start + 4]).isdigit() and piece in text
    ]


def _interleaved(folder: Path, pieces: Sequence[str]) -> Path:
    """Chunks of ACP of two sessions by turns: each is a message."""
    path = folder / "acp.ctxcap"
    frames = [{**event, "params": {**event["params"], "sessionId": session}}
              for event in acp_text(pieces) for session in ("s1", "s2")]  # fmt: skip
    lines = [
        {"ctxcap": 1},
        *({"t": n, "dir": "server->client", "src": 0, "frame": one} for n, one in enumerate(frames, 1)),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def _many_frames(folder: Path, pieces: Sequence[str]) -> Path:
    """Some hundred frames before the secret."""
    return _frames(folder, ["word "] * 700 + [*pieces])


def _bare_frames(folder: Path, pieces: Sequence[str]) -> Path:
    """A log of frames without a time."""
    path = folder / "frames.log"
    frames = [f"#stream-1#{json.dumps({'type': 'token', 'value': piece})}" for piece in pieces]
    path.write_text("\n".join([json.dumps(envelope("chat", {"text": "hello"})), *frames, ""]))
    return path


def _frames(folder: Path, pieces: Sequence[str]) -> Path:
    """A capture of two streams, of chunks and of text."""
    path = folder / "frames.ctxcap"
    frames = [f"#stream-1#{json.dumps({'type': 'token', 'value': piece})}" for piece in pieces]
    frames += [f"#stream-2#{piece}" for piece in pieces]
    lines = [
        {"ctxcap": 1},
        *({"t": _BEGUN + n * 10**9, "dir": "in", "src": 0, "frame": frame} for n, frame in enumerate(frames, 1)),
    ]
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


_LOGS = {"frames": _frames, "many_frames": _many_frames, "bare_frames": _bare_frames, "interleaved": _interleaved}
