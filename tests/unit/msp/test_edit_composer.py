"""New times are written as those around them are."""

from __future__ import annotations

import pytest

from inspector.msp.edit_composer import new_id, written_time
from inspector.protocol.timestamps import parse_time

NOW = parse_time("2026-02-03T04:05:06.007089123Z")


@pytest.mark.parametrize(
    ("examples", "written"),
    [
        ([], "2026-02-03T04:05:06.007Z"),
        ([None, 17, "soon"], "2026-02-03T04:05:06.007Z"),
        (["2026-01-05T09:00:00Z"], "2026-02-03T04:05:06Z"),
        ([None, "2026-01-05T09:00:00.5+00:00", "2026-01-05T09:00:00Z"], "2026-02-03T04:05:06.0+00:00"),
        (["2026-01-05T09:00:00.123456+02:00"], "2026-02-03T04:05:06.007089Z"),
    ],
)
def test_the_nearest_time_is_the_example(examples: list[object], written: str):
    assert written_time(NOW, examples) == written


def test_ids_are_not_those_that_are_taken(monkeypatch: pytest.MonkeyPatch):
    names = iter(["a", "a", "b"])
    monkeypatch.setattr("inspector.msp.edit_composer.secrets.token_hex", lambda _: next(names))
    assert new_id("sub", {"sub-a"}) == "sub-b"
