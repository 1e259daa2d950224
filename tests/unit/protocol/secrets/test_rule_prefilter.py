"""Clues: what they rule out, masking would not have found either; fast equals slow."""

from __future__ import annotations

import json
from collections import Counter
from time import thread_time
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.protocol.secrets import masking
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.secrets.rule_prefilter import (
    ALL_RULES,
    SecretRule,
    may_hold_secrets,
    possible_rules,
    rows_with_clues,
)
from tests.unit.protocol.secrets.keys import KEYS, PEM
from tests.unit.protocol.secrets.secret_traffic import TRAFFIC

_PIECES = [
    "token", "Token", "TOKEN", "secret", "passwd", "password", "passphrase", "jwt", "credentials", "authorization",
    "Authorization", "api", "Api", "key", "Key", "private_key", "access", "max_", "progress", "s", "a", "1", "é",
    "to\u212aen", "\u017fecret", "author\u0131zation", "tok\\u0065n", "\\u0074oken", "\\u212a", "bearer", "Bearer",
    "basic", "Basic", "dXNlcjpwdw==", "abc123", "://", "ws", ":\\/\\/", "me:pw@host", "@", "?", "&", "#", "=", ":",
    ": ", '"', '\\"', '\\\\\\"', "\\", " ", "\t", "\n", "\\n", "{", "}", "[", "]", ", ", "-", "_", ".", "\u2003", "/",
    "secrets", "passwords", "jwts", "passphrases", "authorizations", "accesstoken", "authtoken", "apikey", "tokens",
    "eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiJ4In0.sig", "12", "x" * 90, "\ud83d",
    "ghp_", "AKIA", "IOSFODNN7EXAMPL2", "xoxb-", "SG.", "-----BEGIN ", "PRIVATE KEY-----", "-----END",
    "Zm9vYmFyMTIzNDU2Nzg5",
    "pwd", "cookie", "cookies", "_pat", "github_pat", "'", "': '", "= ", ": hunter2", '="hunter 2"', "_1", "2",
    "sk-", "sk", "\\u002d", "\\u0020", "\\\\u0061", "ant-api03-AbCdEfGhIjKl",
    "name", "value", "NAME", "VALUE", "header", "TagKey", '"name": "API_KEY"', '"value": ', "value: ",
    "name: API_KEY\n",
    "--", " --", "-u", " -p", "curl ", "mysql", "docker login", "redis-cli", " -a ", " is ", "**", "`", "->", "|", "- ",
    "creds", "passcode", "api_keys", "%3D", "%26", "%253d", "&amp;", "auth", "_auth", "Basic ", "hmac", "sig", "<", ">",
    "%22", "%2522", "%3A", "%40", "3a%2f%2f", "&quot;", "&#39;", "&gt;", "<input ", 'type="password" ', "setx ",
    "set -x ",     "form-data; name=", "\r\n\r\n", "setenv(", "<key>", "<string>", '"]', "| ",
    "</", "Hunter2Hunter2Hunter", "password", "PASSWORD ", "'h2nter2'",
    ",", ";", "|", "\n", "user,", ",h2nter2secret\n", "!!str ", "&a ", "%26quot%3B",
    "identified by ", "setenv ", "ENV ", "b'", "(",
    ")", "x-api-key", "Token ", "\\t", "\\\\n", "12:AA", "hooks.slack.com/services/",
]  # fmt: skip
_NAMES = [
    "token", "accessToken", "authtoken", "api_key", "apiKey", "signing-key", "secret", "client_secrets", "password",
    "PASSWORDS", "pwd", "db_pass", "cookie", "token_1", "GITHUB_PAT", "secretKey2", "api key",
    "passwd", "passphrase", "jwt", "jwts", "credential", "credentials", "Authorization", "token\n",
    'token"', "token:", "jwt\\", "key", "max_tokens", "text", "a" * 230, "x" * 230 + "_jwt",
]  # fmt: skip
_SECRETS = [
    *(f'"{name}": "s3cr3t"' for name in _NAMES), *(f'\\"{name}\\":[\\"s3cr3t\\",12]' for name in _NAMES),
    *(f"{name}=s3cr3t" for name in _NAMES), *(f"{name} = 's3cr3t'" for name in _NAMES),
    *(f"'{name}': 's3cr3t'" for name in _NAMES), *(f"{name}: s3cr3t" for name in _NAMES),
    *(f'"{name}": {{"value": "s3cr3t"}}' for name in _NAMES), "redis://:pw1@host",
    *(f"?x=1&{name}=s3cr3t" for name in _NAMES), "Bearer abc.def",
    "bearer\tabc.def", "authorization: basic dXNlcjpwdw==", 'Authorization":"Basic dXNlcjpwdw==', "ws://me:pw@host/",
    "https:\\/\\/me:pw@host", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig", '{"jwt" \n: 12}',
    *KEYS, *(key[0] + f"\\u{ord(key[1]):04x}" + key[2:] for key in KEYS), PEM, PEM.replace("\n", "\\n"),
    "sk-ant-api03-AbCdEfGhIjKl", "sk\\u002dant-api03-AbCdEfGhIjKl", "?sv=1&sig=ab%2Bcd12",
    "?key=Ab3dEf6hIj9kLm2nOp5qRs8t", "X-Amz-Signature=0a1b2c",
    "?X-Amz-Signature=0a1b2c", "https://0123456789abcdef0123@host/x", "https:\\/\\/0123456789abcdef0123@host/x",
    'Authorization: Digest username="me", response="0a1b2c", qop=auth',
    *(f'{{"name": "{name}", "value": "s3cr3t"}}' for name in _NAMES),
    *(f'{{"value":"s3cr3t","key":"{name}"}}' for name in _NAMES),
    *(f"- name: {name}\n  value: s3cr3t" for name in _NAMES), *(f"run --{name} s3cr3t1" for name in _NAMES),
    *(f'["--{name}", "s3cr3t1"]' for name in _NAMES), *(f"('x-{name}', 's3cr3t12')" for name in _NAMES),
    *(f"my {name} is s3cr3t1" for name in _NAMES), *(f"**{name}**: `s3cr3t1`" for name in _NAMES),
    *(f"{name}:\n  - s3cr3ts3cr3ts3cr3t\n" for name in (*_NAMES, "tokens", "api_keys")),
    *(f'"{name}": ["s3cr3ts3cr3ts3cr3t"]' for name in ("tokens", "api_keys")),
    *(f"<{name}>s3cr3t1</{name}>" for name in _NAMES), *(f"setenv {name} s3cr3t1" for name in _NAMES),
    *(f"%3Fa%3D1%26{name}%3Ds3cr3t" for name in _NAMES), *TRAFFIC,
]  # fmt: skip
_WHOLE = st.sampled_from(_SECRETS)
_TEXT = st.lists(st.one_of(st.sampled_from(_PIECES), _WHOLE), max_size=8).map("".join)
_KEYS = st.one_of(st.sampled_from(_NAMES), _TEXT)
_VALUES = st.recursive(
    _TEXT | st.integers() | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYS, inner, max_size=3)
        | st.fixed_dictionaries({"name": _KEYS, "value": inner})
        | inner.map(json.dumps)
        | inner.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1))
    ),
    max_leaves=6,
)


