"""Formats added while the program runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.document.session_titles import title_of_session
from inspector.formats import _skeleton, registry
from inspector.formats.format import Format, Stage
from inspector.formats.kind_families import family_of
from inspector.formats.registry import Recipe
from inspector.protocol.kinds import Family
from tests.builders import document_at

ROOT = Path(__file__).parents[3]


def make_format(name: str, title: str) -> Format:
    return Format(name=name, title=title, reads=title, stage=Stage.TRANSCRIPT, read=lambda line, unknown=False: None)


def _recipe(name: str, title: str) -> Recipe:
    return Recipe(f"{__name__}:make_format", (name, title))


def test_an_added_format_is_found_by_name_and_selectable() -> None:
    registry.register(make_format("toy", "Toy log"), _recipe("toy", "Toy log"))
    found = registry.format_named("toy")
    assert found is not None
    assert found.title == "Toy log"
    assert registry.selectable_formats()["toy"] == "Toy log"
    assert registry.format_titles()["toy"] == "Toy log"
    assert registry.registered() == (found,)
    registry.unregister("toy")
    assert registry.format_named("toy") is None


def test_a_later_format_of_the_same_name_replaces_the_earlier() -> None:
    registry.register(make_format("toy", "Toy log"), _recipe("toy", "Toy log"))
    registry.register(make_format("toy", "Toy log 2"), _recipe("toy", "Toy log 2"))
    assert [one.title for one in registry.registered()] == ["Toy log 2"]


def test_the_name_of_a_built_in_format_is_taken() -> None:
    with pytest.raises(ValueError, match="codex is the name of a built-in format"):
        registry.register(make_format("codex", "Mine"), _recipe("codex", "Mine"))


@pytest.mark.logs_warnings
def test_another_process_makes_the_same_formats_by_their_recipes() -> None:
    registry.register(make_format("toy", "Toy log"), _recipe("toy", "Toy log"))
    sent = registry.recipes()
    registry.unregister("toy")
    registry.restore(sent)
    assert [one.name for one in registry.registered()] == ["toy"]
    registry.restore((*sent, Recipe("inspector.no_such:thing", ())))
    assert [one.name for one in registry.registered()] == ["toy"]
    registry.restore(())
    assert registry.registered() == ()


def test_an_added_agent_counts_as_a_coding_agent_with_a_title(tmp_path: Path) -> None:
    log = tmp_path / "toy.jsonl"
    log.write_bytes(next((ROOT / "inspector/formats/_skeleton/samples").glob("*.jsonl")).read_bytes())
    registry.register(_skeleton.FORMAT, Recipe("inspector.formats:_skeleton", ()))
    try:
        assert _skeleton.FORMAT.name in registry.groups().agents
        assert family_of(f"{_skeleton.FORMAT.namespace}anything") is Family.CONTROL
        document = document_at(log)
        assert title_of_session(document.capture)
    finally:
        registry.unregister(_skeleton.FORMAT.name)
    assert _skeleton.FORMAT.name not in registry.groups().agents
