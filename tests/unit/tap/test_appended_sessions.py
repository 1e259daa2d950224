"""Two starts of a server in one capture, as `tap --append` writes them."""

from __future__ import annotations

from pathlib import Path

from inspector.tap.backlog import CLIENT, SERVER, Backlog
from inspector.tap.recorder import TapRecorder
from tests.builders import document_at


def session(path: Path, said: list[tuple[int, bytes]], *, append: bool = False) -> None:
    backlog = Backlog()
    recorder = TapRecorder(path, backlog, origin=dict, say=lambda _: None, append=append)
    for way, line in said:
        backlog.append_data(way, line)
    recorder.start()
    for way in (CLIENT, SERVER):
        backlog.end(way, "")
    recorder.close("the server ended with exit code 0")


def test_what_was_asked_in_the_first_is_not_answered_in_the_second(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    ask, answer = (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"result":{}}')
    session(path, [(CLIENT, ask + b"\n")])
    session(path, [(SERVER, answer + b"\n"), (CLIENT, b"[" + ask + b"," + ask + b"]\n")], append=True)
    document = document_at(path)
    assert document.capture.columns["connection"].tolist() == [0, 1, 1, 1]
    assert document.analysis.correlation.columns["cause"].tolist() == [-1, -1, -1, -1]
    assert document.kind_counts() == {"mcp/request": 3, "mcp/response": 1}
    assert document.unreadable == 0
