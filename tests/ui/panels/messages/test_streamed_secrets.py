"""Secrets that several messages carry in pieces: no row, page, copy or export of the window shows one."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication, QPainter

from inspector.document.document import CaptureDocument
from inspector.export.files import export_to
from inspector.export.options import ExportOptions, Format
from inspector.filters.payloads import message_text
from inspector.protocol.secrets.streamed_pieces import may_hold_pieces
from inspector.store.messages import piece_masks
from inspector.store.messages.piece_masks import PieceMasks
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.panel import TABS
from inspector.ui.panels.details.raw_page import RawPage
from tests.builders import closed_at_end, document_at, document_of, lines_of, log_file
from tests.streamed_secrets import SECRETS, acp_text, anthropic_text, cut
from tests.ui.find import child
from tests.ui.walking import said_by
from tests.ui.windows import panes_of, window_on

HIDDEN, TEXT = SECRETS[1]
PIECES = cut(TEXT.format(HIDDEN), range(0, 60, 4))
Line = dict[str, Any]


def chunk_frames(pieces: Sequence[str]) -> list[Line]:
    return [{"frame": f"#stream-1#{json.dumps({'type': 'token', 'value': piece})}"} for piece in pieces]


def text_frames(pieces: Sequence[str]) -> list[Line]:
    return [{"frame": f"#stream-1#{piece}"} for piece in pieces]


def interleaved_chunks(pieces: Sequence[str]) -> list[Line]:
    return [{"frame": {**event, "params": {**event["params"], "sessionId": session}}}
            for event in acp_text(pieces) for session in ("s1", "s2")]  # fmt: skip


def streamed_answer(pieces: Sequence[str]) -> list[Line]:
    """The events of one answer, which are one message."""
    head = {"kind": "http-request", "x": 1, "method": "POST", "path": "/v1/messages"}
    asked = {"model": "m", "messages": [], "stream": True}
    events = [{"kind": "sse-event", "x": 1, "sse": {}, "message": one} for one in anthropic_text(pieces)]
    return [{**head, "headers": {}, "message": asked},
            {"kind": "http-response", "x": 1, "status": 200, "headers": {"content-type": "text/event-stream"}},
            *events, {"kind": "http-end", "x": 1, "how": "complete"}]  # fmt: skip


LOGS = (chunk_frames, text_frames, interleaved_chunks, streamed_answer)


def logged(lines: Sequence[Line]) -> list[Line]:
    return [{"ctxcap": 1}, *({"t": n, "dir": "server->client", "src": 0, **one} for n, one in enumerate(lines, 1))]


def shown_pieces(text: str) -> set[str]:
    """Pieces of the secret in a text; digits may be of a number."""
    pieces = (HIDDEN[start : start + 4] for start in range(4, len(HIDDEN) - 4))
    return {piece for piece in pieces if piece in text and not piece.isdigit()}


@pytest.fixture(params=LOGS, ids=lambda make: make.__name__)
def panes(request: pytest.FixtureRequest, application: Application) -> Panes:
    document = document_of(*logged(request.param(PIECES)), name="pieces.ctxcap")
    window = window_on(application, document)
    window.resize(2_000, 1_200)
    window.show()
    panes = panes_of(window)
    panes.messages.set_streams_folded(False)
    return panes


def test_no_row_page_or_copy_shows_a_piece(panes: Panes, monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[str] = []
    paint = QPainter.drawText

    def recording(painter: QPainter, *args: Any) -> Any:
        painted.extend(arg for arg in args if isinstance(arg, str))
        return paint(painter, *args)

    monkeypatch.setattr(QPainter, "drawText", recording)
    window = panes.messages.window()
    copies = panes.messages.view.copies
    panes.go_to(0)
    panes.details.show_tab("Raw")
    raw = child(panes.details, RawPage)
    for message in range(0, len(panes.client.document.capture), 3):
        panes.go_to(message)
        for tab in TABS:
            panes.details.show_tab(tab)
            said = [text for _, text in said_by(panes.details)]
            assert [text for text in said if shown_pieces(text)] == [], tab
        for choice in ("Envelope", "Line", "Formatted"):
            raw.what.choose(choice)
            assert shown_pieces(raw.text.toPlainText()) == set()
        for what in ("rows", "values", "json", "markdown"):
            QGuiApplication.clipboard().clear()
            copies.copy(what, message)
            assert shown_pieces(QGuiApplication.clipboard().text()) == set(), what
    window.grab()
    assert painted
    assert [text for text in painted if shown_pieces(text)] == []


def test_raw_shows_pieces_on_request(panes: Panes) -> None:
    seen = ""
    panes.go_to(0)
    panes.details.show_tab("Raw")
    raw = child(panes.details, RawPage)
    for message in range(len(panes.client.document.capture)):
        panes.go_to(message)
        raw.what.choose("Line")
        if not raw.secrets.isHidden():
            raw.secrets.setChecked(True)
            seen += raw.text.toPlainText()
    assert shown_pieces(seen)


@pytest.mark.parametrize("make", LOGS)
def test_no_export_shows_a_piece(make: Any) -> None:
    document = document_of(*logged(make(PIECES)), name="pieces.ctxcap")
    for format_ in (Format.JSONL, Format.CSV, Format.MARKDOWN, Format.HTML):
        for masked in (True, False):
            file = BytesIO()
            deque(export_to(document, range(len(document.capture)), file, ExportOptions(format_, masked=masked)), 0)
            assert (shown_pieces(file.getvalue().decode()) == set()) is masked, format_


@pytest.mark.parametrize("make", LOGS[:3])
def test_a_piece_that_comes_later_masks_those_before_it(make: Any) -> None:
    """A live document, which is looked at after each line."""
    document = closed_at_end(CaptureDocument())
    path = log_file(lines_of(*logged(make(PIECES))), "live.ctxcap")
    capture = document.capture
    said = [
        [message_text(capture, message) or "" for message in range(len(capture))]
        for _ in document.open_log(path, block_bytes=300)
    ]
    assert len({len(texts) for texts in said}) > 3
    assert [text for text in said[-1] if shown_pieces(text)] == []


@pytest.mark.parametrize(("limit", "most"), [("_MAX_BYTES", 10_000), ("_SEARCH_RADIUS", 50)])
def test_no_limit_of_a_search_cuts_a_secret(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_masks, limit, most)
    data = [json.dumps({"type": "token", "value": piece, "padding": " " * 500}) for piece in PIECES * 10]
    document = document_of(*logged([{"frame": f"#s-{n}#{one}"} for one in data for n in range(2)]), name="limit.ctxcap")
    records = document.capture.records
    shown = [json.loads(records.frame_data(message))["value"] for message in range(0, len(document.capture), 2)]
    assert shown_pieces("".join(shown)) == set()


def test_checks_read_the_logged_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks are found for shown messages alone."""
    asked: list[int] = []
    find_line = PieceMasks.find_line

    def recording(masks: PieceMasks, message: int) -> bytes | None:
        asked.append(message)
        return find_line(masks, message)

    monkeypatch.setattr(PieceMasks, "find_line", recording)
    document = document_of(*logged(chunk_frames(PIECES)), name="checks.ctxcap")
    document.catch_up()
    assert asked == []
    assert message_text(document.capture, 0) is not None
    assert asked == [0]


