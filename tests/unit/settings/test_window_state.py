"""The file that says what was open: written whole, read with suspicion, repaired by attribute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.settings import ConnectionSettings
from inspector.settings.window_state import (
    MAX_WINDOWS,
    SavedCondition,
    SavedScope,
    SavedWindow,
    WindowState,
    last_open_path,
    load_last_open,
    lock_window_state,
    save_last_open,
)

WHOLE = SavedWindow(
    path="/logs/a.jsonl", connection=ConnectionSettings(url="ws://gateway.test"), head_messages=20, head="ab",
    filter="no < 5", conditions=[SavedCondition(text="kind", on=False)], besides="context",
    scope=SavedScope(space="s", context="why"), sorted_by="no", descending=True, message=4, top=2, offset=-3,
    following=True, tab="Raw", view="timeline", geometry="QUJD", docks="QUJD", dragged=False,
)  # fmt: skip


def test_there_and_back() -> None:
    save_last_open(WindowState([WHOLE, SavedWindow(path="/b")], attempts=1))
    assert load_last_open() == WindowState([WHOLE, SavedWindow(path="/b")], attempts=1)
    assert last_open_path().stat().st_mode & 0o777 == 0o600
    assert [path.name for path in last_open_path().parent.iterdir()] == ["session.json"]


def test_none_yet() -> None:
    assert load_last_open() == WindowState()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("message", -1), ("message", "four"), ("geometry", "no base64 $"), ("offset", 1 << 70), ("scope", 7),
        ("filter", "x" * 20_000), ("conditions", [{"on": True}]), ("connection", {}), ("dragged", "perhaps"),
        ("docks", "A" * 200_000), ("following", None), ("view", ["a"]),
    ],
)  # fmt: skip
def test_an_attribute_that_cannot_be_used_is_left_out_alone(attribute: str, value: object) -> None:
    raw = {**WHOLE.model_dump(), attribute: value}
    last_open_path().write_text(json.dumps({"version": 1, "windows": [raw]}))
    (found,) = load_last_open().windows
    usual = SavedWindow.model_fields[attribute].get_default(call_default_factory=True)
    assert found == WHOLE.model_copy(update={attribute: usual})


def test_a_window_with_nothing_to_open_is_left_out() -> None:
    last_open_path().write_text(json.dumps({"version": 1, "windows": [{"filter": "no"}, {"path": "/a"}, 7]}))
    found = load_last_open()
    assert [window.path for window in found.windows] == ["/a"]
    assert found.problem


def test_not_without_end(tmp_path: Path) -> None:
    save_last_open(WindowState([SavedWindow(path=f"/{n}") for n in range(200)]))
    assert len(load_last_open().windows) == MAX_WINDOWS
    big = tmp_path / "big.json"
    big.write_bytes(b" " * (5 << 20))
    assert "too large" in load_last_open(big).problem
    assert "could not be read" in load_last_open(tmp_path).problem


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(SavedWindow.model_fields)), inner),
    max_leaves=8,
)


@given(
    st.binary(max_size=60)
    | st.lists(json_values, max_size=3).map(lambda w: json.dumps({"version": 1, "windows": w}).encode())
)
def test_any_file_gives_a_session(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_bytes(data)
    assert all(window.opens for window in load_last_open(file).windows)


def test_one_process_keeps_it() -> None:
    lock = lock_window_state()
    assert lock is not None
    assert lock_window_state() is None
    lock.release()
