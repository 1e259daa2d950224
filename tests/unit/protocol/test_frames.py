"""What a frame is, told by its shape alone."""

from __future__ import annotations

import pytest

from inspector.formats.line_reading import read_line
from inspector.protocol.frames import read_frame
from inspector.protocol.record import Shape


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        (b'{"kind":"chat"}', Shape.ENVELOPE),
        (b'{"kind":null}', Shape.ENVELOPE),
        (b'{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete"}', Shape.UNREADABLE),
        (b'{"kind":"Event","apiVersion":"v1","from":"a"}', Shape.ENVELOPE),
        (b'{"kind":["chat"],"id":7}', Shape.ENVELOPE),
        (b'{"protocol":"mew/v0.4","id":"a","from":"b","payload":{}}', Shape.ENVELOPE),
        (b'{"from":"b","payload":"text"}', Shape.ENVELOPE),
        (b'{"id":"a","ts":"x"}', Shape.UNREADABLE),
        (b'{"payload":{}}', Shape.UNREADABLE),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', Shape.RPC),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', Shape.RPC),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', Shape.RPC),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}', Shape.RPC),
        (b'{"id":1,"result":null}', Shape.RPC),
        (b'{"id":1,"error":{}}', Shape.RPC),
        (b'{"method":"tools/list"}', Shape.RPC),
        (b'{"jsonrpc":"2.0"}', Shape.UNREADABLE),
        (b'{"jsonrpc":"2.0","id":1}', Shape.UNREADABLE),
        (b'{"jsonrpc":"2.0","id":1,"error":null}', Shape.UNREADABLE),
        (b'{"id":1,"error":null}', Shape.UNREADABLE),
        (b'{"error":null}', Shape.UNREADABLE),
        (b'{"id":1,"result":{},"error":null}', Shape.RPC),
        (b'{"protocol":"mew/v0.4","id":"x","from":"a","type":"foo","payload":{}}', Shape.ENVELOPE),
        (b'{"id":"x","from":"a","type":"foo"}', Shape.ENVELOPE),
        (b'{"id":"x","from":"a","type":"foo","text":null}', Shape.ENVELOPE),
        (b'{"id":"x","from":"a","type":"foo","message":{}}', Shape.UNREADABLE),
        (b'{"type":"join","protocol":"mew/v0.4","from":"a","payload":{}}', Shape.CLIENT_HELLO),
        (b'{"jsonrpc":"2.0","id":1,"from":"a","payload":{},"result":{}}', Shape.RPC),
        (b'{"method":"stdio","message":{}}', Shape.UNREADABLE),
        (b'{"method":"stdio","text":""}', Shape.RPC),
        (b'{"method":"tools/call","params":{},"text":"x"}', Shape.RPC),
        (b'{"method":"tools/list","id":1,"data":"x"}', Shape.RPC),
        (b'{"method":7,"id":1}', Shape.UNREADABLE),
        (b'{"method":"initialized","time":"x"}', Shape.RPC),
        (b'{"method":"POST","url":"/v1/chat/completions","body":{}}', Shape.UNREADABLE),
        (b'{"id":"a","method":"GET","status":200}', Shape.UNREADABLE),
        (b'{"id":1,"result":"pass","score":1.0}', Shape.UNREADABLE),
        (b'{"id":1,"method":"thread/start","params":{},"trace":null}', Shape.RPC),
        (b'{"error":{"code":429,"message":"slow down"}}', Shape.UNREADABLE),
        (b'{"type":"join","space":"demo","participantId":"me"}', Shape.CLIENT_HELLO),
        (b'{"error":"Invalid message format","details":"..."}', Shape.ERROR),
        (b'{"type":"Buffer","data":[35,115,35,1,255]}', Shape.STREAM),
        (b'{"type":"Buffer","data":[35,115]}', Shape.UNREADABLE),
        (b'{"type":"Buffer","data":[300]}', Shape.UNREADABLE),
        (b'{"type":"Buffer","data":"x"}', Shape.UNREADABLE),
        (b"#s1#data", Shape.STREAM),
        (b"#s1", Shape.UNREADABLE),
        (b"hello", Shape.UNREADABLE),
        (b"{}", Shape.UNREADABLE),
        (b'{"level":"info","msg":"up"}', Shape.UNREADABLE),
    ],
)
def test_shapes(raw: bytes, shape: Shape) -> None:
    record = read_frame(raw)
    assert (record.shape, record.raw) == (shape, raw)
    assert (record.reason is not None) == (shape is Shape.UNREADABLE)


@pytest.mark.parametrize(
    ("raw", "stream", "data"),
    [
        (b"#stream-1#abc", "stream-1", b"abc"),
        (b"#s#a#b\n#", "s", b"a#b\n#"),
        (b"#s#", "s", b""),
        (b"##x", "", b"x"),
        (b"#s\xff#\x00\xff", "s�", b"\x00\xff"),
        (b'{"type":"Buffer","data":[35,115,35,0,255]}', "s", b"\x00\xff"),
    ],
)
def test_stream_frames(raw: bytes, stream: str, data: bytes) -> None:
    record = read_frame(raw)
    assert (record.stream_id, record.data) == (stream, data)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"#s1", "a stream frame without a second #"),
        (b"{}", "an empty JSON object"),
        (b'{"jsonrpc":"2.0","id":1}', "a JSON-RPC message without method, result or error"),
        (b'{"level":1,"msg":2}', "a JSON object with level, msg, which is no known line"),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1}', "a JSON object with a, b, c, d, which is no known line"),
        (b'{"type":"Buffer","data":[300]}', "a logged buffer whose data are no bytes"),
    ],
)
def test_reasons(raw: bytes, reason: str) -> None:
    assert read_frame(raw).reason == reason


def test_a_line_with_a_method_of_its_own_is_left_to_what_it_carries() -> None:
    inner = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    for extra in (b'"method":"stdio"', b'"error":null', b'"id":7,"error":null', b'"type":"log","from":"x","id":"y"'):
        record = read_line(b'{"t":3,"dir":"a->b",%s,"message":%s}' % (extra, inner))
        assert (record.shape, record.raw, record.direction) == (Shape.RPC, inner, "a->b")


def test_a_row_of_an_evaluation_with_an_error_is_no_answer_of_a_gateway() -> None:
    row = b'{"instance_id": "bread-2", "history": [], "metrics": {}, "error": "RuntimeError: oven limit reached"}'
    assert read_frame(row).shape is Shape.UNREADABLE
