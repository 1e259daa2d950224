"""What a gateway says by itself is as many messages as it said: ids of the millisecond are shared by many."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.store.columns.flags import Flag
from inspector.store.messages.gateway_copies import GatewayCopies
from tests.builders import delivered, document_of, envelope, received


def left(name: str, *, ms: int = 1) -> dict[str, Any]:
    """A departure as the released gateway writes it: the id is made of the millisecond."""
    return envelope(
        "system/presence", {"event": "leave", "participant": {"id": name}}, sender="system:gateway",
        id=f"presence-{ms}", ts=f"2026-11-22T21:07:22.{ms:03}Z",
    )  # fmt: skip


def test_departures_in_one_millisecond_are_messages_of_their_own() -> None:
    to = ("wire-log", "coordinator", "worker")
    document = document_of(*(delivered(left(name), one) for name in ("legacy", "files", "intern") for one in to))
    assert len(document.capture) == 3
    assert document.capture.unreadable_count == 0
    assert [len(list(document.capture.deliveries.deliveries_of(message))) for message in range(3)] == [3, 3, 3]
    assert not any(document.capture.flags_of(message) & Flag.COPIES_DIFFER for message in range(3))


def test_a_second_delivery_to_the_same_recipient_is_another_message() -> None:
    again = [delivered(left("files"), one) for one in ("mew", "human", "mew", "human", "mew")]
    assert len(document_of(*again).capture) == 3


def test_what_somebody_sends_in_the_gateways_name_stays_one_message() -> None:
    forged = left("files")
    lines = [received(forged, "mallory"), *(delivered(forged, one) for one in ("mew", "human"))]
    assert len(document_of(*lines).capture) == 1


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 3)), max_size=40),
    st.lists(st.integers(1, 7), max_size=40),
)
def test_blocks_of_any_size_fold_alike(copies: list[tuple[int, int, int]], sizes: list[int]) -> None:
    folds, contents, recipients = (np.array([one[n] for one in copies], np.uint64) for n in range(3))
    whole = GatewayCopies().fold_hashes(folds, contents, recipients) if copies else folds
    in_parts, pieces, at = GatewayCopies(), [], 0
    for size in [*sizes, len(copies)]:
        if at < len(copies):
            part = slice(at, at + size)
            pieces.append(in_parts.fold_hashes(folds[part], contents[part], recipients[part]))
            at += size
    assert (np.concatenate(pieces) if pieces else folds).tolist() == whole.tolist()
