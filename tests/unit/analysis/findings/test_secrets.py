"""Every record is searched for secrets, whoever sent it before; sentences never show one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_step, run_to_end
from inspector.protocol.secrets.masking import MASK, mask_secrets, masked_value_text, may_hold_secrets
from tests.builders import GrowingLog, clean_up, document_of, envelope

JWT = "eyJ" + "a" * 60 + "." + "b" * 60 + "." + "c" * 60


def clear(*lines: dict[str, Any]) -> list[int]:
    """Nos. of the messages with a secret in clear."""
    found = document_of(*lines).analysis.findings
    return [finding.row + 1 for finding in found.all() if finding.code == "secret-in-clear"]


def test_the_second_message_of_a_sender_is_looked_at() -> None:
    told = {"text": "use Authorization: Bearer abcdef123456"}
    assert clear(envelope("chat"), envelope("chat", told), envelope("chat"), envelope("chat", {"token": "abcd"})) == [
        2,
        4,
    ]


def test_more_senders_than_are_told_apart() -> None:
    lines = [envelope("chat", sender=f"agent-{n}") for n in range(1_100)]
    assert clear(*lines, envelope("chat", {"password": "hunter22"}, sender="one-more")) == [1_101]


@given(
    st.lists(st.sampled_from(["plain", "token", "token in a text", "max_tokens"]), min_size=1, max_size=12), st.data()
)
def test_live_finds_what_a_file_finds(kinds: list[str], data: st.DataObject) -> None:
    payloads: dict[str, dict[str, Any]] = {
        "plain": {"text": "x" * 50},
        "token": {"deep": [{"accessToken": "s3cr3t-s3cr3t"}]},
        "token in a text": {"text": json.dumps({"api_key": "s3cr3t"})},
        "max_tokens": {"max_tokens": 5},
    }
    lines = [envelope("chat", payloads[kind], id=f"m{n}") for n, kind in enumerate(kinds)]
    wanted = [n + 1 for n, kind in enumerate(kinds) if kind.startswith("token")]
    assert clear(*lines) == wanted
    log = GrowingLog()
    for line in lines:
        log.write(line)
        if data.draw(st.booleans()):
            run_step(log.document.postponed_checks())
    found = log.end().analysis.findings
    assert sorted(finding.row + 1 for finding in found.all() if finding.code == "secret-in-clear") == wanted
    clean_up()


def test_the_search_can_be_left_and_gone_on_with() -> None:
    log = GrowingLog()
    log.write(*(envelope("chat", {"token": "abcd"}) for _ in range(3_000)))
    while log.document.poll():
        pass
    counts = []
    while True:
        done = run_step(log.document.postponed_checks())
        counts.append(log.document.analysis.findings.found.counts().get("secret-in-clear", 0))
        if done:
            break
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 3_000
    run_to_end(log.document.postponed_checks())


SPOKEN = [
    envelope("system/error", {"error": {"code": "bad", "token": "TOPSECRET"}}, sender="system:gateway"),
    envelope(
        "system/error", {"error": "capability_violation", "attempted_kind": {"kind": "x", "api_key": "TOPSECRET"}},
        sender="system:gateway",
    ),
    envelope("mcp/response", {"result": {"_meta": {"context": {"consumed": {"token": "TOPSECRET"}}}}}),
    envelope("chat", correlation_id=[JWT]),
]  # fmt: skip


@pytest.mark.parametrize("line", SPOKEN)
def test_no_sentence_shows_a_secret(line: dict[str, Any]) -> None:
    said = [finding.text for finding in document_of(line).analysis.findings.all()]
    assert said
    assert not any("TOPSECRET" in text or "eyJ" in text for text in said)


VALUES = st.recursive(
    st.text(max_size=5) | st.integers() | st.none(),
    lambda inner: st.dictionaries(st.text(max_size=4), inner) | st.lists(inner),
    max_leaves=6,
)


@given(VALUES)
def test_any_value_has_words(value: object) -> None:
    assert len(masked_value_text(value, 20)) <= 20
    if value != mask_secrets(value):
        assert may_hold_secrets(json.dumps(value))


def test_a_secret_is_masked_before_it_is_cut() -> None:
    assert masked_value_text(f"see {JWT}", 40) == f"see {MASK}"


def test_a_key_that_is_a_secret_is_found_and_not_shown() -> None:
    key = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"
    found = [finding.text for finding in document_of(envelope("chat", {"a": [{key: 1}]})).analysis.findings.all()]
    assert [text for text in found if f"payload.a.ghp_{MASK}" in text]
    assert not any(key in text for text in found)
