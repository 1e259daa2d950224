"""What lets somebody in is not written; everything else is, as it was."""

from __future__ import annotations

import json

import pytest

from inspector.protocol.secrets.masking import MASK
from inspector.tap.http.unwritten import ModelUnwritten, Unwritten

PLANTED = "plantedValue0123"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {PLANTED}"),
        ("authorization", f"Basic {PLANTED}=="),
        ("Authorization", PLANTED),
        ("Proxy-Authorization", f"Bearer {PLANTED}"),
        ("x-api-key", PLANTED),
        ("X-Goog-Api-Key", PLANTED),
        ("api-key", PLANTED),
        ("Cookie", f"a={PLANTED}; b={PLANTED}"),
        ("Set-Cookie", f"sid={PLANTED}; Path=/"),
        ("OpenAI-Organization", PLANTED),
        ("openai-project", PLANTED),
        ("ChatGPT-Account-Id", PLANTED),
        ("X-Some-Token", PLANTED),
        ("X-Acme-Key", PLANTED),
        ("X-AuthToken", PLANTED),
        ("Cf-Access-Client-Secret", PLANTED),
        ("X-Amz-Security-Token", PLANTED),
        ("DPoP", PLANTED),
        ("Referer", f"https://host.example/?token={PLANTED}"),
        ("Location", f"https://host.example/next?access_token={PLANTED}"),
        ("User-Agent", f"agent (Bearer {PLANTED})"),
        ("Mcp-Param-Api-Key", PLANTED),
        ("WWW-Authenticate", f'Bearer error="no", token="{PLANTED}"'),
        ("Sec-WebSocket-Protocol", f"realtime, openai-insecure-api-key.{PLANTED}, openai-beta.realtime-v1"),
        ("Sec-WebSocket-Protocol", f"openai-project.{PLANTED}"),
        ("Sec-WebSocket-Protocol", f"base64url.bearer.authorization.k8s.io.{PLANTED}, base64.binary.k8s.io"),
        ("Sec-WebSocket-Protocol", f"bearer, {PLANTED}.a.b"),
        ("Sec-WebSocket-Protocol", f"access_token,{PLANTED}"),
    ],
)
def test_no_header_brings_a_secret_into_a_capture(name: str, value: str) -> None:
    written = Unwritten().headers([(name, value)])
    assert list(written) == [name.lower()]
    assert PLANTED not in json.dumps(written)


def test_what_a_header_says_about_the_talk_stays() -> None:
    said = [
        ("Content-Type", "application/json"), ("Mcp-Session-Id", "88deb6d7fa0f429fa755a66603bb2f5e"),
        ("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Name", "tide"), ("Mcp-Param-Region", "=?base64?w5xiZXJzZWU=?="),
        ("Last-Event-ID", "3"), ("Retry-After", "7"),
        ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("Sec-WebSocket-Protocol", "realtime, openai-beta.realtime-v1, base64.binary.k8s.io"),
        ("X-Stainless-Retry-Count", "1"), ("Anthropic-Version", "2023-06-01"), ("Accept", "application/json"),
    ]  # fmt: skip
    assert Unwritten().headers(said) == {name.lower(): value for name, value in said}


