"""Lines above 1 MB are masked by another process in a window: the same file, in steps that are short."""

from __future__ import annotations

import multiprocessing
from collections import deque
from pathlib import Path

import pytest

from inspector.export.files import export_file
from inspector.export.masking_worker import MaskingWorker
from inspector.export.options import ExportOptions
from inspector.export.preview import preview
from inspector.export.steps import export_steps
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from tests.builders import document_of, envelope

pytestmark = pytest.mark.real

SECRET = "sk-ant-api03-" + "a1B2" * 12
TEXT = "caf\u00e9 \\ud83d\n" * 100_000 + f" key {SECRET} "


def no_process(*_: object, **__: object) -> None:
    raise OSError("no process is to be had")


def test_a_long_line_is_exported_as_it_would_be_without_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_json = f"[{SECRET} ".encode() + b"\0" * MAX_WHOLE_BYTES
    document = document_of(envelope(payload={"text": SECRET}), envelope(payload={"text": TEXT}), no_json, envelope())
    here, aside, alone = (tmp_path / f"{name}.jsonl" for name in ("here", "aside", "alone"))
    messages = range(len(document.capture))
    *_, expected = export_file(document, messages, here, ExportOptions())
    assert expected.masked.total() == 3
    steps = list(export_steps(document, messages, aside, ExportOptions()))
    assert steps[-1] == expected
    assert len({step.messages for step in steps}) < len(steps), "others had their turn while the line was masked"
    counted = [found.secrets for found in preview(document, messages)]
    assert counted[-1] == 3
    monkeypatch.setattr("inspector.base.workers.pool._Worker", no_process)
    *_, last = export_steps(document, messages, alone, ExportOptions())
    assert last == expected
    assert here.read_bytes() == aside.read_bytes() == alone.read_bytes()
    assert SECRET.encode() not in here.read_bytes()


def test_a_process_that_dies_in_the_middle_of_a_line_ends_the_export(tmp_path: Path) -> None:
    document, target = document_of(envelope(payload={"text": TEXT * 2})), tmp_path / "a.jsonl"
    steps = export_file(document, range(1), target, ExportOptions(), MaskingWorker())
    next(step for step in steps if step.size_bytes)
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(OSError, match="has ended"):
        deque(steps, maxlen=0)
    assert not target.exists()