def slowly(mask: Any, value: Any) -> Any:
    """What every rule makes of a value, whether there is a clue to it or not."""
    with patch.object(masking, "possible_rules", lambda _text: ALL_RULES):
        return mask(value)


@given(_TEXT)
@example("?x;\u017fecret=abcdef")
def test_of_text_the_clues_rule_out_nothing_that_the_rules_find(text: str):
    assert mask_text(text) == slowly(mask_text, text)


def test_of_each_secret_alone_neither():
    assert len(_SECRETS) > 500
    assert [text for text in _SECRETS if mask_text(text) != slowly(mask_text, text)] == []
    clueless = [text for text in _SECRETS if not may_hold_secrets(json.dumps({"text": text}))]
    assert [text for text in clueless if slowly(mask_secrets, {"text": text}) != {"text": text}] == []


@given(_VALUES)
def test_of_structures_neither(value: Any):
    assert mask_secrets(value) == slowly(mask_secrets, value)


@given(_VALUES, st.booleans(), st.booleans(), st.sampled_from([None, 1]))
@example({"u": "https://me:pw1@h/"}, True, True, None)
@example({"token\n": "abc"}, True, False, None)
def test_json_as_it_was_written_has_a_clue_where_what_it_says_has_a_secret(
    value: Any, ascii_only: bool, slashes: bool, indent: int | None
):
    written = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    if slashes:  # as some writers escape them
        written = written.replace("/", "\\/")
    assert may_hold_secrets(written) or slowly(mask_secrets, value) == value


