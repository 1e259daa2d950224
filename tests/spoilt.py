"""Files of every sort that is read, spoilt: values swapped, nested and torn from their places, bytes turned, ends lost.

A sort is a file of tests/data, or one that is made here: archives, databases, lists of sources, what is packed. What
stands in JSON is spoilt as JSON, so that it gets further than to the first look; everything else by its bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from tests.samples import FORMAT_SAMPLES

DATA = Path(__file__).parent / "data"
_FOLDERS = ("otlp", "dialects", "msp", "recordings/mcp", "recordings/live", "captures")
_MOST_BYTES = 16_000
_DEEP = 60
_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1 << 31, (1 << 63) - 1, 1 << 63, -(1 << 63) - 1, 1 << 80, 1e308, "", " ", "0",
    "1767603600", "2026-01-05T09:00:00Z", "9999-12-31T23:59:59.999999999Z", "0000-00-00T00:00:00Z", "\ud800",
    "\udfff\ud800x", "\0", "a\0b", "\u202e\x1b[31m\x9b", "x" * 3_000, "/", "//", "../../../etc/passwd", "a/b/../c",
    "=1+1", "<b>&amp;", "{}", "[]", '{"a":', "data:image/png;base64,####", [], [[]], [None], [{}], {}, {"": {}},
    {"type": {}}, {"id": []}, {"role": None}, {"$ref": "#"}, [1, "a", None, {}],
)  # fmt: skip
"""What nobody expects somewhere."""


def _nested(depth: int, *, listed: bool) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value] if listed else {"a": value}
    return value


def _har() -> bytes:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    answer = 'data: {"id":"c","choices":[{"delta":{"content":"ho"}}]}\n\ndata: [DONE]\n\n'
    entries = [
        {
            "startedDateTime": f"2026-01-05T09:00:0{n}.000Z", "time": 12.5, "_webSocketMessages": [
                {"type": "send", "time": 1767603600.5, "opcode": 1, "data": '{"jsonrpc":"2.0","id":1,"method":"ping"}'},
            ],
            "request": {"method": "POST", "url": "http://h/v1/chat/completions?a=1", "headers": [
                {"name": "Content-Type", "value": "application/json"}], "postData": {"text": body}},
            "response": {"status": 200, "statusText": "OK", "headers": [
                {"name": "content-type", "value": "text/event-stream"}],
                "content": {"mimeType": "text/event-stream", "text": answer}},
            "timings": {"wait": 3, "receive": 2, "send": 1},
        }
        for n in range(3)
    ]  # fmt: skip
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": entries}}).encode()


def _vs_code() -> bytes:
    lines = [json.loads(line) for line in FORMAT_SAMPLES["vscode-chat.jsonl"].read_text("utf-8").splitlines()]
    requests = [line["request"] for line in lines if "request" in line]
    first = {"kind": 0, "v": {"version": 3, "sessionId": "s", "responderUsername": "c", "requests": requests[:1]}}
    changes = [
        {"kind": 2, "k": ["requests"], "v": requests[1:]}, {"kind": 1, "k": ["customTitle"], "v": "T"},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "more"}], "i": 0},
        {"kind": 3, "k": ["requests", 0, "result"]},
    ]  # fmt: skip
    return b"".join(json.dumps(one).encode() + b"\n" for one in (first, *changes))


def _open_code() -> bytes:
    lines = [json.loads(line) for line in FORMAT_SAMPLES["opencode.jsonl"].read_text("utf-8").splitlines()]
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE session (id, parent_id, title, time_created, time_updated)")
    made.execute("CREATE TABLE message (id, session_id, time_created, data)")
    made.execute("CREATE TABLE part (id, session_id, message_id, data)")
    for line in lines:
        info = line["info"]
        if "parts" not in line:
            row = (info["id"], info.get("parentID"), info.get("title"), 1, 2)
            made.execute("INSERT INTO session VALUES (?,?,?,?,?)", row)
            continue
        row = (info["id"], info["sessionID"], 1, json.dumps(info))
        made.execute("INSERT INTO message VALUES (?,?,?,?)", row)
        for part in line["parts"]:
            row = (part["id"], info["sessionID"], info["id"], json.dumps(part))
            made.execute("INSERT INTO part VALUES (?,?,?,?)", row)
    made.commit()
    data = made.serialize()
    made.close()
    return data


def _parquet() -> bytes:
    import duckdb

    lines = FORMAT_SAMPLES["mew-v0.4.jsonl"].read_bytes().splitlines()
    with duckdb.connect() as made:
        made.execute("CREATE TABLE m AS SELECT unnest(?::BLOB[]) AS raw", [lines])
        path = Path(f"{made.execute('SELECT uuid()').fetchall()[0][0]}.parquet")
        try:
            made.execute(f"COPY m TO '{path}' (FORMAT parquet)")
            return path.read_bytes()
        finally:
            path.unlink(missing_ok=True)


def _protobuf() -> bytes:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    lines = (DATA / "otlp/openai-agents-openinference-2.6.0.jsonl").read_text("utf-8").splitlines()
    message = ExportTraceServiceRequest()
    ParseDict({"resourceSpans": json.loads(lines[0])["resourceSpans"]}, message, ignore_unknown_fields=True)
    return message.SerializeToString()


def _bundle() -> bytes:
    listed = json.dumps({"ctxsources": 1, "sources": [{"path": "1/a.jsonl", "clock_offset_ns": 5}]}).encode()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (("sources.ctxsources", listed), ("1/a.jsonl", _of("mew-v0.4.jsonl"))):
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return file.getvalue()


def _of(name: str) -> bytes:
    return FORMAT_SAMPLES[name].read_bytes()


_MADE: dict[str, Callable[[], bytes]] = {
    "archive.har": _har,
    "chat.json": _vs_code,
    "opencode.db": _open_code,
    "messages.parquet": _parquet,
    "traces.pb": _protobuf,
    "bundle.ctxcap": _bundle,
    "packed.jsonl.gz": lambda: gzip.compress(_of("claude-code.jsonl")),
    "packed.jsonl.zst": lambda: zstandard.compress(_of("codex.jsonl")),
    "list.ctxsources": lambda: b'{"ctxsources":1,"sources":[{"path":"list.jsonl","clock_offset_ns":7},{"path":"x"}]}',
}


@cache
def sorts() -> dict[str, bytes]:
    """A good file of every sort by its name; those of some size are cut after a line."""
    found: dict[str, bytes] = {}
    paths = {f"formats-{name}": path for name, path in FORMAT_SAMPLES.items()}
    for folder in _FOLDERS:
        paths |= {f"{folder.replace('/', '-')}-{path.name}": path for path in sorted((DATA / folder).glob("*.*"))}
    for name, path in paths.items():
        if path.suffix not in (".md", ".py"):
            data = path.read_bytes()
            cut = data[: data.rfind(b"\n", 0, _MOST_BYTES) + 1] if len(data) > _MOST_BYTES else data
            found[name] = cut or data
    return found | {name: make() for name, make in _MADE.items()}


def spoilt(name: str, seed: int) -> bytes:
    """A file of a sort, spoilt somehow: the same for the same seed."""
    chance, data = random.Random(seed), sorts()[name]
    if chance.random() < 0.15 or (name in _MADE and not data.startswith((b"{", b"["))):
        return _bytes_spoilt(data, chance)
    lines = data.split(b"\n")
    whole = _decoded(data)
    if whole is not None:
        return _written(_value_spoilt(whole, chance), chance)
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(lines))
        value = _decoded(lines[place])
        if value is not None:
            lines[place] = _written(_value_spoilt(value, chance), chance)
        if chance.random() < 0.2:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        if chance.random() < 0.2:
            lines.insert(place, lines[chance.randrange(len(lines))])
    return b"\n".join(lines)


def _decoded(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _written(value: Any, chance: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _value_spoilt(value: Any, chance: random.Random) -> Any:
    value = json.loads(json.dumps(value))
    for _ in range(chance.randint(1, 4)):
        holders = list(_holders(value))
        if not holders:
            return value
        holder, key = chance.choice(holders)
        old = holder[key]
        match chance.randrange(9):
            case 0:
                holder[key] = [old]
            case 1:
                holder[key] = {chance.choice(("type", "id", "text", "content")): old}
            case 2:
                holder[key] = _nested(_DEEP, listed=chance.random() < 0.5)
            case 3:
                other, its = chance.choice(holders)
                holder[key] = json.loads(json.dumps(other[its]))
            case 4:
                holder[key] = json.dumps(old)
            case 5 if isinstance(holder, dict):
                del holder[key]
            case 6 if isinstance(holder, dict):
                holder[chance.choice([one for _, one in holders if isinstance(one, str)] or ["x"])] = old
            case 7 if isinstance(old, str):
                holder[key] = old[: len(old) // 2] + chance.choice(("\ud800", "\0", "\u202e", "/", ""))
            case _:
                holder[key] = chance.choice(_ODD)
    return value


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value, as what it is in and its key or index there."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key, inner in one.items() if isinstance(one, dict) else enumerate(one):
            yield one, key
            if isinstance(inner, dict | list):
                waiting.append(inner)


def _bytes_spoilt(data: bytes, chance: random.Random) -> bytes:
    turned = bytearray(data)
    for _ in range(chance.randint(0, 8)):
        if not turned:
            break
        place = chance.randrange(len(turned))
        match chance.randrange(4):
            case 0:
                turned[place] ^= 1 << chance.randrange(8)
            case 1:
                turned[place : place + chance.randrange(1, 9)] = chance.randbytes(chance.randrange(9))
            case 2:
                turned[place:place] = turned[chance.randrange(len(turned)) :][: chance.randrange(200)]
            case _:
                turned[place : place + 8] = b"\xff" * 8
    return bytes(turned[: chance.randrange(len(turned) + 1)] if chance.random() < 0.3 else turned)
