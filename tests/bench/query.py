"""SQL over a large log, Parquet of it, and spans received over HTTP.

Run as `python -m tests.bench.query LOG`; prints one JSON object. Spans are counted by the processor time they take, so
that others on the machine do not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector.document.document import CaptureDocument
from inspector.export.parquet import parquet_steps
from inspector.formats.otlp.receiver import Receiver, address_of
from inspector.formats.otlp.spans import spans_in
from inspector.tables import TABLE_BY_NAME, Database, write_parquet

QUERIES = (
    "SELECT kind, count(*) FROM messages GROUP BY kind",
    "SELECT tool, count(*), quantile_cont(latency, 0.95) FROM messages WHERE kind LIKE 'mcp/%' GROUP BY tool",
    "SELECT no, text FROM messages WHERE context IS NOT NULL",
    "SELECT context, count(*) FROM messages GROUP BY context ORDER BY 2 DESC",
    "SELECT no, tool, latency FROM tool_calls ORDER BY latency DESC",
)
SPANS, BATCHES = 512, 20
_DECODED = 50_000
"""Messages that are written with all fields: a million take a minute."""


def first_row_s(document: CaptureDocument, sql: str) -> float:
    """Seconds to the first row, from the question."""
    started = time.perf_counter()
    database = Database()
    database.load(document, database.plan_inputs(sql))
    database.run_query(sql).fetch_rows(1)
    took = time.perf_counter() - started
    database.close()
    return took


def parquet_s(document: CaptureDocument, folder: Path) -> float:
    """Seconds to write every field that is a column."""
    table = TABLE_BY_NAME["messages"]
    names = [column.name for column in table.columns if not column.is_decoded]
    return _took(lambda: write_parquet(document, table, folder / "m.parquet", names))


def decoded_us(document: CaptureDocument, folder: Path) -> float:
    """Microseconds of processor time a message to write all fields, those that records are decoded for among them."""
    messages = range(min(_DECODED, len(document.capture)))
    started = time.process_time()
    deque(parquet_steps(document, messages, folder / "all.parquet"), maxlen=0)
    return (time.process_time() - started) / len(messages) * 1e6


def received(folder: Path) -> dict[str, float]:
    """Spans a second of processor time that are received, and how many were lost."""
    spans = list(map(_span, range(SPANS)))
    request = json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]})
    receiver = Receiver(folder / "spans.jsonl", address_of("127.0.0.1:4318"))
    started = time.process_time()
    for _ in range(BATCHES):
        receiver.store_request("/v1/traces", "application/json", request.encode())
    took = time.process_time() - started
    receiver.close()
    with (folder / "spans.jsonl").open("rb") as file:
        written = sum(len(spans_in(json.loads(line))) for line in file)
    return {"spans_per_s": SPANS * BATCHES / took, "spans_lost": SPANS * BATCHES - written}


def _span(number: int) -> dict[str, Any]:
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": "x" * 200}
    return {
        "traceId": f"{number:032x}", "spanId": f"{number + 1:016x}", "name": "chat m",
        "startTimeUnixNano": "1795383035138813555", "endTimeUnixNano": "1795383035138913555",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }  # fmt: skip


def _took(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(path: Path) -> dict[str, float]:
    """Open the log, ask, write, receive."""
    document = CaptureDocument()
    document.load(path)
    first = {sql: min(first_row_s(document, sql) for _ in range(2)) for sql in QUERIES}
    with tempfile.TemporaryDirectory() as folder:
        found = {
            "messages": len(document.capture), "first_row_s": max(first.values()),
            "parquet_s": min(parquet_s(document, Path(folder)) for _ in range(2)),
            "parquet_all_us": decoded_us(document, Path(folder)), **received(Path(folder)),
        }  # fmt: skip
    document.close()
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
