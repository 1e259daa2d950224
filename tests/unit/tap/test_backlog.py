"""The backlog is bounded, and says what it could not take."""

from __future__ import annotations

from inspector.tap.backlog import CLIENT, SERVER, Backlog


def test_what_is_put_is_taken_in_order() -> None:
    backlog = Backlog()
    backlog.append_data(CLIENT, b"one")
    backlog.append_data(SERVER, b"two")
    backlog.end(CLIENT, "")
    found = [backlog.pop_entry() for _ in range(4)]
    assert [(said.way, said.data, said.ended) for said in found[:3] if said] == [
        (CLIENT, b"one", None), (SERVER, b"two", None), (CLIENT, b"", ""),
    ]  # fmt: skip
    assert found[3] is None
    assert backlog.filled.is_set()


def test_what_does_not_fit_is_counted_by_way_and_told_before_what_follows() -> None:
    backlog = Backlog(most_bytes=10)
    backlog.append_data(CLIENT, b"x" * 20)
    backlog.append_data(CLIENT, b"a\nb\nc")
    backlog.append_data(SERVER, b"lost")
    backlog.pop_entry()
    backlog.append_data(CLIENT, b"kept")
    backlog.end(SERVER, "gone")
    found = [
        (said.way, said.data, said.lost_bytes, said.lost_lines, said.ended) for said in iter(backlog.pop_entry, None)
    ]
    assert found == [
        (CLIENT, b"", 5, 2, None), (CLIENT, b"kept", 0, 0, None),
        (SERVER, b"", 4, 0, None), (SERVER, b"", 0, 0, "gone"),
    ]  # fmt: skip