def test_a_rewritten_line_is_masked_anew() -> None:
    path = log_file(lines_of(*logged(chunk_frames(PIECES))), "rewritten.ctxcap")
    document = document_at(path)
    records, message = document.capture.records, 5
    masked, whole = records.frame_data(message), path.read_bytes()
    line = records.read_line_of(message)
    assert PIECES[message] not in masked.decode()
    path.write_bytes(whole.replace(line, line.replace(PIECES[message].encode(), b" no ")))
    records.invalidate(message)
    assert json.loads(records.frame_data(message))["value"] == " no "


def test_answers_without_a_secret_are_not_searched_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    find = piece_masks.find_masked_pieces

    def recording(capture: Any, found: Any, messages: Any = None) -> Any:
        searched.append(len(messages))
        return find(capture, found, messages)

    monkeypatch.setattr(piece_masks, "find_masked_pieces", recording)
    events = [*anthropic_text(["all ", "is ", "well"]), *anthropic_text(PIECES)]
    for several in (1, 2):
        lines = [{"message": one} for one in (events[:7] if several == 1 else events)]
        document = document_of(*logged(lines), name="answers.ctxcap")
        masks = PieceMasks(document.capture)
        for message in range(len(document.capture)):
            masks.find_line(message)
        assert bool(searched) is (several == 2)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"text": "the delta of the river, a Delta too"}', False),
        (b'{"delta": {"text": "a"}}', True),
        (b'{"method": "item/agentMessage/delta"}', True),
        (b'{"frame": "{\\"textDelta\\": 1}"}', True),
        (b'{"type": "response.output_text.delta"}', True),
    ],
)
def test_prose_about_a_delta_is_no_piece(line: bytes, expected: bool) -> None:
    assert may_hold_pieces(line) is expected
