"""Developer > Objects and tasks: counts tasks, threads and objects of this process. Never shows their content."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from inspector.diagnostics.crash_report import shorten_paths

_MAX_KINDS = 40


def dump_words() -> str:
    """Returns tasks, threads, Qt objects and Python objects as text."""
    parts = [
        ("Tasks", list(_tasks())),
        ("Threads", list(_threads())),
        ("Qt objects", _counted(_qt_objects())),
        (f"Python objects, {gc.get_freeze_count():,} more frozen", _counted(_python_objects())),
    ]
    return "\n\n".join("\n".join([title, *(lines or ["none"])]) for title, lines in parts)


def _tasks() -> Iterable[str]:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no event loop is running
        return
    for task in sorted(tasks, key=lambda task: task.get_name()):
        stack = task.get_stack(limit=1)
        yield f"{task.get_name():<40} {_place(stack[-1]) if stack else 'about to end'}"


def _threads() -> Iterable[str]:
    frames = sys._current_frames()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        kind = "daemon" if thread.daemon else "thread"
        yield f"{thread.name:<32} {kind:<8} {_place(frame) if frame is not None else ''}".rstrip()


def _place(frame: Any) -> str:
    file = shorten_paths(f'File "{frame.f_code.co_filename}"').removeprefix('File "').removesuffix('"')
    return f"{frame.f_code.co_name}, {file}:{frame.f_lineno}"


def _qt_objects() -> Counter[str]:
    return Counter(
        type(one).__name__
        for top in QApplication.topLevelWidgets()
        for one in (top, *top.findChildren(QObject))
    )  # fmt: skip


def _python_objects() -> Counter[str]:
    return Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())


def _counted(kinds: Counter[str]) -> list[str]:
    lines = [f"{count:>10,} {name}" for name, count in kinds.most_common(_MAX_KINDS)]
    return [f"{kinds.total():>10,} total", *lines]
