"""How far behind a live view is because of its link."""

from __future__ import annotations

from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope, received
from tests.findings import at, late

_SECOND_NS = 1_000_000_000


def live(document: CaptureDocument, seconds_since: float = 1) -> CaptureDocument:
    """The same, watched so long after its last message."""
    document.analysis.now_ns = int(document.capture.columns["time_ns"][-1] + seconds_since * _SECOND_NS)
    return document


def test_a_link_that_cannot_keep_up_is_behind_by_what_comes_now() -> None:
    document = live(document_of(*late(5)))
    assert document.lag_ns() == 35 * _SECOND_NS
    assert live(document, 60).lag_ns() is None  # nobody knows by now


def test_a_log_a_prompt_link_and_a_wrong_clock_are_not_behind() -> None:
    assert document_of(*late(5)).lag_ns() is None
    assert live(document_of(*late(4))).lag_ns() is None
    steady = [received(envelope(ts=at(n)), timestamp=at(90 + n)) for n in range(12)]
    assert live(document_of(*steady)).lag_ns() is None
    caught_up = [*late(5), received(envelope(ts=at(60)), timestamp=at(60))]
    assert live(document_of(*caught_up)).lag_ns() is None
