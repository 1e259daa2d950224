"""What was told wrongly of traffic that real agents had through the released gateway, told rightly."""

from __future__ import annotations

from pathlib import Path

from inspector.document.document import CaptureDocument
from tests.builders import document_at

LIVE = Path(__file__).parents[1] / "data" / "recordings" / "live"


def opened(name: str) -> CaptureDocument:
    return document_at(LIVE / name)


def codes(document: CaptureDocument) -> dict[str, int]:
    """How many findings of each code."""
    return document.analysis.findings.found.counts()


def test_our_own_answers_that_come_back_are_no_deliveries_to_us() -> None:
    assert codes(opened("repro-echo-as-delivery.ctxcap")) == {}


def test_departures_in_one_millisecond() -> None:
    document = opened("repro-presence-same-ms.jsonl")
    assert len(document.capture) == 3
    assert not any(one.here for one in document.analysis.participants.all.values())
    assert codes(document) == {}
