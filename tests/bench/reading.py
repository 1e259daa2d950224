"""Reading alone, by turns with DuckDB's `read_json` of the same header fields; prints one JSON object.

Both read the same warm file into columns in memory: we into the blocks of columns a capture takes in, with as many
processes as the program starts for a file of that size (starting them included), DuckDB, with two threads, into a
table. Run as `python -m tests.bench.reading LOG [TURNS]`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from inspector.reading.workers.parallel_reader import WORTHWHILE_BYTES, read_blocks
from inspector.store.files.source_files import SourceFile
from tests.bench import machine

HEADER = {
    "protocol": "VARCHAR", "id": "VARCHAR", "ts": "VARCHAR", "from": "VARCHAR", "to": "VARCHAR[]", "kind": "VARCHAR",
    "correlation_id": "VARCHAR[]", "context": "VARCHAR",
}  # fmt: skip
THREADS = 2


def read_ours(path: Path) -> int:
    """Read a log into blocks of columns, in order, a large one by processes; returns the records."""
    source = SourceFile(path)
    readers = None if source.size >= WORTHWHILE_BYTES else 0
    blocks = read_blocks(source, 0, source.size, readers=readers)
    records = sum(len(block) for block in blocks if block is not None)
    source.close()
    return records


def read_duckdb(path: Path) -> int:
    """Read the same fields into a table of DuckDB's; returns the records."""
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in HEADER.items())
    with duckdb.connect(config={"threads": THREADS}) as database:
        database.execute(
            f"CREATE TABLE log AS SELECT * FROM read_json(?, format='newline_delimited', columns={{{columns}}})",
            [str(path)],
        )
        counted = database.execute("SELECT count(id) FROM log").fetchone()
    return counted[0] if counted is not None else 0


def timed(read: Callable[[Path], int], path: Path) -> tuple[float, int]:
    """Seconds that a reading takes, and what it returns."""
    started = time.perf_counter()
    records = read(path)
    return time.perf_counter() - started, records


def measure(path: Path, turns: int) -> dict[str, float]:
    """Read by turns; seconds are the best of each, the ratio the median of the turns' own."""
    path.read_bytes()  # warm
    ours: list[float] = []
    theirs: list[float] = []
    records = counted = 0
    for _ in range(turns):
        seconds, records = timed(read_ours, path)
        ours.append(seconds)
        seconds, counted = timed(read_duckdb, path)
        theirs.append(seconds)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    found = {"records": records, "duckdb_records": counted, "ours_s": min(ours), "duckdb_s": min(theirs)}
    return {**found, "ratio": ratio, "turns": turns}


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)))
