"""Work goes by what comes, not by what is there: ten times the messages take ten times as much, whatever they are."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.bench import mixes
from tests.builders import GrowingLog
from tests.operations import Operations, counted

FEW = 300
BATCH = 30
MOST = 11.5


def of_live(name: str, count: int) -> Operations:
    """What is done for so many messages of a mix that come in batches."""
    done, log = Operations(), GrowingLog()
    lines = mixes.lines(name, count)
    while batch := b"".join(islice(lines, BATCH)):
        with counted(done):
            log.write_bytes(batch)
            while log.document.behind or log.document.catching_up:
                log.document.poll()
    assert len(log.document.capture) == count or name in ("disorder", "odd") or name.startswith("random")
    assert not log.document.analysis.findings.failed
    return done


@pytest.mark.parametrize("name", ["story", *mixes.NAMED, "random:2", "random:7"])
def test_ten_times_the_messages_take_ten_times_the_operations(name: str) -> None:
    few, many = of_live(name, FEW), of_live(name, 10 * FEW)
    assert many.calls <= MOST * few.calls, f"{many.calls / few.calls:.1f} times the calls"
    assert many.values <= MOST * few.values, f"{many.values / few.values:.1f} times the values"
