"""What tests make traffic from: one builder per concept, with defaults for all a test does not care about."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.account.account import AccountTally
from inspector.base.slices import run_to_end
from inspector.base.workers.pool import WorkerPool
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.reading.workers.part_reader import decode_block
from inspector.store.columns.block import Block
from inspector.store.files.tool_baseline import ServerTools

_numbers = count(1)
_BEGUN = datetime(2026, 1, 5, 9)


def envelope(kind: Any = "chat", payload: Any = None, **fields: Any) -> dict[str, Any]:
    """An envelope of MEW v0.4 from `lead`; name fields to change them, `sender` for `from`; None leaves a field out."""
    number = next(_numbers)
    made: dict[str, Any] = {
        "protocol": "mew/v0.4",
        "id": f"m{number}",
        "ts": (_BEGUN + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "from": "lead",
        "kind": kind,
        "payload": {"text": f"message {number}"} if payload is None else payload,
    }
    if "sender" in fields:
        made["from"] = fields.pop("sender")
    made.update(fields)
    return {key: value for key, value in made.items() if value is not None}


def tool_call(name: str, *, to: str = "files", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """A tools/call request."""
    params = {"name": name, "arguments": arguments or {}}
    return envelope("mcp/request", {"method": "tools/call", "params": params}, to=[to], **fields)


def tool_result(request: dict[str, Any], text: str = "done", *, meta: Any = None, **fields: Any) -> dict[str, Any]:
    """The response to a request, with `_meta` when given."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], **fields.pop("result", {})}
    if meta is not None:
        result["_meta"] = meta
    return envelope(
        "mcp/response",
        {"result": result},
        **{"sender": request["to"][0], "to": [request["from"]], "correlation_id": [request["id"]], **fields},
    )


def received(inner: dict[str, Any], participant: str | None = None, **fields: Any) -> dict[str, Any]:
    """A gateway log's line for an accepted envelope."""
    return _log_line("received", inner, participant or inner.get("from"), "inbound", fields)


def delivered(inner: dict[str, Any], participant: str, **fields: Any) -> dict[str, Any]:
    """A gateway log's line for one copy sent out."""
    return _log_line("delivered", inner, participant, "outbound", fields)


def _log_line(
    event: str, inner: dict[str, Any], participant: str | None, direction: str, fields: dict[str, Any]
) -> dict[str, Any]:
    line = {
        "timestamp": inner.get("ts", "2026-01-05T09:00:00.000Z"), "event": event, "id": inner.get("id"),
        "envelope": inner, "participant": participant, "space_id": "demo", "direction": direction,
        "transport": "websocket", **fields,
    }  # fmt: skip
    return {key: value for key, value in line.items() if value is not None}


def lines_of(*lines: dict[str, Any] | str | bytes) -> bytes:
    """The bytes of a log with these lines."""
    encoded = (
        line if isinstance(line, bytes) else line.encode() if isinstance(line, str) else json.dumps(line).encode()
        for line in lines
    )
    return b"".join(line + b"\n" for line in encoded)


def document_of(
    *lines: dict[str, Any] | str | bytes, name: str = "test.jsonl", baseline: dict[str, ServerTools] | None = None
) -> CaptureDocument:
    """A document that has read a log with these lines. It is closed, and its file goes, when the test ends."""
    return document_at(log_file(lines_of(*lines), name), baseline=baseline)


def document_at(path: Path, *, baseline: dict[str, ServerTools] | None = None) -> CaptureDocument:
    """A document that has read a log, held against what servers listed before. It is closed when the test ends."""
    document = closed_at_end(CaptureDocument())
    document.analysis.findings.baseline = baseline
    document.load(path)
    run_to_end(document.postponed_checks())
    return document


def opened_document(path: Path, **how: Any) -> CaptureDocument:
    """A document that has read a log step by step, with options of `open_log`. It is closed when the test ends."""
    document = closed_at_end(CaptureDocument())
    run_to_end(document.open_log(path, **how))
    return document


