"""Tests of `inspector.settings.model`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from inspector.settings import RECENT_CAP, ConnectionSettings, Settings, default_presets


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
    assert len({preset.name for preset in presets}) == 12


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
        ("ws://127.0.0.1:8080/?token=abc", "ws://127.0.0.1:8080/"),
        ("wss://me:abc@example.org/ws#abc", "wss://example.org/ws"),
        ("ws://example.org", "ws://example.org"),
    ],
)
def test_address_is_kept_without_secrets(given: str, kept: str) -> None:
    assert ConnectionSettings(url=given).url == kept


def test_assignment_is_checked() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.display.zoom_percent = 1000


def test_file_name_that_is_no_unicode_is_not_remembered() -> None:
    settings = Settings()
    settings.remember_file("/logs/\udcff.jsonl")
    assert settings.recent_files == []