@given(st.lists(_TEXT.map(json.dumps), max_size=6), st.sampled_from(("\n", "", "\nx token=abc1\n")))
@example(['"https://a:b"', '"c@d"', '"https://a:b@c"'], "\n")
def test_records_searched_together_have_the_clues_of_each(records: list[str], between: str):
    parts = [record.encode() for record in records]
    lengths = np.array([len(part) + len(between) for part in parts], np.int64)
    ends = lengths.cumsum() - len(between)
    starts = ends - lengths + len(between)
    found = rows_with_clues(between.encode().join(parts), starts, ends)
    # Values such as `"a"` are too short for a secret.
    assert {row for row in found if len(records[row]) >= 20} == {
        row for row, record in enumerate(records) if len(record) >= 20 and may_hold_secrets(record)
    }


@pytest.mark.parametrize(
    "text",
    ["", "the key of the map", '"key of it all"', "max_tokens is a count", "a secret garden", "https://example.org/a",
     "me@example.org", '{"text":"its keyboard","n":12}', "the password is lost", "Bearer, of news",
     '{"max_tokens": 12, "keys":["a"]}'],
)  # fmt: skip
def test_prose_gives_no_clue(text: str):
    assert possible_rules(text) == 0


def test_a_clue_names_its_rules():
    assert possible_rules("Bearer abc") == SecretRule.BEARER
    assert possible_rules("https://a:b@c") == SecretRule.USER_INFO
    assert possible_rules('"jwt": 1') & SecretRule.KEY
    assert possible_rules("token=abc") == SecretRule.KEY | SecretRule.URL | SecretRule.ASSIGNED


def test_what_was_masked_is_counted_by_rule_and_once():
    tally: Counter[SecretRule] = Counter()
    value = {
        "token": "abc", "keys": {"secrets": ["a", "b", ""]}, "pin": {"password": 12}, "n": 1,
        "text": 'Bearer abc.def, then {"api_key":"xyz"} and ws://h/?token=abc, https://me:pw@h/ PASSWORD=hunter2',
        "more": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig authorization: basic aHVudGVyMg==",
    }  # fmt: skip
    mask_secrets(value, tally)
    assert tally == {
        SecretRule.KEY: 5, SecretRule.BEARER: 1, SecretRule.URL: 1, SecretRule.USER_INFO: 1,
        SecretRule.ASSIGNED: 1, SecretRule.JWT: 1, SecretRule.BASIC: 1,
    }  # fmt: skip
    assert all(rule.words for rule in SecretRule)
    again: Counter[SecretRule] = Counter()
    mask_text(mask_text("see ws://h/?token=abc and Bearer abcdef"), tally=again)
    assert not again


def test_clues_take_linear_time():
    began = thread_time()
    for text in (
        "token" + "\\" * 100_000, "token" * 60_000, 'token"' * 30_000, ":\\" * 100_000 + "@", "eyj" * 60_000,
        "token" + "1" * 100_000, "_pat1" * 30_000, "key'" * 30_000, "-----BEGIN " * 10_000, "xoxb-" * 30_000,
        "token" + '"' * 100_000, "token " * 30_000, "key\\n" * 30_000, "\\" * 100_000 + "u0065",
    ):  # fmt: skip
        possible_rules(text)
    assert thread_time() - began < 6  # quadratic time would be half a minute
