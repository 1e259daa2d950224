"""Tests of `inspector.settings.store`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.settings import Settings, load_settings, save_settings, settings_path


def test_nothing_there_gives_the_defaults_without_a_word() -> None:
    loaded = load_settings()
    assert (loaded.settings, loaded.message) == (Settings(), None)


def test_round_trip() -> None:
    settings = Settings()
    settings.display.theme = "dark"
    settings.remember_file("/logs/a.jsonl")
    save_settings(settings)
    assert load_settings().settings == settings
    assert [file.name for file in settings_path().parent.iterdir()] == ["settings.json"]


def test_a_byte_order_mark_before_it_costs_nothing() -> None:
    settings_path().write_bytes(b'\xef\xbb\xbf{"filter_history": ["kept"]}')
    loaded = load_settings()
    assert (loaded.settings.filter_history, loaded.message) == (["kept"], None)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_file_is_the_users_alone() -> None:
    save_settings(Settings())
    assert settings_path().stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "it is not JSON"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"[]", "it is not a JSON object"),
        (b'{"version": 99}', "written by a newer Context Inspector"),
        (b'{"version": "x"}', "which is no version"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"version": ' + b"9" * 5_000 + b"}", "a number that is too long to read"),
    ],
    ids=["cut", "binary", "array", "newer", "odd version", "deep", "digits"],
)
def test_broken_file_is_set_aside_and_told(content: bytes, why: str) -> None:
    path = settings_path()
    path.write_bytes(content)
    loaded = load_settings()
    assert loaded.settings == Settings()
    assert loaded.message is not None
    assert why in loaded.message
    assert (path.with_name("settings.broken-1.json").read_bytes(), path.exists()) == (content, False)


def test_second_broken_file_does_not_replace_the_first() -> None:
    for content in ("one", "two"):
        settings_path().write_text(content, encoding="utf-8")
        load_settings()
    assert settings_path().with_name("settings.broken-1.json").read_text(encoding="utf-8") == "one"
    assert settings_path().with_name("settings.broken-2.json").read_text(encoding="utf-8") == "two"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
def test_a_pipe_in_its_place_is_not_waited_for() -> None:
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(settings_path())
    loaded = load_settings()
    assert loaded.settings == Settings()
    assert "it is no file" in (loaded.message or "")


def test_unknown_keys_are_no_fault() -> None:
    settings_path().write_text(json.dumps({"version": 1, "later": 1, "display": {"density": "comfortable"}}))
    loaded = load_settings()
    assert (loaded.message, loaded.settings.display.density) == (None, "comfortable")


def test_failed_write_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    save_settings(Settings())
    before = settings_path().read_bytes()

    def refuse(_path: Path, _target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        save_settings(Settings(recent_files=["/x"]))
    assert settings_path().read_bytes() == before
    assert [file.name for file in settings_path().parent.iterdir()] == ["settings.json"]


@given(content=st.binary(max_size=200))
def test_any_bytes_load(content: bytes) -> None:
    settings_path().write_bytes(content)
    assert isinstance(load_settings().settings, Settings)


def test_what_cannot_be_written_is_an_error_of_the_file() -> None:
    save_settings(Settings())
    settings = Settings()
    settings.recent_files.append("\ud800")
    with pytest.raises(OSError, match="not valid Unicode"):
        save_settings(settings)
    assert load_settings().settings == Settings()
