"""Streams that were asked for."""

from __future__ import annotations

from tests.builders import envelope
from tests.unit.analysis.findings.checked_logs import told_either_way

ASKED = envelope("stream/request", {"direction": "upload"}, id="s1-7f3a9c", ts="2026-01-05T09:00:00Z")
OPENED = envelope("stream/open", {"stream_id": "stream-1"}, sender="gateway", correlation_id=["s1-7f3a9c"],
                  ts="2026-01-05T09:00:00Z")  # fmt: skip
LATER = envelope(ts="2026-01-05T09:01:00Z")


def test_a_request_that_stands_in_the_log_twice_is_served_once() -> None:
    """As in the logs of two recipients, put one behind the other."""
    assert told_either_way(ASKED, ASKED, OPENED, LATER) == []
    assert told_either_way(ASKED, OPENED, ASKED, LATER) == []
    without_id = {**ASKED, "id": None}
    assert ("stream-not-opened", 2) in told_either_way(ASKED, without_id, OPENED, LATER)
