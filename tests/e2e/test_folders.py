"""Where the program writes: its own four folders, the system's folder for temporary files, and files it was told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="watches Linux' folders"),
]

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "mew" / "coding-agent" / "envelope-history.jsonl"
OWN = {
    ".config/context-inspector", ".local/share/context-inspector", ".cache/context-inspector",
    ".local/state/context-inspector",
}  # fmt: skip
QT_OWN = {".cache/fontconfig", ".cache/mesa_shader_cache", ".cache/mesa_shader_cache_db"}
"""What libraries keep for all programs alike."""


class Home:
    """A user's home, with nothing in it."""

    def __init__(self, root: Path) -> None:
        self.home, self.temp, self.run, self.work = (root / name for name in ("home", "temp", "run", "work"))
        for folder in (self.home, self.temp, self.run, self.work):
            folder.mkdir(mode=0o700)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CONTEXT_INSPECTOR"))}
        self.environment = {
            **kept, "HOME": str(self.home), "TMPDIR": str(self.temp), "XDG_RUNTIME_DIR": str(self.run),
            "QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error",
        }  # fmt: skip

    def does(self, *words: str) -> int:
        """Run the program to its end."""
        with self._started(*words) as process:
            return process.wait(200)

    def shows(self, log: Path) -> int:
        """Run the program on a log until it has noted that this is open, and end it as Ctrl+C does."""
        noted = self.home / ".local/share/context-inspector/session.json"
        with self._started(str(log)) as process:
            until_s = time.monotonic() + 200
            while not (noted.exists() and log.name in noted.read_text()) and time.monotonic() < until_s:
                assert process.poll() is None, "it has ended by itself"
                time.sleep(0.05)
            time.sleep(1)
            process.send_signal(2)
            return process.wait(60)

    @contextmanager
    def _started(self, *words: str) -> Generator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "inspector", *words], cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def written(self, folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}

    def strangers(self) -> set[str]:
        """Files in the home that lie in none of the program's folders."""
        return {name for name in self.written(self.home) if not any(name.startswith(f"{own}/") for own in OWN | QT_OWN)}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def own_files(home: Home) -> list[Path]:
    return [home.home / name for name in home.written(home.home) if any(name.startswith(f"{own}/") for own in OWN)]


def test_open_demo_export_and_reports(home: Home) -> None:
    root = Path(__file__).parents[2]
    before = {path for path in (root / "inspector").rglob("*") if "__pycache__" not in path.parts}
    home.environment["PYTHONPATH"] = str(root)
    assert home.does("demo", "--seconds", "4") == 0
    assert home.shows(RECORDING) == 130
    assert home.does("screenshot", str(RECORDING), "-o", "shot.png", "--view", "Timeline", "--panel", "Tokens") == 0
    assert home.does("export", str(RECORDING), "-o", "out.jsonl") == 0
    assert home.does("summary", str(RECORDING)) == 0
    assert home.written(home.work) == {"shot.png", "out.jsonl"}
    assert home.strangers() == set()
    assert home.written(home.temp) == set()
    assert {Path(name).suffix for name in home.written(home.run)} <= {".lock"}
    assert {path for path in (root / "inspector").rglob("*") if "__pycache__" not in path.parts} == before
    for path in own_files(home):
        assert path.stat().st_mode & 0o077 == 0, path
        assert path.parent.stat().st_mode & 0o077 == 0, path.parent


def test_what_is_piped_in_is_gone_afterwards(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", "-"], cwd=Path(__file__).parents[2], env=home.environment,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    cache = home.home / ".cache/context-inspector"
    try:
        data = RECORDING.read_bytes()
        process.stdin.write(data)
        process.stdin.close()
        until_s = time.monotonic() + 120
        while sum(path.stat().st_size for path in cache.glob("spool-*/*")) < len(data):
            assert time.monotonic() < until_s
            time.sleep(0.05)
        time.sleep(1)
        assert all(path.stat().st_mode & 0o077 == 0 for path in (*cache.glob("spool-*"), *cache.glob("spool-*/*")))
        process.send_signal(2)
        assert process.wait(120) in (0, 130)
    finally:
        process.kill()
        process.wait()
    assert list(cache.glob("spool-*")) == []
    assert home.written(home.temp) == set()
    assert home.strangers() == set()
    settings = home.home / ".config/context-inspector/settings.json"
    assert not settings.exists() or json.loads(settings.read_text())["recent_files"] == []
