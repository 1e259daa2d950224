"""Garbage collection in a process with windows."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from inspector.base import gc_control

_MANY = 20_000


@pytest.fixture(autouse=True)
def automatic_collection() -> Iterator[None]:
    """As in a program: tests have none."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


class _Cycle:
    """Garbage that only a collection deletes."""

    deleted_in: list[threading.Thread]

    def __init__(self, deleted_in: list[threading.Thread]) -> None:
        self.me, self.deleted_in = self, deleted_in

    def __del__(self) -> None:
        self.deleted_in.append(threading.current_thread())


def _objects_created_in_thread() -> list[list[int]]:
    made: list[list[int]] = []
    thread = threading.Thread(target=lambda: made.extend([n] for n in range(_MANY)))
    thread.start()
    thread.join()
    return made


def test_no_other_thread_deletes_widgets() -> None:
    deleted_in: list[threading.Thread] = []
    with gc_control.manual_collection():
        _Cycle(deleted_in)
        made = _objects_created_in_thread()
        assert deleted_in == []
        gc_control.collect_young()
        assert deleted_in == [threading.main_thread()]
    assert len(made) == _MANY


def test_few_young_objects_are_not_collected() -> None:
    deleted_in: list[threading.Thread] = []
    with gc_control.manual_collection():
        gc.collect(0)
        _Cycle(deleted_in)
        gc_control.collect_young()
        assert deleted_in == []
