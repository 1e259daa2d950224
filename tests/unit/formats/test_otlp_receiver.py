"""Spans received over HTTP: nothing answered with success is lost, nobody from elsewhere is heard."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import zstandard
from aiohttp import web

from inspector.base.async_tasks import start_task
from inspector.document.summary import summary
from inspector.formats.otlp import receiver as otlp_receiver
from inspector.formats.otlp.receiver import Address, AddressRefusedError, Receiver, address_of, listener_at
from tests.builders import document_at
from tests.commands import asked
from tests.pages import ROOT

_SAMPLE = ROOT / "tests/data/otlp/pydantic-ai-1.0.18-v1-events-attribute.jsonl"


@asynccontextmanager
async def receiving(path: Path) -> AsyncGenerator[tuple[Receiver, Address]]:
    listener, address = listener_at(address_of("127.0.0.1:0"))
    receiver = Receiver(path, address)
    runner = receiver.runner(shutdown_timeout_s=0.1)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    try:
        yield receiver, address
    finally:
        await runner.cleanup()
        receiver.close()


async def posted(address: Address, body: bytes, path: str = "/v1/traces", **headers: str) -> tuple[int, str]:
    named = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
    async with (
        aiohttp.ClientSession() as session,
        session.post(address.origin + path, data=body, headers=named) as answer,
    ):
        return answer.status, await answer.text()


async def test_what_comes_line_by_line_gives_what_the_file_gives(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    async with receiving(path) as (receiver, address):
        for line in _SAMPLE.read_bytes().splitlines():
            assert await posted(address, line) == (200, "{}")
        assert receiver.spans == 8
    found, whole = (summary(document_at(one), "x") for one in (path, _SAMPLE))
    assert found["format"] == "otlp"
    for key in ("usage", "models", "contexts", "unreadable"):
        assert found[key] == whole[key], key


async def test_compressed_requests_logs_and_metrics_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    async with receiving(path) as (receiver, address):
        line = _SAMPLE.read_bytes().splitlines()[0]
        assert (await posted(address, gzip.compress(line), Content_Encoding="gzip"))[0] == 200
        assert (await posted(address, zstandard.compress(b"{}"), Content_Encoding="zstd"))[0] == 200
        logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "said"}}]}]}]}
        assert (await posted(address, json.dumps(logs).encode(), "/v1/logs"))[0] == 200
        assert (await posted(address, b'{"resourceMetrics":[]}', "/v1/metrics"))[0] == 200
        assert receiver.spans == 2


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstandard.compress)]
)
async def test_what_unpacks_to_more_than_is_taken_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(otlp_receiver, "MOST_BYTES", 1 << 20)
    async with receiving(tmp_path / "out.jsonl") as (_, address):
        status, said = await posted(address, pack(bytes(1 << 24)), Content_Encoding=encoding)
        assert (status, json.loads(said)["message"]) == (413, "This is more than 1 MB. Send fewer spans at a time.")


def attributes(secret: str, **named: str) -> list[dict[str, Any]]:
    """Attributes in the shapes of OTLP that secrets are told in."""
    several = {"arrayValue": {"values": [{"stringValue": secret}]}}
    return [
        *({"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in named.items()),
        {"key": "service.api_key", "value": {"stringValue": secret}},
        {"key": "http.request.header.authorization", "value": several},
        {"key": "config", "value": {"kvlistValue": {"values": [{"key": "secret", "value": {"stringValue": secret}}]}}},
        {"key": "url.full", "value": {"stringValue": f"https://h.example/?access_token={secret}"}},
    ]


async def test_no_secret_that_came_is_shown_or_exported(tmp_path: Path) -> None:
    secret, header, path = "Zq7SecretValue9x", "Hd3SecretValue5y", tmp_path / "out.jsonl"
    told = {
        "chat": {"gen_ai__operation__name": "chat", "gen_ai__input__messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": f"use token={secret}"}]}])},
        "execute_tool grep": {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "grep",
                              "gen_ai__tool__call__arguments": json.dumps({"api_key": secret})},
    }  # fmt: skip
    spans = [
        {"traceId": "1" * 32, "spanId": f"{place + 1:016x}", "name": name, "attributes": attributes(secret, **more),
         "status": {"code": 2, "message": f"password={secret}"},
         "events": [{"name": "exception", "attributes": attributes(secret, exception__message=f"Bearer {secret}")}]}
        for place, (name, more) in enumerate(told.items())
    ]  # fmt: skip
    body = {"kvlistValue": {"values": [{"key": "api_key", "value": {"stringValue": secret}}]}}
    records = [{"body": {"stringValue": f"Authorization: Bearer {secret}"}}, {"body": body}]
    resource = {"attributes": attributes(secret, service__name="svc")}
    async with receiving(path) as (_, address):
        for where, held in (
            ("traces", {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}),
            ("logs", {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": records}]}]}),
        ):
            answer = await posted(
                address, json.dumps(held).encode(), f"/v1/{where}", Authorization=f"Bearer {header}", X_API_Key=header
            )
            assert answer == (200, "{}")
        refused = await posted(address, f'{{"token": "{secret}"'.encode())
        assert refused[0] == 400
    written = path.read_text()
    assert secret in written, "as it came"
    ways = [["list", path, "--json"], ["summary", path], ["participants", path], ["check", path]]
    ways += [["show", path, number] for number in (1, 2, 3, 5, 6)]
    ways += [["query", path, "SELECT *, payload(no) FROM messages"]]
    ways += [["export", path, "-o", "-", "--format", form] for form in ("jsonl", "csv", "md")]
    ways += [["export", path, "-o", "-", "--format", "otlp", "--with-content"]]
    answers = {" ".join(map(str, way)): asked(*way).output for way in ways}
    assert all(len(answer) > 20 for answer in answers.values()), answers
    assert [way for way, answer in answers.items() if secret in answer] == []
    assert header not in "".join((written, refused[1], *answers.values()))


_REBOUND = (
    "127.0.0.1.nip.example:{port}", "localhost.evil.example:{port}", "127.0.0.1@evil.example:{port}", "127.0.0.1",
    "127.0.0.1:1", "0.0.0.0:{port}", "127.1:{port}", "2130706433:{port}", "[::ffff:127.0.0.1]:{port}",
    "localhost.:{port}",
)  # fmt: skip
"""Names that lead here, or look as if they did, once somebody else's page had one of them lead here."""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        *(({"Host": name}, 403) for name in _REBOUND), ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Host": "evil.example"}, 403), ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Content_Type": "text/plain"}, 415), ({}, 400),
        ({"Content_Encoding": "gzip"}, 400), ({"Content_Encoding": "br"}, 415),
    ],
)  # fmt: skip
async def test_who_is_refused(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    path = tmp_path / "out.jsonl"
    async with receiving(path) as (receiver, address):
        headers = {name: value.format(port=address.port) for name, value in headers.items()}
        assert (await posted(address, b"no otlp", **headers))[0] == status
        assert receiver.spans == 0
    assert not path.exists()


async def test_what_cannot_be_written_is_said_and_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.jsonl"
    line = _SAMPLE.read_bytes().splitlines()[0]
    async with receiving(path) as (receiver, address):
        assert (await posted(address, line))[0] == 200
        size, write = path.stat().st_size, os.write

        def full(file: int, data: Any) -> int:
            write(file, bytes(data)[:10])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("inspector.formats.otlp.receiver.os.write", full)
            status, words = await posted(address, line)
        assert status == 503
        assert "No space left" in words
        assert path.stat().st_size == size
        assert (await posted(address, line))[0] == 200
        assert receiver.spans == 2
    assert summary(document_at(path), "x")["unreadable"] == 0


@pytest.mark.parametrize("text", ["0.0.0.0:4318", "192.168.1.2:4318", "example.com:1", "nowhere", "127.0.0.1:99999"])
def test_addresses_beyond_this_machine_are_refused(text: str) -> None:
    with pytest.raises(AddressRefusedError):
        address_of(text)


def test_a_file_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine")
    found = asked("record", "--otlp", "127.0.0.1:0", "-o", path)
    assert found.exit_code == 2
    assert "holds something already" in found.stderr
    assert path.read_text() == "mine"
    assert asked("record", "-o", path).exit_code == 2
    assert asked("record", "--otlp", "0.0.0.0:1", "-o", tmp_path / "x").exit_code == 2


_EXPORTER = """
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), max_queue_size=9000))
tracer = provider.get_tracer("test")
told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.output_tokens": 2}
for _ in range(2000):
    with tracer.start_as_current_span("invoke_agent lead", attributes={"gen_ai.agent.name": "lead"}):
        with tracer.start_as_current_span("chat m", attributes=told):
            pass
provider.shutdown()
"""


@pytest.mark.real
async def test_the_sdks_exporter_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    recorder = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "inspector", "record", "--otlp", "127.0.0.1:0", "-o", str(path), "--messages", "4000",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert recorder.stdout is not None
    told = [(await recorder.stdout.readline()).decode().strip().removeprefix("export ") for _ in range(2)]
    variables = dict(line.split("=", 1) for line in told)
    sender = await asyncio.create_subprocess_exec(sys.executable, "-c", _EXPORTER, env={**os.environ, **variables})
    assert await sender.wait() == 0
    assert await recorder.wait() == 0
    found = summary(document_at(path), "x")
    assert found["usage"]["output"] == 4000
    assert found["contexts"] == 2000


async def begun(address: Address, promised: int, sent: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request of which only a part comes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    head = f"POST /v1/traces HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {promised}\r\n\r\n".encode() + b" " * sent)
    await writer.drain()
    return reader, writer


async def test_what_many_send_at_the_same_time_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 4 << 20
    monkeypatch.setattr(otlp_receiver, "MOST_TOGETHER_BYTES", most)
    async with receiving(tmp_path / "out.jsonl") as (receiver, address):
        many = [await begun(address, 4 << 20, 3 << 20) for _ in range(4)]
        answered = [start_task(reader.readline(), name="answer") for reader, _ in many]
        first = await next(asyncio.as_completed(answered, timeout=10))
        assert first.split()[1] == b"503"
        assert receiver._room.taken_bytes <= 2 * most
        for _, writer in many:
            writer.close()
        await asyncio.gather(*answered, return_exceptions=True)
        line = _SAMPLE.read_bytes().splitlines()[0]
        async with asyncio.timeout(10):
            while (found := await posted(address, line))[0] == 503:  # it has not seen that they left
                pass
        assert found == (200, "{}")
        assert receiver._room.taken_bytes == 0


async def test_what_stops_coming_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_receiver, "_PATIENCE_S", 0.02)
    async with receiving(tmp_path / "out.jsonl") as (receiver, address):
        reader, writer = await begun(address, 1_000, 10)
        assert (await asyncio.wait_for(reader.readline(), 10)).split()[1] == b"408"
        assert receiver._room.taken_bytes == 0
        writer.close()


