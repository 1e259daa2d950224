"""The program as a user starts it, in a real X11 window on a virtual display."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.screen import virtual_display

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb, a virtual display for X11"),
]

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "mew" / "coding-agent" / "envelope-history.jsonl"

SCRIPT = """
import asyncio, sys
from pathlib import Path
from inspector.ui.app.application import Application, make_qt, run_loop

qt = make_qt()
assert qt.platformName() == "xcb", qt.platformName()

async def main():
    application = Application(qt, theme="light")
    async def start():
        window = application.new_window()
        await window.opening.load(Path(sys.argv[1]))
        picture = Path(sys.argv[2])
        for _ in range(500):  # until it is painted, however busy the machine is
            await asyncio.sleep(0.2)
            if window.window().windowHandle().isExposed():
                qt.primaryScreen().grabWindow(0).save(str(picture))
                if picture.stat().st_size > 20_000:
                    break
        assert window.window().windowHandle().isExposed()
        print(len(window.panes.rows), window.windowTitle())
        await application.close_all()
    await application.run(start())
    return 0

sys.exit(run_loop(main(), qt))
"""


@pytest.fixture
def display() -> Iterator[str]:
    with virtual_display() as display:
        yield display


def environment(display: str, home: Path) -> dict[str, str]:
    return {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "CONTEXT_INSPECTOR_HOME": str(home)}


def test_a_log_is_seen_on_a_real_screen(display: str, tmp_path: Path) -> None:
    picture = tmp_path / "screen.png"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(RECORDING), str(picture)],
        env=environment(display, tmp_path), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("77 "), done.stdout
    assert "Context Inspector" in done.stdout
    assert picture.stat().st_size > 20_000, "the screen is as good as empty"


def test_the_demo_runs_and_ends_by_itself(display: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "demo", "--seconds", "4"],
        env=environment(display, tmp_path), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert list(tmp_path.rglob("*.ctxcap*")) == [], "a demo nobody saved leaves nothing behind"
