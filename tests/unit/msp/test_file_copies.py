"""Copies of files that no edit reaches, and what is taken over from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.msp.files import MspFile, Stamp
from inspector.msp.json_patch import UNREAD
from inspector.msp.saving import FileCopies

_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.just(UNREAD),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4),
)


def _boxes(value: Any) -> list[Any]:
    """Every dict and list in a value, itself included."""
    found, waiting = list[Any](), [value]
    while waiting:
        box = waiting.pop()
        if isinstance(box, dict | list):
            found.append(box)
            waiting += box.values() if isinstance(box, dict) else box
    return found


@given(_VALUES)
def test_a_copy_is_equal_and_shares_no_box(value: Any) -> None:
    (copy,) = FileCopies([MspFile(Path("x"), b"", value)]).files
    assert copy.value == value
    assert {id(box) for box in _boxes(copy.value)}.isdisjoint(id(box) for box in _boxes(value))


def test_depth_does_not_matter() -> None:
    value: list[Any] = []
    for _ in range(20_000):
        value = [value]
    (copy,) = FileCopies([MspFile(Path("x"), b"", value)]).files
    assert len(_boxes(copy.value)) == 20_001


def test_files_learn_where_they_are_only_when_it_is_settled() -> None:
    file = MspFile(Path("x"), b"{}", {}, compressed=True)
    snapshot = FileCopies([file])
    (copy,) = snapshot.files
    assert not snapshot.wrote_any
    copy.path, copy.stamp, copy.digest, copy.compressed = Path("y"), Stamp(1, 2, 3), "d", False
    assert (file.path, file.stamp, snapshot.wrote_any) == (Path("x"), None, True)
    snapshot.transfer_stamps()
    assert (file.path, file.stamp, file.digest, file.compressed) == (Path("y"), Stamp(1, 2, 3), "d", False)