def closed_at_end(document: CaptureDocument) -> CaptureDocument:
    """The document, which is closed when the test ends."""
    _documents.append(document)
    return document


def lasting(document: CaptureDocument) -> CaptureDocument:
    """The document, open until all tests have ended: for what several of them ask of and none changes.

    Whoever opens it does so once, with `cache`. That none has changed it is looked at in the end.
    """
    _documents.remove(document)
    assert document.path is not None
    _folders.remove(document.path.parent)
    _lasting.append((document, _state(document)))
    return document


def close_lasting() -> None:
    """Close what lasted, and remove its files; fails where a test has changed it."""
    while _lasting:
        document, state = _lasting.pop()
        now = _state(document)
        document.close()
        assert document.path is not None
        shutil.rmtree(document.path.parent, ignore_errors=True)
        assert now == state, f"a test has changed {document.capture}, which others ask of"


def _state(document: CaptureDocument) -> tuple[object, ...]:
    """What changes with whatever is read, counted or found anew."""
    analysis = document.analysis
    rules, contexts = analysis.transients.aliases.rules, analysis.contexts.tree.version
    found = analysis.findings.found.counts()
    return len(analysis), analysis.tokens.counted, contexts, rules, found, document.kind_counts()


def field_values(document: CaptureDocument, *fields: str) -> list[tuple[Any, ...]]:
    """Values of fields, of each message."""
    chosen = [FIELD_BY_NAME[field] for field in fields]
    return [tuple(field.value(document.analysis, m) for field in chosen) for m in range(len(document.capture))]


def account_tally(document: CaptureDocument) -> AccountTally:
    """The counts of an account, complete."""
    tally = AccountTally(document.analysis)
    while not tally.step():
        pass
    return tally


class GrowingLog:
    """A log that is written piece by piece, and the document that follows it."""

    def __init__(self) -> None:
        self.path = log_file(b"", "growing.ctxcap")
        self.document = closed_at_end(CaptureDocument())
        self.document.follow_capture(self.path, name="growing")
        self.document.observers.append(self)
        self._told: list[AnalysisChanges] = []

    def messages_changed(self, changes: AnalysisChanges) -> None:
        """What a document tells its observers."""
        self._told.append(changes)

    def write(self, *lines: dict[str, Any] | str | bytes) -> list[AnalysisChanges]:
        """Add lines, let the document read them, and say what it told."""
        return self.write_bytes(lines_of(*lines))

    def write_bytes(self, data: bytes) -> list[AnalysisChanges]:
        """Add bytes, whole lines or not, let the document read what is whole, and say what it told."""
        with self.path.open("ab") as file:
            file.write(data)
        self._told.clear()
        self.document.poll()
        while (self.document.sources.unread_bytes or self.document.has_backlog) and self.document.poll():
            pass
        return list(self._told)

    def end(self) -> CaptureDocument:
        """Nothing more will come; the document has read everything."""
        self.document.end_live()
        run_to_end(self.document.postponed_checks())
        return self.document


def grown_log(lines: Iterable[dict[str, Any] | str | bytes]) -> GrowingLog:
    """A log that was written line by line."""
    log = GrowingLog()
    for line in lines:
        log.write(line)
    return log


def block_of(pool: WorkerPool[int], stop: int) -> Block:
    """The lines up to an offset, read by a process of a `part_pool`."""
    return next(decode_block(data) for data in pool.stream((0, stop), 1) if data is not None)


def log_file(data: bytes, name: str = "test.jsonl") -> Path:
    """A file with these bytes, in a folder of its own that goes when the test ends."""
    folder = Path(tempfile.mkdtemp(prefix="inspector-test-"))
    _folders.append(folder)
    path = folder / name
    path.write_bytes(data)
    return path


def clean_up() -> None:
    """Close the documents and remove the files made since the last call."""
    while _documents:
        _documents.pop().close()
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)


_documents: list[CaptureDocument] = []
_lasting: list[tuple[CaptureDocument, tuple[object, ...]]] = []
_folders: list[Path] = []
