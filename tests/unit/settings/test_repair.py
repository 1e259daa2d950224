"""Entries of the settings file that cannot be used are left out one by one; whatever a file holds, it loads."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.settings import Settings, load_settings, save_settings, settings_path
from inspector.settings.repair import MAX_TEXT_LENGTH, repair_settings

GOOD = {"name": "Mine", "filter": "tool"}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"display": {"theme": "pink", "density": "comfortable"}}, "display.theme: input should be"),
        ({"presets": [GOOD, {"name": 7, "filter": "x"}, GOOD]}, "preset 2: name: input should be a valid string"),
        ({"presets": [{"name": "Tools"}, GOOD]}, "preset 1 (Tools): filter: field required"),
        ({"keys": {"edit.mark": ["Ctrl+M"], "edit.undo": 3}}, "keys of edit.undo: input should be a valid list"),
        ({"keys": {"edit.undo": ["Ctrl+Z", 4]}}, "keys of edit.undo: 1: input should be"),
        ({"recent_files": ["/a", 3, "/b"]}, "recent file 2: input should be a valid string"),
        ({"connections": [{"name": "", "url": "ws://h"}]}, "connection 1 (ws://h): name: string should have"),
        ({"table": {"columns": [{"name": "no"}, 5]}}, "column 2: input should be"),
        ({"presets": "many"}, "presets: input should be a valid list"),
        ({"display": 3}, "display: input should be"),
        ({"highlights": [{"name": "x" * (MAX_TEXT_LENGTH + 1), "filter": ""}]}, "highlight rule 1"),
        ({"presets": [{"name": "\x1b[31m<b>red</b>", "filter": 1}]}, "preset 1 ([31m<b>red</b>)"),
    ],
)  # fmt: skip
def test_a_broken_entry_goes_alone(raw: dict[str, object], words: str) -> None:
    content = {"filter_history": ["kept"], **raw}
    before = json.dumps(content)
    settings_path().write_text(before)
    loaded = load_settings()
    assert loaded.settings.filter_history == ["kept"]
    assert loaded.message is not None
    assert words in loaded.message
    assert "settings.broken-1.json" in loaded.message
    assert settings_path().with_name("settings.broken-1.json").read_text() == before
    assert settings_path().read_text() == before


def test_what_is_valid_beside_it_is_kept() -> None:
    found, left_out = repair_settings(
        {"display": {"theme": "pink", "density": "comfortable"}, "presets": [GOOD, 3, {**GOOD, "name": "B"}, {}]}
    )
    assert (found.display.theme, found.display.density) == ("system", "comfortable")
    assert [preset.name for preset in found.presets] == ["Mine", "B"]
    assert len(left_out) == 3


def test_what_an_entry_can_do_without_goes_first() -> None:
    found, left_out = repair_settings({
        "presets": [{**GOOD, "key": 5}, {"name": "B", "key": 5}],
        "highlights": [{**GOOD, "color": "pink", "on": "perhaps"}],
        "connections": [{"name": "Home", "url": "ws://h", "token": 3}],
        "table": {"columns": [{"name": "no", "width": -1}]},
    })  # fmt: skip
    assert [(preset.name, preset.filter, preset.key) for preset in found.presets] == [("Mine", "tool", None)]
    assert [(rule.name, rule.color, rule.on) for rule in found.highlights] == [("Mine", "orange", True)]
    assert [(kept.name, kept.url, kept.token) for kept in found.connections] == [("Home", "ws://h", "none")]
    assert [(column.name, column.width) for column in found.table.columns] == [("no", 0)]
    assert "preset 1 (Mine): key: input should be a valid string" in left_out
    assert any(said.startswith("preset 2 (B): filter: ") for said in left_out)


def test_the_same_file_is_copied_aside_once() -> None:
    settings_path().write_text(json.dumps({"display": 3}))
    load_settings()
    load_settings()
    assert sorted(file.name for file in settings_path().parent.iterdir()) == ["settings.broken-1.json", "settings.json"]
    save_settings(load_settings().settings)
    assert load_settings().message is None


def test_where_no_copy_can_be_written_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    settings_path().write_text(json.dumps({"display": 3}))

    def refuse(*_args: object, **_kept: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inspector.base.atomic_files.tempfile.mkstemp", refuse)
    message = load_settings().message
    assert message is not None
    assert "settings.json before you change a setting" in message


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
    | st.sampled_from(["<b>x</b>", "\x00", "\u202e", "Ctrl+M"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_FIELDS = st.sampled_from([*Settings.model_fields, "later"])
_ITEM = st.dictionaries(st.sampled_from(["name", "filter", "key", "color", "on", "url", "id", "shown"]), _ANY)


@example({"presets": [{"filter": []}]})  # compared with those that a new version adds
@given(st.dictionaries(_FIELDS, _ANY | st.lists(_ITEM, max_size=3)))
def test_whatever_the_entries_are_it_loads_and_can_be_saved(raw: dict[str, object]) -> None:
    raw.pop("version", None)
    settings_path().write_text(json.dumps(raw))
    loaded = load_settings()
    save_settings(loaded.settings)
    assert load_settings().message is None
    for file in settings_path().parent.glob("settings.broken*"):
        file.unlink()


def test_huge_and_deep_entries_are_left_out_in_time() -> None:
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    found, left_out = repair_settings({"presets": [{"name": "n", "filter": "x" * 10_000_000}, GOOD], "table": deep})
    assert [preset.name for preset in found.presets] == ["Mine"]
    assert len(left_out) == 2