def test_ids_of_sessions_threads_and_agents_stay_in_headers_and_bodies() -> None:
    unwritten = Unwritten()
    agent, session = "a1b6fa0edf1488db6", "5ed824ba-2aba-462d-8791-48eb344764e8"
    said = [
        ("X-Claude-Code-Agent-Id", agent), ("X-Claude-Code-Session-Id", session), ("session-id", session),
        ("thread-id", session), ("x-codex-window-id", f"{session}:0"), ("x-client-request-id", session),
        ("x-codex-turn-metadata", f'{{"session_id": "{session}"}}'), ("originator", "codex_exec"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("X-Token-Count", "4096"), ("X-Acme", "plantedValue0123"),
    ]  # fmt: skip
    assert unwritten.headers(said) == {name.lower(): value for name, value in said}
    body = f'{{"agent":"{agent}","prompt_cache_key":"{session}","at":"/tmp/{agent}.output","acme":"plantedValue0123"}}'
    assert unwritten.text(body) is body


def test_names_of_accounts_are_no_credentials_in_bodies() -> None:
    unwritten = Unwritten()
    assert unwritten.headers([("ChatGPT-Account-Id", "acct-0123456789")]) == {"chatgpt-account-id": MASK}
    assert unwritten.text('{"text":"acct-0123456789"}') == '{"text":"acct-0123456789"}'


@pytest.mark.parametrize("name", ["key", "token", "api_key", "access_token", "sig", "code", "apikey"])
def test_keys_in_addresses_are_left_out_and_nothing_else(name: str) -> None:
    written = Unwritten().target(f"/mcp?{name}={PLANTED}&page=2&sessionId=0f429fa755a66603bb2f5e88deb6d7fa")
    assert written == f"/mcp?{name}={MASK}&page=2&sessionId=0f429fa755a66603bb2f5e88deb6d7fa"


def test_parts_of_a_path_that_chance_made_are_left_out() -> None:
    unwritten = Unwritten()
    assert unwritten.path("/v1/messages/count_tokens") == "/v1/messages/count_tokens"
    assert unwritten.path("/s/0f429fa755a66603bb2f5e88deb6d7fa/mcp") == f"/s/{MASK}/mcp"
    assert unwritten.path("/a/123e4567-e89b-12d3-a456-426614174000") == f"/a/{MASK}"


def test_what_came_as_a_secret_is_left_out_wherever_it_comes_again() -> None:
    unwritten = Unwritten()
    unwritten.headers([("X-Api-Key", "strange/one two"), ("Cookie", "sid=crumbs-of-it")])
    unwritten.learn_address("token=from%20the%20address", "/s/0f429fa755a66603bb2f5e88deb6d7fa")
    body = '{"seen":"strange/one two","as":"strange%2Fone%20two","c":"crumbs-of-it","t":"from the address","n":4}'
    written = unwritten.text(body)
    assert json.loads(written)["n"] == 4
    assert not any(word in written for word in ("strange", "crumbs", "from the"))
    assert "0f429fa755a6" not in unwritten.text('{"at":"/s/0f429fa755a66603bb2f5e88deb6d7fa"}')


@pytest.mark.parametrize(
    "body",
    [
        '{"headers":{"Authorization":"Bearer plantedValue0123"}}',
        '{"api_key":"plantedValue0123"}',
        '{"text":"curl -H \\"Authorization: Bearer plantedValue0123\\""}',
        '{"progressToken":3,"password":"plantedValue0123"}',
    ],
)
def test_bodies_are_written_without_secrets_and_stay_json(body: str) -> None:
    written = Unwritten().text(body)
    assert "plantedValue0123" not in written
    json.loads(written)


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}',
        '{"usage":{"input_tokens":412,"cache_read_input_tokens":0}}',
        '{"requestState":"sale-12","nextCursor":"eyJvZmZzZXQiOjEwfQ=="}',
        '{ "spread" :  "as it was" }',
    ],
)
def test_bodies_without_secrets_are_written_as_they_were(body: str) -> None:
    assert Unwritten().text(body) is body


@pytest.mark.parametrize(
    "body",
    [
        '{"content":[{"type":"thinking","thinking":"hm","signature":"plantedValue+0123/=="}]}',
        '{"type":"signature_delta", "signature": "plantedValue+0123/=="}',
        '{"type":"redacted_thinking","data":"plantedValue+0123/=="}',
        '{"output":[{"type":"reasoning","encrypted_content":"plantedValue+0123/=="}]}',
        '{"parts":[{"text":"hm","thoughtSignature":"plantedValue+0123/=="}]}',
    ],
)
def test_what_reasoning_is_sealed_with_is_its_hash_and_length(body: str) -> None:
    written = ModelUnwritten().text(body)
    assert "plantedValue" not in written
    assert "20 characters" in written
    assert ModelUnwritten().text(written) == written
    assert Unwritten().text(body) is body


def test_a_signature_that_is_no_seal_stays() -> None:
    body = '{"type":"tool_use","input":{"signature":"def f(): ..."},"note":"redacted_thinking"}'
    assert ModelUnwritten().text(body) == body


def test_a_token_among_the_protocols_of_a_websocket_is_left_out_wherever_it_comes_again() -> None:
    unwritten = Unwritten()
    shown = unwritten.headers([("Sec-WebSocket-Protocol", f"realtime, openai-insecure-api-key.{PLANTED}")])
    assert shown["sec-websocket-protocol"] == f"realtime, openai-insecure-api-key.{MASK}"
    assert unwritten.text(f"said {PLANTED}") == f"said {MASK}"


def test_bytes_that_are_no_utf8_keep_no_secret_either() -> None:
    unwritten = Unwritten()
    unwritten.headers([("Authorization", f"Bearer {PLANTED}")])
    assert PLANTED.encode() not in unwritten.data(b"\xe9 " + PLANTED.encode() + b' {"token": "otherValue0123"}')
    assert b"otherValue0123" not in unwritten.data(b'\xe9 {"token": "otherValue0123"}')
    assert unwritten.data(b"\xff\x00\x80 plain") == b"\xff\x00\x80 plain"
