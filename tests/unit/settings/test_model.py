"""Tests of `inspector.settings.model`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from inspector.settings import (
    RECENT_CAP,
    ConnectionSettings,
    HighlightRule,
    NamedConnection,
    Preset,
    Settings,
    default_presets,
)
from inspector.settings.model import FILTER_CAP


def test_defaults() -> None:
    display = Settings().display
    assert (display.theme, display.density, display.show_context_hints, display.animate) == (
        "system",
        "compact",
        False,
        True,
    )


def test_default_presets_begin_with_everything_and_end_with_problems() -> None:
    presets = default_presets()
    assert (presets[0].name, presets[0].filter) == ("Everything", "")
    assert (presets[-1].name, presets[-1].filter) == ("Problems", "finding.severity >= warning")
    assert len({preset.name for preset in presets}) == len({preset.filter for preset in presets}) == len(presets)


def test_recent_files_are_capped_latest_first_each_once() -> None:
    settings = Settings()
    for number in range(RECENT_CAP + 3):
        settings.remember_file(f"/logs/{number}.jsonl")
    settings.remember_file("/logs/7.jsonl")
    assert len(settings.recent_files) == RECENT_CAP
    assert settings.recent_files[:3] == ["/logs/7.jsonl", "/logs/12.jsonl", "/logs/11.jsonl"]


def test_recent_connections_keep_one_per_address_and_space() -> None:
    settings = Settings()
    for space in ("demo", "lab", "demo"):
        settings.remember_connection(ConnectionSettings(url="ws://127.0.0.1:8080", space=space))
    assert [known.space for known in settings.recent_connections] == ["demo", "lab"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ws://127.0.0.1:8080/?token=abc", "ws://127.0.0.1:8080"),
        ("wss://me:abc@example.org/ws#abc", "wss://example.org/ws"),
        ("ws://example.org", "ws://example.org"),
        ("ws://example.org:80/@me?x=a@b", "ws://example.org:80/@me"),
        ("ws://[::1]:80/ws", "ws://[::1]:80/ws"),
        ("user:tok3n@host:1234", "host:1234"),
        ("ws://user:pa?ss@host", "ws://host"),
        ("ws://user:pa/ss@host", "ws://host"),
        ("ws://user:pa#ss@host/ws", "ws://host/ws"),
    ],
)
def test_address_is_kept_without_secrets(given: str, kept: str) -> None:
    assert ConnectionSettings(url=given).url == kept


def test_connections_are_kept_by_id_in_their_order() -> None:
    settings = Settings()
    for name in ("one", "two", "three"):
        settings.keep_connection(NamedConnection(name=name, url="ws://a", space=name))
    two = settings.connections[1]
    settings.keep_connection(two.model_copy(update={"name": "second"}))
    assert [kept.name for kept in settings.connections] == ["one", "second", "three"]
    settings.remove_connection(settings.connections[0].id)
    settings.remove_connection("unknown")
    assert [kept.name for kept in settings.connections] == ["second", "three"]


def test_recent_connections_without_a_name() -> None:
    settings = Settings()
    for space in ("demo", "lab"):
        settings.remember_connection(ConnectionSettings(url="ws://a/", space=space))
    settings.keep_connection(NamedConnection(name="my lab", url="ws://a", space="lab"))
    assert [recent.space for recent in settings.unnamed_connections()] == ["demo"]
    kept = settings.named_connection(settings.recent_connections[0])
    assert kept is not None
    assert kept.name == "my lab"


def test_a_token_is_no_part_of_a_connection() -> None:
    given = {"name": "lab", "url": "ws://a", "token": "hush"}
    with pytest.raises(ValidationError):
        NamedConnection.model_validate(given)
    assert set(NamedConnection.model_fields) == {
        "id", "name", "url", "space", "participant", "answer_tools_list", "token",
    }  # fmt: skip


def test_assignment_is_checked() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.display.zoom_percent = 1000


def test_file_name_that_is_no_unicode_is_not_remembered() -> None:
    settings = Settings()
    settings.remember_file("/logs/\udcff.jsonl")
    assert settings.recent_files == []


def test_earlier_filters_are_kept_latest_first_and_once() -> None:
    settings = Settings()
    assert [settings.remember_filter(text) for text in ("badge", " context ", "badge", "badge", "", "x" * 2_000)] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert settings.filter_history == ["badge", "context"]
    for number in range(FILTER_CAP + 5):
        settings.remember_filter(f"no == {number}")
    assert len(settings.filter_history) == FILTER_CAP
    assert settings.filter_history[0] == f"no == {FILTER_CAP + 4}"


def test_half_a_surrogate_pair_is_replaced() -> None:
    settings = Settings(keys={"\ud800": ["a\udc00"]}, presets=[Preset(name="\ud800", filter="")])
    settings.filter_history = ["\ud800"]
    assert settings.keys == {"\ufffd": ["a\ufffd"]}
    assert (settings.presets[0].name, settings.filter_history) == ("\ufffd", ["\ufffd"])
    settings.model_dump_json()


def test_no_name_acts_on_the_words_around_it() -> None:
    acting = "a\u202egpj.\x1b[31m\nb\u2067"
    said = "a\ufffdgpj.\ufffd[31m b\ufffd"
    assert Preset(name=acting, filter="").name == said
    assert HighlightRule(name=acting, filter="").name == said
    assert NamedConnection(name="\u202e", url="ws://h").name == "\ufffd"
    settings = Settings()
    settings.keep_connection(NamedConnection(name="x", url="ws://h").model_copy(update={"name": acting}))
    assert settings.connections[0].name == said
    preset = Preset(name="x", filter="")
    preset.name = acting
    assert preset.name == said
    for name in ("Café", "\U0001f469\u200d\U0001f4bb", "م\u200cن"):
        assert Preset(name=name, filter="").name == name
