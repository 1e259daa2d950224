"""Reading alone, by turns with DuckDB's `read_json` of the same 16 fields; prints one JSON object.

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

FIELDS = {
    "protocol": "VARCHAR", "id": "VARCHAR", "ts": "VARCHAR", "from": "VARCHAR", "to": "VARCHAR[]", "kind": "VARCHAR",
    "correlation_id": "VARCHAR[]", "context": "VARCHAR", "_meta": "JSON",
    "payload": 'STRUCT(id JSON, "method" VARCHAR, params JSON, result JSON, error JSON, stream_id VARCHAR, '
    "context JSON)",
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
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in FIELDS.items())
    with duckdb.connect(config={"threads": THREADS}) as database:
        database.execute(
            f"CREATE TABLE log AS SELECT * FROM read_json(?, format='newline_delimited', columns={{{columns}}})",
            [str(path)],
        )
        counted = database.execute("SELECT count(id) FROM log").fetchone()
    return counted[0] if counted is not None else 0


def timed(read: Callable[[Path], int], path: Path) -> tuple[float, float, int]:
    """Elapsed and processor seconds of a reading, and its records."""
    started, used = time.perf_counter(), machine.cpu_s()
    records = read(path)
    return time.perf_counter() - started, machine.cpu_s() - used, records


def measure(path: Path, turns: int) -> dict[str, float]:
    """Read by turns; seconds are the best of each, ratios the medians of the turns' own."""
    path.read_bytes()  # warm
    ours: list[tuple[float, float, int]] = []
    theirs: list[tuple[float, float, int]] = []
    for _ in range(turns):
        ours.append(timed(read_ours, path))
        theirs.append(timed(read_duckdb, path))
    elapsed, cpu = (statistics.median(a[n] / b[n] for a, b in zip(ours, theirs, strict=True)) for n in (0, 1))
    return {
        "records": ours[-1][2], "duckdb_records": theirs[-1][2], "ours_s": min(ours)[0], "duckdb_s": min(theirs)[0],
        "ratio": elapsed, "cpu_ratio": cpu, "turns": turns,
    }  # fmt: skip


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)))
