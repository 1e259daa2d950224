"""Work goes by what comes, not by what is there: a flush late in a capture is as much work as an early one."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import islice
from statistics import median

import pytest

from tests.bench import mixes
from tests.builders import GrowingLog
from tests.operations import Operations, counted
from tests.samples import first_of

BATCH = 30
WINDOW = 10
"""So many batches are counted, early and late; what lies between is not, as counting is dear."""
EARLY, LATE = 300, 6_000
BETWEEN = 100
"""So many come at once: of more than 2 MB another process would read the rest, and when is a matter of luck."""
MORE_CALLS = 1.25
MORE_VALUES, MORE_VALUES_AT_TIMES = 1.5, 2.0
"""Columns that double are copied now and then: the sum of a window has that in it, its median flush has not."""


@pytest.mark.parametrize(
    "name",
    first_of(("story", *mixes.NAMED, "random:2", "random:7")),
)
def test_a_flush_is_as_much_work_early_as_late(name: str) -> None:
    log = GrowingLog()
    lines = mixes.lines(name, LATE + WINDOW * BATCH)

    def write(count: int) -> Operations:
        done, data = Operations(), b"".join(islice(lines, count))
        with counted(done) if count == BATCH else nullcontext():
            log.write_bytes(data)
            while log.document.sources.unread_bytes or log.document.has_backlog:
                log.document.poll()
        return done

    write(EARLY)
    early = [write(BATCH) for _ in range(WINDOW)]
    for _ in range(EARLY + WINDOW * BATCH, LATE, BETWEEN):
        write(BETWEEN)
    late = [write(BATCH) for _ in range(WINDOW)]

    count = LATE + WINDOW * BATCH
    assert len(log.document.capture) == count or name in ("disorder", "odd") or name.startswith("random")
    assert not log.document.analysis.findings.failed
    calls = sum(one.calls for one in late) / sum(one.calls for one in early)
    assert calls <= MORE_CALLS, f"{calls:.2f} times the calls"
    values = median(one.values for one in late) / median(one.values for one in early)
    assert values <= MORE_VALUES, f"{values:.2f} times the values in most flushes"
    values = sum(one.values for one in late) / sum(one.values for one in early)
    assert values <= MORE_VALUES_AT_TIMES, f"{values:.2f} times the values"
