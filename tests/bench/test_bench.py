"""The benchmarks as pytest collects them: little of everything, and only what is no matter of speed is asserted.

`make bench` prints the table; here `pytest tests/bench -m bench -s` tells which part loses something.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bench import sizes
from tests.bench.bench import Bench
from tests.bench.sections import SECTIONS, Section
from tests.bench.table import lines

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """One run at small sizes."""
    with Bench(sizes.QUICK) as made:
        yield made


@pytest.mark.parametrize("section", SECTIONS, ids=[section.name for section in SECTIONS])
def test_nothing_is_lost(section: Section, bench: Bench) -> None:
    rows = section.measured(bench)
    print("\n" + "\n".join(lines([(section.title, rows)])))
    assert not [row for row in rows if row.must and row.verdict == "not reached"]
