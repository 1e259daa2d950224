"""PySide6 6.12.0 on CPython 3.10 and 3.11 loses a reference to None on every void call and aborts after thousands."""

from __future__ import annotations

import gc
import sys

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

CALLS = 1000


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from 3.12 on")
@pytest.mark.real
def test_void_calls_keep_the_references_to_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    label.setText("warm up")
    gc.collect()  # what tests before left holds None, too
    gc.disable()
    try:
        before = sys.getrefcount(None)
        for _ in range(CALLS):
            label.setText("")
        after = sys.getrefcount(None)
    finally:
        gc.enable()
    assert abs(after - before) < CALLS // 10
