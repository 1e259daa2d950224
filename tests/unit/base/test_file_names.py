"""Names proposed for files are names, whatever label they are made of, on every system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.file_names import file_stem

NAMES = [
    ("Why 42? (second try)", "Why-42-second-try"), ("run_2.final", "run_2-final"), ("données", "données"),
    ("../../etc/passwd", "etc-passwd"), ("C:\\Windows\\x", "C-Windows-x"), ("..", "label"), ("", "label"),
    ("-rf *", "rf"), ("a\0b\n\x1b[2J", "a-b-2J"), ("photo\u202egnp.exe", "photo-gnp-exe"), (".bashrc", "bashrc"),
    ("CON", "label-CON"), ("nul", "label-nul"), ("Com1", "label-Com1"), ("lpt²", "label-lpt²"), ("console", "console"),
    ("x" * 10_000, "x" * 48), ("\ud800", "label"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "stem"), NAMES)
def test_a_label_as_a_name(label: str, stem: str) -> None:
    assert file_stem(label, "label") == stem


@given(st.text())
def test_it_is_one_short_name_whatever_the_label(label: str) -> None:
    stem = file_stem(label, "label")
    assert stem
    assert stem[0] not in "-_."
    assert all(c.isalnum() or c in "-_" for c in stem), stem
    assert len(f"{stem}-unmasked.json".encode()) <= 255
