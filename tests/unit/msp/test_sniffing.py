"""`inspector.msp.sniffing`: telling sessions from everything else by the beginning of a file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.msp.sniffing import HEAD_BYTES, is_msp, is_msp_stream

SESSION = {"session_id": "m1", "created_at": "2026-01-05T09:00:00Z", "sub_context": {"intent": "a"}, "messages": []}


@given(st.one_of(st.binary(max_size=60), st.text('{}[]:,"\\ \nab0', max_size=60).map(str.encode)))
def test_anything_is_answered_for(head: bytes) -> None:
    assert is_msp(head) in (True, False)


@pytest.mark.parametrize("head", [b'{\n{"kind": "mcp/request"}', b'{{"session_id": "m1"', b'{"a":{"session_id":"m1"}}'])
def test_what_only_looks_alike_is_no_session(head: bytes) -> None:
    assert not is_msp(head)


def test_a_session_of_an_agent_with_its_model_is_none_of_msp() -> None:
    session = {"session_id": "s1", "model": "m-1", "messages": [{"role": "user", "content": "Hello"}]}
    assert not is_msp(json.dumps(session).encode())


@given(st.integers(0, 3), st.sampled_from(["", "\ufeff", " \r\n"]))
def test_a_session_is_one_however_it_is_laid_out(indent: int, before: str) -> None:
    assert is_msp((before + json.dumps(SESSION, indent=indent or None)).encode())


@given(st.one_of(st.binary(max_size=60), st.text('{}[]:,"\\ \nab0', max_size=60).map(str.encode)), st.integers(0, 60))
def test_of_a_stream_is_said_what_will_be_said_of_all_of_it(whole: bytes, come: int) -> None:
    said = is_msp_stream(whole[:come])
    assert said is None or said == is_msp(whole)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", None), (b" \n", None), (b"words", False), (b"[INFO] ready", False), (b'{"session_id": "m1", "mess', None),
        (b'{"session_id": "m1", "messages": []', None), (b'{"session_id": "m1", "messages": []}', True),
        (b'{"history":[{"id":"a"},', False), (b'{"jsonrpc":"2.0","params":{', False), (b'[{"a":1}', False),
        (b'[{"session_id":"m1","messages":[]},', True), (b'{"a":"' + b"x" * HEAD_BYTES, False),
    ],
)  # fmt: skip
def test_a_stream_is_told_by_its_first_object(head: bytes, said: bool | None) -> None:
    assert is_msp_stream(head) is said