async def test_the_file_is_otlp_json_as_its_specification_says(tmp_path: Path) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    span: Any = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.parent_span_id = b"\xab" * 16, b"\xcd" * 8, b"\xef" * 8
    span.name, span.kind, span.start_time_unix_nano, span.end_time_unix_nano = "work", 3, 1, 2
    span.status.code = 2
    span.links.add(trace_id=b"\x12" * 16, span_id=b"\x34" * 8)
    span.attributes.add(key="data").value.bytes_value = b"\xff" * 8
    path = tmp_path / "out.jsonl"
    async with receiving(path) as (_, address):
        body = request.SerializeToString()
        assert (await posted(address, body, Content_Type="application/x-protobuf"))[0] == 200
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line) == {"resourceSpans": [{"scopeSpans": [{"spans": [{
        "traceId": "ab" * 16, "spanId": "cd" * 8, "parentSpanId": "ef" * 8, "name": "work", "kind": 3,
        "startTimeUnixNano": "1", "endTimeUnixNano": "2", "status": {"code": 2},
        "links": [{"traceId": "12" * 16, "spanId": "34" * 8}],
        "attributes": [{"key": "data", "value": {"bytesValue": "//////////8="}}],
    }]}]}]}  # fmt: skip
    assert document_at(path).format == "otlp"
