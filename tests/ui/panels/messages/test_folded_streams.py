"""Streams in the message table: one row each, which opens in place and grows while its stream flows."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from inspector.present.folded_stream import LINE_FRAMES
from inspector.present.message_columns import Column
from inspector.store.messages.records import Records
from inspector.ui.panels.messages.panel import MessagesPanel
from tests.builders import envelope
from tests.streamed import HEAD, asked, came, chunk, closed, frame, opened, speech
from tests.ui.panels.filtering import show_filter
from tests.ui.panels.messages.test_panel import Live, chevron, click, panel_of, text

MakePanel = Callable[..., MessagesPanel]
WORDS = "First I will look at the directory, then I will write the file."
HEAD_ROW = 3
"""The row of the stream in `talk`."""


def talk(*more: Any) -> list[Any]:
    start = came(envelope("reasoning/start", {"input": "why"}, id="r1", sender="mew"))
    return [HEAD, asked("r1", target=["human"]), opened("s"), start, *speech("s", WORDS), *more]


@pytest.fixture
def live(tmp_path: Path, make_panel: MakePanel) -> Live:
    made = Live(tmp_path)
    made.panel = make_panel(document=made.document, size=(1000, 300))
    return made


@contextmanager
def records_read() -> Generator[list[int]]:
    """The messages whose records are read meanwhile."""
    read: list[int] = []
    real = Records.read_record

    def record(self: Records, message: int) -> Any:
        read.append(message)
        return real(self, message)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Records, "read_record", record)
        yield read


def test_a_stream_is_one_row_of_speech(make_panel: MakePanel) -> None:
    panel = make_panel(*talk(closed("s")), size=(1200, 300))
    assert panel.model.rowCount() == 5
    assert text(panel, HEAD_ROW) == WORDS
    assert text(panel, HEAD_ROW, Column.FROM_TO) == "mew → human"
    assert text(panel, HEAD_ROW, Column.CONTEXT) == "why"
    assert text(panel, HEAD_ROW, Column.KIND) == "stream/frames"
    content = panel.model.content(3)
    assert content.aside == "15 frames, 140 ms"
    spoken = panel.model.index(HEAD_ROW, Column.MESSAGE).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == f"{WORDS}, 15 frames, 140 ms, can be expanded"


def test_bytes_are_told_by_their_size_and_notes_by_themselves(make_panel: MakePanel) -> None:
    panel = make_panel(HEAD, opened("s"), frame("s", b"\xff\xfe\x00"), frame("s", b"\x01"),
                       opened("t", None), chunk("t", "thinking", "status"))  # fmt: skip
    assert [text(panel, row) for row in (1, 3)] == ["binary, 10 B", "thinking"]
    assert panel.model.content(1).aside == "open, 2 frames, 10 ms"


def test_it_opens_in_place(make_panel: MakePanel, qtbot: Any) -> None:
    panel = make_panel(*talk(closed("s")), size=(1200, 400))
    click(qtbot, panel, chevron(panel, HEAD_ROW))
    lines = [text(panel, row) for row in range(HEAD_ROW + 1, panel.model.rowCount() - 1)]
    assert lines[0].startswith("Stream, s, 15 frames, 140 ms, ")
    assert lines[1:] == ["thinking → done", WORDS]
    assert panel.model.message_at_row(panel.model.rowCount() - 1) == (18, 0)
    QTest.keyClick(panel.view, Qt.Key.Key_Left)
    assert panel.model.rowCount() == 5


def test_frames_one_by_one_and_back(make_panel: MakePanel) -> None:
    panel = make_panel(*talk(closed("s")), size=(1200, 700))
    panel.go_to(8)
    assert panel.current_message() == 3
    panel.toggle_original()
    panel.set_streams_folded(False)
    assert panel.model.rowCount() == 19
    assert panel.current_message() == 3
    assert text(panel, 5) == "s  I"
    panel.go_to(8)
    panel.set_streams_folded(True)
    assert (panel.model.rowCount(), panel.current_message()) == (5, 3)


def test_a_filter_about_frames_shows_them_one_by_one(make_panel: MakePanel) -> None:
    panel = make_panel(*talk(closed("s")))
    show_filter(panel, 'kind == "stream/frame"')
    assert panel.model.rowCount() == 15
    assert text(panel, 1) == "s  First"
    show_filter(panel, "")
    assert text(panel, HEAD_ROW) == WORDS


def test_all_that_is_let_through_counts_as_shown(make_panel: MakePanel) -> None:
    panel = make_panel(*talk(closed("s")))
    counts: list[int] = []
    panel.shown_changed.connect(counts.append)
    show_filter(panel, "from == mew")
    assert counts == [18]


def test_a_stream_grows_in_its_row(live: Live) -> None:
    panel = panel_of(live)
    live.say(*talk())
    assert panel.model.content(3).aside == "open, 15 frames, 140 ms"
    panel.go_to(3)
    panel.toggle_original()
    before = panel.model.rowCount()
    live.say(*(chunk("s", f"{word} ") for word in (WORDS * 4).split()))
    assert panel.model.content(3).text.startswith(WORDS)
    assert panel.model.content(3).aside.startswith("open, 64 frames")
    assert panel.model.rowCount() > before
    assert panel.current_message() == 3
    live.say(closed("s"))
    assert panel.model.content(3).aside.startswith("64 frames")


def test_what_is_read_stays_where_it_is_while_a_stream_above_grows(live: Live) -> None:
    panel = panel_of(live)
    live.say(*talk(), *(came(envelope("chat", {"text": f"say {n}"})) for n in range(40)))
    panel.model.expand(3)
    panel.follow(False)
    panel.go_to(30)
    row = panel.model.rows.row_of(30)
    assert row is not None
    panel.view.verticalScrollBar().setValue(row * panel.view.paints.metrics.row - 40)
    seen = panel.view.anchor.at_top()
    for _ in range(3):
        live.say(*(chunk("s", f"{word} ") for word in WORDS.split()))
        assert panel.view.anchor.at_top() == seen
        assert panel.current_message() == 30


@pytest.mark.parametrize("frames", [200, 2_000])
def test_work_goes_by_new_frames(live: Live, frames: int) -> None:
    """Whatever is there of a stream, opening its row and letting it grow read as little."""
    panel = panel_of(live)
    live.say(HEAD, opened("s"), *(chunk("s", "word ") for _ in range(frames)))
    with records_read() as read:
        panel.model.content(1)
        panel.model.expand(1)
    assert len(read) <= LINE_FRAMES + 4
    with records_read() as read:
        for _ in range(5):
            live.say(chunk("s", "more "), chunk("s", "words "))
            panel.model.content(1)
    assert len(read) <= 12


def test_a_long_stream_opens_and_grows_in_no_time(live: Live) -> None:
    panel = panel_of(live)
    live.say(HEAD, opened("s"), *(chunk("s", "word ") for _ in range(5_000)))
    while live.document.sources.unread_bytes:
        live.document.poll()
    began = time.process_time()
    panel.model.expand(1)
    assert time.process_time() - began < 0.1
    assert text(panel, panel.model.rowCount() - 1) == f"{5_000 - LINE_FRAMES:,} more frames"
