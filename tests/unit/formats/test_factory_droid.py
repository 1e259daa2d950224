"""Sessions of Factory Droid: tokens in the file beside a session, in folders, and while both grow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from inspector.formats.file_conversion import GrowingConversion
from inspector.sources.conversion_table import converter_for
from tests.builders import document_at
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

SAMPLE = FORMATS_FOLDER / "factory_droid" / "samples" / "factory-droid.jsonl"
TOKENS = {"inputTokens": 103, "outputTokens": 796, "cacheCreationTokens": 49870, "cacheReadTokens": 116436}
USAGE = {"input": 103, "output": 796, "cache_read": 116436, "cache_write": 49870}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Returns a session with its settings."""
    shutil.copy(SAMPLE, tmp_path / "s1.jsonl")
    _write_settings(tmp_path / "s1.settings.json", TOKENS)
    return tmp_path / "s1.jsonl"


def _write_settings(path: Path, tokens: object) -> None:
    path.write_text(json.dumps({"model": "claude-x", "apiKey": "secret", "tokenUsage": tokens}))


def test_tokens_of_the_settings_count(session: Path) -> None:
    found = figures(session)
    assert found["usage"] == USAGE
    # Of other settings nothing is shown.
    assert all("secret" not in str(document_at(session).capture.records.payload(row)) for row in range(15))


def test_a_folder_counts_the_tokens_too(session: Path) -> None:
    assert figures(session.parent)["usage"] == USAGE


@pytest.mark.parametrize("tokens", [None, [], "many", {"inputTokens": "x"}])
def test_settings_of_any_type_leave_the_session_readable(session: Path, tokens: object) -> None:
    _write_settings(session.with_name("s1.settings.json"), tokens)
    assert (figures(session)["unreadable"], figures(session)["calls"]["tools"]) == (0, 3)


def test_new_tokens_replace_earlier_ones(session: Path) -> None:
    kind = converter_for(session.read_bytes())
    assert kind is not None
    conversion = kind.convert(session)
    lines = b"".join(conversion.lines())
    assert isinstance(conversion, GrowingConversion)
    _write_settings(session.with_name("s1.settings.json"), {**TOKENS, "outputTokens": 900})
    assert conversion.convert_more(b'{"type":"message",') == b""  # unfinished
    lines += conversion.convert_more(b'"id":"d9","timestamp":"2026-05-01T10:01:00Z","message":{"role":"user"}}\n')
    lines += conversion.convert_more(b"{") + conversion.finish()
    copy = session.with_name("copy.jsonl")
    copy.write_bytes(lines)
    assert figures(copy)["usage"] == {**USAGE, "output": 900}
