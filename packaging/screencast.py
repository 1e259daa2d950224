"""Records the silent screencast of the README: `make screencast`.

Drives the window offscreen through a story of a minute, and saves its frames with captions as one animated WebP.
It writes `resources/tour.webp`.
"""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, it stands in its own folder

from screenshots import MISSED, ORDERS, with_changes

from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.bench.offscreen import run, until

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "resources/tour.webp"
_WIDTH, _HEIGHT, _CAPTION = 1280, 800, 48
_FRAMES_PER_S = 4
_QUALITY = 70
_WAIT_S = 60.0


class Film:
    """Frames of one window, each with the caption of its scene.

    Attributes:
        frames: the frames.
        window: the window on film.
    """

    def __init__(self) -> None:
        self.frames: list[Image.Image] = []
        self.window: MainWindow | None = None
        self._caption = ""

    async def show(self, caption: str, seconds: float) -> None:
        """Films so many seconds of the present scene."""
        self._caption = caption or self._caption
        for _ in range(round(seconds * _FRAMES_PER_S)):
            began = time.perf_counter()
            self._take()
            await asyncio.sleep(max(0.0, 1 / _FRAMES_PER_S - (time.perf_counter() - began)))

    def _take(self) -> None:
        assert self.window is not None
        picture = QImage(_WIDTH, _HEIGHT + _CAPTION, QImage.Format.Format_RGB32)
        picture.fill(QColor("#1f2430"))
        painter = QPainter(picture)
        painter.drawPixmap(QRect(0, 0, _WIDTH, _HEIGHT), self.window.window().grab())
        font = QFont("Inter")
        font.setPixelSize(20)
        painter.setFont(font)
        painter.setPen(QColor("#ffffff"))
        painter.drawText(QRect(0, _HEIGHT, _WIDTH, _CAPTION), Qt.AlignmentFlag.AlignCenter, self._caption)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        picture.save(buffer, "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType]  # the stubs lack this form
        self.frames.append(Image.open(io.BytesIO(buffer.data().data())).convert("RGB"))

    def save(self) -> None:
        """Saves the film."""
        first, *others = self.frames
        first.save(
            TARGET,
            save_all=True,
            append_images=others,
            duration=1000 // _FRAMES_PER_S,
            loop=0,
            quality=_QUALITY,
            method=6,
        )


def _act(window: MainWindow, name: str) -> None:
    window.actions_by_id[name].trigger()


async def _new_window(application: Application, film: Film) -> MainWindow:
    window = application.new_window()
    window.window().resize(_WIDTH, _HEIGHT)
    await until(lambda: "capture_saving" in vars(window), "the parts of the window", _WAIT_S)
    film.window = window
    return window


async def _repeat(film: Film, act: Callable[[], object], times: int, seconds: float) -> None:
    for _ in range(times):
        act()
        await film.show("", seconds)


async def story(application: Application, film: Film) -> None:
    """Plays the story: a session, its slowest steps, another run of it, and live agents."""
    window = await _new_window(application, film)
    await film.show("Context Inspector: open a session, a trace, an evaluation, or join live agents", 3)
    await window.opening.load(ROOT / ORDERS)
    await asyncio.sleep(2)
    await film.show("Overview: what was asked, what came of it, where time and money went", 6)
    _act(window, "view.conversation")
    await asyncio.sleep(1)
    await film.show("Conversation: the session as one text, a call and its result on one card", 4)
    await _repeat(film, lambda: _act(window, "conversation.turn_next"), 4, 1.5)
    await film.show("J and K go through turns, N through failures", 0.5)
    await _repeat(film, lambda: _act(window, "conversation.failure_next"), 3, 2)
    _act(window, "view.steps")
    await asyncio.sleep(1)
    await film.show("Steps: durations, tokens and costs beside a waterfall", 6)
    _act(window, "view.files")
    await film.show("Files: each file with its edits in order, and the tests after them", 5)
    with tempfile.TemporaryDirectory() as folder:
        other = with_changes(ROOT / f"{ORDERS}.jsonl", MISSED, Path(folder))
        window.run_comparing.compare_with(str(other))
        await asyncio.sleep(4)
        await film.show("Compare: where two runs part, and why", 8)
    live = await _new_window(application, film)
    _act(live, "file.demo")
    await until(lambda: live.panes is not None and live.shown.state.messages > 3, "the demo", _WAIT_S)
    _act(live, "view.messages")
    await film.show("Live agents: a tree of contexts, and every message with its cause and outcome", 14)
    await live.gateway.end_session()


def main() -> None:
    """Films the story and saves it."""
    film = Film()

    async def play(application: Application) -> dict[str, Awaitable[object]]:
        await story(application, film)
        return {}

    run(play)
    film.save()
    sys.stdout.write(f"{len(film.frames)} frames, {TARGET.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
