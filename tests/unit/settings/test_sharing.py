"""Tests of `inspector.settings.sharing`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.settings import HighlightRule, Preset, default_highlights, default_presets
from inspector.settings.sharing import (
    FILE_KEY,
    MAX_BYTES,
    SharedPresets,
    UnreadableShareError,
    new_items,
    read_shared,
    write_shared,
)

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda text: bool(text.strip()))


@given(st.lists(st.builds(Preset, name=TEXT, filter=TEXT, key=st.none() | st.just("Alt+3"))))
def test_what_is_written_is_read(tmp_path: Path, presets: list[Preset]) -> None:
    file = tmp_path / "a.json"
    write_shared(file, SharedPresets(presets, default_highlights()))
    assert read_shared(file) == SharedPresets(presets, default_highlights())


def test_a_file_is_replaced_whole_and_can_be_read_by_others(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("x" * 10_000)
    file.chmod(0o644)
    write_shared(file, SharedPresets(default_presets()))
    assert read_shared(file).presets == default_presets()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert file.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "a.json is not JSON."),
        ("[1]", "a.json is JSON, but holds no presets of this program."),
        (json.dumps({FILE_KEY: 2}), "a.json was written by a newer version of this program."),
        (json.dumps({FILE_KEY: 1, "presets": {}}), "The presets in a.json are not a list."),
        (json.dumps({FILE_KEY: 1, "presets": [{"name": "x"}]}),
         "Preset 1 in a.json cannot be used: filter: Field required."),
        (json.dumps({FILE_KEY: 1, "presets": [{"name": " ", "filter": ""}]}), "Preset 1 in a.json has no name."),
        (json.dumps({FILE_KEY: 1, "presets": [{"name": "\ud800", "filter": ""}]}),
         "Preset 1 in a.json is not valid Unicode."),
        (json.dumps({FILE_KEY: 1, "presets": [{"name": "a", "filter": ""}] * 501}),
         "a.json holds 501 presets; at most 500 are taken."),
        ("[" * 100_000, "a.json is not JSON."),
        (" " * (MAX_BYTES + 1), "a.json is too large to be a file of presets."),
    ],
    ids=["cut", "other", "newer", "no-list", "no-filter", "no-name", "surrogate", "many", "deep", "large"],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(content)
    with pytest.raises(UnreadableShareError, match=r".") as raised:
        read_shared(file)
    assert str(raised.value) == sentence


def test_a_colour_nobody_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({FILE_KEY: 1, "highlights": [{"name": "x", "filter": "error", "color": "#ff0000"}]}))
    with pytest.raises(UnreadableShareError, match=r"Highlight rule 1 in a.json cannot be used: color: "):
        read_shared(file)


def test_only_what_is_new_is_taken() -> None:
    known = [Preset(name="a", filter="tool")]
    found = [
        Preset(name="a", filter="tool", key="F5"),
        Preset(name="b", filter="tool"),
        Preset(name="b", filter="tool"),
    ]
    assert new_items(known, found) == [Preset(name="b", filter="tool")]
    assert new_items([HighlightRule(name="a", filter="x")], [HighlightRule(name="a", filter="y")])


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["<b>x</b>", "\x00", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_ITEM = st.dictionaries(st.sampled_from(["name", "filter", "key", "color", "paint", "on"]), _ANY)


@given(
    st.dictionaries(st.sampled_from([FILE_KEY, "presets", "highlights", "x"]), _ANY | st.lists(_ITEM, max_size=3)),
    st.just(1) | _ANY,
)
def test_whatever_a_shared_file_holds_it_is_read_or_refused_in_a_sentence(
    tmp_path: Path, content: dict[str, object], version: object
) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({**content, FILE_KEY: version}))
    try:
        shared = read_shared(file)
    except UnreadableShareError as error:
        assert str(error).endswith(".")  # noqa: PT017  either is right
    else:
        assert all(item.name.strip() for item in (*shared.presets, *shared.highlights))
