"""Files the program stores for itself: damaged they cost a sentence at most, and killed while written nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector import settings
from inspector.analysis.passes.user_marks import Note
from inspector.base import paths
from inspector.document.marks_file import MarksFile, beside_capture, places, restore_marks
from inspector.settings import Settings
from inspector.settings.window_state import SavedWindow, WindowState, last_open_path, load_last_open, save_last_open
from tests.builders import document_at, envelope, lines_of, log_file

DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing in it": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if file.exists() else b'{"ver'),
    "no JSON": lambda file: file.write_bytes(b"\x00\xff not at all"),
    "another type": lambda file: file.write_bytes(b"[1, 2]"),
    "a number": lambda file: file.write_bytes(b"7"),
    "types within": lambda file: file.write_bytes(
        b'{"version": "x", "windows": 7, "presets": "no", "recent_files": {"a": [1]}, "ctxmarks": [], "of": 3, '
        b'"ctxindex": "1", "known": 4, "messages": "m", "contexts": 1}'
    ),
    "deep": lambda file: file.write_bytes(b'{"a":' * 100_000),
    "a folder": lambda file: (file.unlink(missing_ok=True), file.mkdir(), (file / "in it").touch()),
    "a link to itself": lambda file: (file.unlink(missing_ok=True), file.symlink_to(file.name)),
}
damaged = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Has a file refuse to be opened, also to an administrator."""

    def refuse(file: Path) -> None:
        opening, path_opening = os.open, Path.open

        def guarded(path: object, *rest: object, **more: object) -> int:
            if str(path) == str(file):
                raise PermissionError(13, "Permission denied", str(file))
            return opening(path, *rest, **more)  # type: ignore[arg-type]

        def guarded_path(self: Path, *rest: object, **more: object) -> object:
            if self == file:
                raise PermissionError(13, "Permission denied", str(file))
            return path_opening(self, *rest, **more)  # type: ignore[call-overload]

        monkeypatch.setattr(os, "open", guarded)
        monkeypatch.setattr(Path, "open", guarded_path)

    return refuse


@damaged
def test_damaged_settings_are_the_defaults_and_a_sentence(damage: Callable[[Path], object]) -> None:
    settings.save_settings(Settings())
    damage(settings.settings_path())
    loaded = settings.load_settings()
    assert loaded.message
    assert "settings" in loaded.message
    try:
        settings.save_settings(loaded.settings)
    except OSError:  # the file could be neither read nor put aside, which was said
        assert "left as it is" in loaded.message or "could not be read" in loaded.message
    else:
        assert settings.load_settings().message is None


def test_settings_that_cannot_be_read_are_said_and_stay(unreadable: Callable[[Path], None]) -> None:
    settings.save_settings(Settings())
    before = settings.settings_path().read_bytes()
    unreadable(settings.settings_path())
    message = settings.load_settings().message or ""
    assert "could not be read (Permission denied); defaults are used" in message
    assert settings.settings_path().stat().st_size == len(before)


@damaged
def test_a_damaged_list_of_what_was_open_is_an_empty_one(damage: Callable[[Path], object]) -> None:
    save_last_open(WindowState([SavedWindow(path="/b")]))
    damage(last_open_path())
    found = load_last_open()
    assert found.windows == []
    assert found.problem.startswith("The state of the last session could not be read: ")


def test_what_was_open_and_cannot_be_read_is_an_empty_list(unreadable: Callable[[Path], None]) -> None:
    save_last_open(WindowState([SavedWindow(path="/b")]))
    unreadable(last_open_path())
    assert load_last_open() == WindowState(
        problem="The state of the last session could not be read: Permission denied."
    )


def marked(path: Path) -> Path:
    """A log with a note, written; its file of marks."""
    document = document_at(path)
    file = MarksFile(document, path)
    file.restore(complete=True)
    document.analysis.marks.set_note(0, Note(True, "look"))
    file.write(file.snapshot())
    return beside_capture(path)


@damaged
def test_damaged_marks_do_not_keep_a_log_from_being_read(damage: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope()))
    damage(marked(path))
    document = document_at(path)
    restore_marks(document, path)
    assert len(document.capture) == 1


@damaged
def test_a_damaged_index_of_marks_costs_nothing(damage: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope()))
    places.own_folder().mkdir(parents=True, exist_ok=True)
    damage(places.own_folder() / "index.json")
    assert marked(path).exists()
    document = document_at(path)
    restore_marks(document, path)
    assert document.analysis.marks.note(0) == Note(True, "look")


@pytest.mark.real
@damaged
def test_a_damaged_log_of_the_program_does_not_keep_it_from_starting(damage: Callable[[Path], object]) -> None:
    from inspector.diagnostics import program_log

    paths.log_folder().mkdir(parents=True, exist_ok=True)
    damage(paths.log_folder() / f"{program_log.STEM}.log")
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "summary", str(log_file(lines_of(envelope())))],
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


SAVES = {
    "settings": """
from inspector import settings
import sys
one = settings.Settings()
print("go", flush=True)
while True:
    for size in (1, 20_000):
        one.filter_history = ["no < 5"] * size
        settings.save_settings(one)
""",
    "marks": """
import sys
from pathlib import Path
from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile
path = Path(sys.argv[1])
document = CaptureDocument()
document.load(path)
file = MarksFile(document, path)
file.restore(complete=True)
print("go", flush=True)
while True:
    for size in (1, 9_000):
        document.analysis.marks.set_note(0, Note(True, "x" * size))
        file.write(file.snapshot())
""",
}


@pytest.mark.real
@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.parametrize("what", SAVES)
def test_killed_while_it_writes_the_old_file_or_the_new_one_is_whole(what: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope()))
    file = settings.settings_path() if what == "settings" else beside_capture(path)
    for number in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", SAVES[what], str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"go\n"
            seen = set[int]()
            while len(seen) < 2 + number % 3:  # some writes later, at a moment of its own
                if file.exists():
                    seen.add(file.stat().st_ino)
            process.send_signal(signal.SIGKILL)
        raw = json.loads(file.read_bytes())
        if what == "settings":
            assert len(raw["filter_history"]) in (1, 20_000)
            assert settings.load_settings().message is None
        else:
            assert len(raw["messages"][0]["comment"]) in (1, 9_000)
            document = document_at(path)
            restore_marks(document, path)
            assert document.analysis.marks.note(0).marked
    left = [one.name for one in file.parent.iterdir() if one.name.endswith(".part")]
    assert len(left) <= 8
