"""Sessions of programs whose records do not name them."""

from __future__ import annotations

from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.document.summary import summary
from tests.builders import closed_at_end, lines_of


def _session(path: Path, day: int) -> Path:
    path.parent.mkdir(exist_ok=True)
    began = f"2026-01-0{day}T10:00:0"
    path.write_bytes(
        lines_of(
            {"role": "session_meta", "model": "m", "tools": [], "timestamp": f"{began}0"},
            {"role": "user", "content": f"Day {day}", "timestamp": f"{began}1"},
            {"role": "assistant", "content": f"Loaf {day}", "timestamp": f"{began}4"},
        )
    )
    return path


def _spaces(*paths: Path) -> list[str]:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_together([SourceChoice(path) for path in paths]):
        pass
    return sorted(summary(document, "")["spaces"])


def test_files_opened_together_are_sessions_of_their_own(tmp_path: Path) -> None:
    assert _spaces(_session(tmp_path / "a.jsonl", 1), _session(tmp_path / "b.jsonl", 2)) == ["a.jsonl", "b.jsonl"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = _session(tmp_path / "a" / "wire.jsonl", 1), _session(tmp_path / "b" / "wire.jsonl", 2)
    assert len(_spaces(*paths)) == 2


def test_a_file_alone_has_the_name_of_its_program(tmp_path: Path) -> None:
    assert _spaces(_session(tmp_path / "a.jsonl", 1)) == ["hermes"]
