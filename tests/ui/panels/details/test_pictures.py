"""Pictures of messages: decoded beside the window, within a budget, kept when the page is made again."""

from __future__ import annotations

import base64
import functools
import struct
import threading
import time
import zlib
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage, QImageReader
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details import pictures
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.pictures import BUDGET, PictureView, decode_picture, read_head
from inspector.ui.panels.details.section import LinkText
from tests.builders import document_of, tool_call, tool_result
from tests.ui.panels.details.panels import details_panel


def encoded(width: int, height: int, shade: int = 0, form: str = "WEBP") -> str:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(shade)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)  # pyright: ignore[reportCallIssue, reportArgumentType]  the stub lacks str
    return base64.b64encode(buffer.data().data()).decode()


def sixteen_bit_png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)
    rows = zlib.compress(b"\0" * (1 + 8 * width) * height, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class Decoded:
    """Counts what is decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        decode = pictures.decode_picture

        def counting(data: bytes) -> Any:
            self.times += 1
            return decode(data)

        monkeypatch.setattr(pictures, "decode_picture", counting)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Decoded:
    return Decoded(monkeypatch)


@pytest.fixture
def panel(theme_controller: ThemeController, qtbot: QtBot, request: pytest.FixtureRequest) -> DetailsPanel:
    """The details of a result with the pictures that the test is given, or so many large ones."""
    shown = large()[: request.param] if isinstance(request.param, int) else request.param
    content = [{"type": "image", "mimeType": "image/webp", "data": data} for data in shown]
    call = tool_call("shot")
    made = details_panel(document_of(call, tool_result(call, result={"content": content})), theme_controller)
    qtbot.addWidget(made)
    made.resize(360, 900)
    made.show()
    return made


def views(panel: DetailsPanel) -> list[PictureView]:
    return [view for view in panel.pages["Overview"].findChildren(PictureView) if view.image is not None]


def buttons(panel: DetailsPanel) -> list[LinkText]:
    found = panel.pages["Overview"].findChildren(LinkText)
    return [one for one in found if one.objectName().startswith("showPicture")]


@functools.cache
def large() -> list[str]:
    """Pictures of 7.5 megapixels each."""
    return [encoded(3_000, 2_500, shade, "PNG") for shade in range(6)]


@pytest.mark.sweep
@pytest.mark.parametrize("panel", [6], indirect=True)
def test_one_message_decodes_within_its_budget_and_the_rest_on_request(
    panel: DetailsPanel, decoded: Decoded, qtbot: QtBot
) -> None:
    panel.show_message(1)
    qtbot.waitUntil(lambda: len(views(panel)) == 1)
    assert decoded.times == 1
    assert [button.objectName() for button in buttons(panel)] == [f"showPicture{place}" for place in range(1, 6)]
    facts = panel.pages["Overview"].findChild(FactsView, "block1")
    assert facts is not None
    assert facts.row_text(facts.rows[0]).endswith("3000 by 2500 pixels")
    buttons(panel)[0].click()
    qtbot.waitUntil(lambda: len(views(panel)) == 2)
    assert views(panel)[1].isVisible()
    assert buttons(panel)[0].isHidden()


@pytest.mark.parametrize("panel", [6], indirect=True)
def test_showing_a_message_waits_for_no_picture(
    panel: DetailsPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(data: bytes) -> Any:
        time.sleep(0.3)
        return decode_picture(data)

    monkeypatch.setattr(pictures, "decode_picture", slow)
    panel.show_message(1)
    shown = panel.pages["Overview"].findChild(PictureView, "picture0")
    assert shown is not None
    assert shown.image is None
    # Its room is there from the start, so that nothing jumps.
    assert shown.height() > 100
    assert shown.height() == pytest.approx(shown.width() * 5 / 6, abs=3)
    qtbot.waitUntil(lambda: len(views(panel)) == 1)
    assert shown.height() == pytest.approx(shown.width() * 5 / 6, abs=3)


@pytest.mark.parametrize("panel", [[encoded(600, 400)]], indirect=True)
def test_a_page_that_is_made_again_decodes_nothing_again(
    panel: DetailsPanel, decoded: Decoded, qtbot: QtBot
) -> None:  # fmt: skip
    panel.show_message(1)
    qtbot.waitUntil(lambda: len(views(panel)) == 1)
    for shown in (0, 1, 0, 1):
        panel.show_message(shown)
    panel.set_context_hints(True)
    assert any(view.isVisible() for view in views(panel))  # at once
    assert decoded.times == 1


@pytest.mark.parametrize("panel", [1], indirect=True)
def test_what_nobody_waits_for_is_not_decoded(
    panel: DetailsPanel, decoded: Decoded, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A thread decodes when it can: that it has not begun yet is made sure of where it gets its work.
    jobs, go_on = panel.links.pictures, threading.Event()
    jobs._executor.submit(go_on.wait, 60)
    try:
        panel.show_message(1)
        assert len(jobs._jobs) == 1
        panel.show_message(0)
        qtbot.waitUntil(lambda: not jobs._jobs)
    finally:
        go_on.set()
    jobs._executor.submit(int).result()
    assert decoded.times == 0


_CUT = base64.b64encode(base64.b64decode(encoded(80, 60, form="PNG"))[:70]).decode()


@pytest.mark.parametrize("panel", [[_CUT]], indirect=True)
def test_a_damaged_picture_is_told_in_words(panel: DetailsPanel, qtbot: QtBot) -> None:
    panel.show_message(1)
    facts = panel.pages["Overview"].findChild(FactsView, "block0")
    assert facts is not None
    qtbot.waitUntil(lambda: facts.row_text(facts.rows[0]).endswith("80 by 60 pixels, damaged"))
    shown = panel.pages["Overview"].findChild(PictureView)
    assert shown is None or shown.isHidden()


def test_a_picture_of_sixteen_bits_is_shown() -> None:
    limit = QImageReader.allocationLimit()
    QImageReader.setAllocationLimit(1)
    try:
        image, size, reason = decode_picture(sixteen_bit_png(600, 400))
    finally:
        QImageReader.setAllocationLimit(limit)
    assert (reason, size.width()) == ("", 600)
    assert image is not None
    assert image.width() == 600


def test_the_head_of_a_picture_says_what_decoding_it_costs() -> None:
    assert read_head(base64.b64decode(large()[0])).cost == 7_500_000
    assert read_head(base64.b64decode(encoded(2_000, 1_000, form="JPEG"))).cost == 500_000
    assert BUDGET < 2 * 7_500_000
