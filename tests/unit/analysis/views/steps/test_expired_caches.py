"""Prompt caches that expired in a pause: reported usage alone tells, and other causes raise no alarm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.analysis.views.steps.expired_caches import ExpiredCache, expired_caches
from inspector.analysis.views.steps.step_table import step_table
from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.requests.account import WhatHappened
from inspector.engine.requests.overview import ShowOverview
from inspector.present.cache_words import expiry_sentence, expiry_words
from inspector.startup.program import app
from tests.builders import document_at, log_file

OPUS, HAIKU = "claude-opus-4-5", "claude-haiku-4-5"


def _line(number: int, kind: str, at_s: int, **more: Any) -> dict[str, Any]:
    clock = f"2026-03-04T{9 + at_s // 3600:02d}:{at_s // 60 % 60:02d}:{at_s % 60:02d}.000Z"
    return {
        "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s",
        "cwd": "/home/ada/shop", "version": "2.1.31", "timestamp": clock, **more,
    }  # fmt: skip


def _session(
    calls: Sequence[tuple[int, int, int]], *, models: tuple[str, str] = (OPUS, OPUS), hour: bool = False,
    compacts: bool = False,
) -> bytes:  # fmt: skip
    """Returns a session of calls: time in seconds, cache reads and writes."""
    lines: list[dict[str, Any]] = []
    for place, (at_s, read, written) in enumerate(calls):
        if place and compacts:
            about = {"subtype": "compact_boundary", "content": "Conversation compacted",
                     "compactMetadata": {"trigger": "auto", "preTokens": 160_000}}  # fmt: skip
            lines.append(_line(len(lines), "system", at_s - 1, **about))
        lines.append(_line(len(lines), "user", at_s, message={"role": "user", "content": f"Step {place}"}))
        usage: dict[str, Any] = {
            "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }  # fmt: skip
        name = "ephemeral_1h_input_tokens" if hour else "ephemeral_5m_input_tokens"
        usage["cache_creation"] = {name: written}
        answer = {"id": f"msg_{place}", "role": "assistant", "model": models[min(place, 1)], "usage": usage,
                  "content": [{"type": "text", "text": "Done"}]}  # fmt: skip
        lines.append(_line(len(lines), "assistant", at_s + 2, message=answer, requestId=f"req_{place}"))
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _found(*calls: tuple[int, int, int], **more: Any) -> list[ExpiredCache]:
    """Returns the expired caches of a session of calls."""
    analysis = document_at(log_file(_session(calls, **more))).analysis
    return expired_caches(analysis, step_table(analysis))


def test_a_pause_beyond_five_minutes_that_wrote_the_cache_again() -> None:
    (found,) = _found((0, 0, 150_000), (60, 150_000, 3_000), (482, 0, 155_000))
    assert (found.pause_ns, found.written) == (420 * 10**9, 153_000)
    assert expiry_words(found) == "cache expired after a pause of 7 min: 153,000 tokens written again"
    several = _found((0, 0, 150_000), (482, 0, 155_000), (1_000, 0, 158_000))
    assert expiry_sentence(several) == "Cache expired after 2 pauses: 305,000 tokens written again"


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        (((0, 0, 150_000), (200, 0, 155_000)), {}),
        (((0, 0, 150_000), (482, 150_000, 5_000)), {}),
        (((0, 0, 150_000), (482, 0, 155_000)), {"hour": True}),
        (((0, 0, 150_000), (482, 0, 155_000)), {"models": (OPUS, HAIKU)}),
        (((0, 0, 150_000), (482, 0, 155_000)), {"compacts": True}),
        (((0, 0, 150_000), (482, 0, 80_000)), {}),
        (((0, 150_000, 0), (482, 0, 155_000)), {}),
        (((0, 0, 0), (482, 0, 155_000)), {}),
        (((0, 0, 150_000), (482, 0, 0)), {}),
    ],
    ids=["short pause", "still read", "an hour", "other model", "compacted", "shrunk", "lifetime untold", "no cache",
         "no write"],
)  # fmt: skip
def test_other_causes_raise_no_alarm(calls: tuple[tuple[int, int, int], ...], more: dict[str, Any]) -> None:
    assert not _found(*calls, **more)


def test_a_cache_of_an_hour_expires_after_an_hour() -> None:
    (found,) = _found((0, 0, 150_000), (3_902, 20_000, 135_000), hour=True)
    assert expiry_words(found) == "cache expired after a pause of 1:05:00: 130,000 tokens written again"


def test_summary_and_steps_tell_it(tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    log.write_bytes(_session(((0, 0, 150_000), (60, 150_000, 3_000), (482, 0, 155_000))))
    told = "ache expired after a pause of 7 min: 153,000 tokens written again"
    for command in ("summary", "steps"):
        assert told in CliRunner().invoke(app, [command, str(log)]).output
    engine = Engine()
    _, steps = engine.open([Target(log)])
    engine.read(steps)
    account = engine.answer_request(1, WhatHappened()).account
    assert [(line.about, line.message) for line in account.lines if told in line.text] == [("Cache", 5)]
    assert any(told in text for text in engine.answer_request(1, ShowOverview()).texts)
    engine.close()
