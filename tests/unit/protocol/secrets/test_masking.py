"""Secrets become dots, in structures and in text; counts and markers stay."""

from __future__ import annotations

import json
from time import thread_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.protocol.secrets.masking import (
    MASK,
    is_secret_key,
    mask_secrets,
    mask_text,
    masked_beginning,
    may_hold_secrets,
)
from tests.planted import BODY, PLANTED, told


@pytest.mark.parametrize(
    "key",
    ["token", "Authorization", "password", "secret", "api_key", "apiKey", "API-KEY", "GITHUB_TOKEN", "accessToken",
     "client_secret", "privateKey", "x-api-key", "passwd", "credentials", "pwd", "pass", "DB_PASS", "cookie",
     "Set-Cookie", "token_1", "token2", "GITHUB_PAT", "SECRET_KEY", "AccountKey", "api key"],
)  # fmt: skip
def test_keys_of_secrets(key: str):
    assert is_secret_key(key)
    assert mask_secrets({"a": [{key: "s3cr3t-value"}]}) == {"a": [{key: MASK}]}
    assert "s3cr3t-value" not in mask_text(json.dumps({key: "s3cr3t-value"}))


@pytest.mark.parametrize("key", ["per_turn_token", "perTurnToken", "max_token", "total_token_2"])
def test_a_number_of_tokens_is_no_secret(key: str):
    assert mask_secrets({key: 5121}) == {key: 5121}
    assert mask_secrets({key: "a7Gh2kLm9QxZ"}) != {key: "a7Gh2kLm9QxZ"}


@pytest.mark.parametrize("key", ["auth_token", "reset_token", "login_token"])
def test_a_number_may_be_a_token(key: str):
    assert mask_secrets({key: 483920}) != {key: 483920}


@pytest.mark.parametrize(
    "key",
    ["tokens", "max_tokens", "progressToken", "nextPageToken", "nextToken", "key", "primary_key", "author", "keyboard",
     "PWD", "user_authorization", "first_pass", "file_pat", "path", "pad_token", "key_2", "sha256", ""],
)  # fmt: skip
def test_keys_of_no_secret(key: str):
    assert not is_secret_key(key)
    value = {key: "plain"}
    assert mask_secrets(value) == value
    assert mask_text(json.dumps(value)) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def-1", f"Authorization: Bearer {MASK}"),
        ("ws://h/?token=abc&space=x", f"ws://h/?token={MASK}&space=x"),
        ("https://me:pw@host/", f"https://me:{MASK}@host/"),
        ("a bearer token is needed", "a bearer token is needed"),
        ('{"password": 12, "token": 3}', f'{{"password": {MASK}, "token": 3}}'),
        ('{"secrets": ["a", "b"], "z": ["c"]}', f'{{"secrets": ["{MASK}", "{MASK}"], "z": ["c"]}}'),
        ('{"token":"ab\\"c\\\\","x":"y"}', f'{{"token":"{MASK}","x":"y"}}'),
        ('{"token":"cut', f'{{"token":"{MASK}'),
        ('{"token":""}', '{"token":""}'),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig", MASK),
    ],
)
def test_text(text: str, masked: str):
    assert mask_text(text) == masked


def test_json_inside_json_is_masked_at_any_depth():
    inner = json.dumps({"token": 'x"y\\', "deeper": json.dumps({"api_key": "zzz", "n": 1})})
    masked = mask_text(json.dumps({"text": inner}))
    assert json.loads(json.loads(json.loads(masked)["text"])["deeper"]) == {"api_key": MASK, "n": 1}
    assert json.loads(json.loads(masked)["text"])["token"] == MASK


def test_a_schema_that_describes_a_token_stays():
    schema = {"properties": {"token": {"type": "string", "description": "yours"}}}
    assert mask_secrets(schema) == schema


def test_positions_can_be_kept():
    text = '{"token": "abc", "url": "ws://h?token=x1", "x": "Bearer abcd"}'
    masked = mask_text(text, keep_length=True)
    assert len(masked) == len(text)
    assert "abc" not in masked


def test_text_without_secrets_is_the_same_object():
    text = "nothing to see " * 100
    assert mask_text(text) is text


def test_plain_values_keep_their_types_and_order():
    value = {"b": 1, "a": [True, None, 2.5, "x"], "c": {"d": {}}}
    assert mask_secrets(value) == value
    assert list(mask_secrets(value)) == ["b", "a", "c"]


@given(st.text(min_size=1), st.integers(0, 3))
def test_whatever_the_secret_is_its_json_stays_json_and_loses_it(secret: str, depth: int):
    text = json.dumps({"before": 1, "token": secret, "after": "kept"})
    for _ in range(depth):
        text = json.dumps({"inner": text})
    found = mask_text(text)
    for _ in range(depth):
        found = json.loads(found)["inner"]
    assert json.loads(found) == {"before": 1, "token": MASK, "after": "kept"}


@given(st.text(min_size=1), st.integers(1, 3), st.integers(0, 40))
@example("hunter", 1, 0)
@example("a\\", 1, 0)
def test_json_around_a_cut_inner_text_stays_json(secret: str, depth: int, left_out: int):
    secret = f"Zq7{secret}"
    value: Any = json.dumps({"before": 1, "password": secret, "more": "x" * 40})
    value = value[: value.index("Zq7") + len(json.dumps(secret)) - 2 + 40 - left_out]  # within the secret or behind it
    for _ in range(depth):
        value = json.dumps({"delta": {"partial_json": value}, "behind": "kept"})
    shown = mask_text(value)
    assert "Zq7" not in shown
    for _ in range(depth):
        shown = json.loads(shown)
        assert shown["behind"] == "kept"
        shown = shown["delta"]["partial_json"]


@given(st.text())
def test_any_text_is_taken(text: str):
    assert isinstance(mask_text(text), str)
    assert isinstance(mask_text(f'"token": "{text}'), str)


def test_hostile_text_takes_linear_time():
    started = thread_time()
    mask_text('"token":' * 10_000)
    mask_text("\\" * 30_000 + '"token":"')
    mask_text('"' + "token" * 6_000)
    mask_text("a.token" * 10_000)
    mask_text("eyJ" + "aaaaaaaa." * 10_000)
    mask_text("eyJaaaaaaaa-" * 10_000)
    mask_text('"token"' + " " * 60_000)
    assert thread_time() - started < 6  # quadratic time would be half a minute


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("token=hunter2 next", f"token={MASK} next"),
        ("API_KEY=kk99-x", f"API_KEY={MASK}"),
        ("Authorization: Basic aHVudGVyMg==", f"Authorization: Basic {MASK}"),
        ('"tok\\u0065n":"hunter2"', f'"tok\\u0065n":"{MASK}"'),
        ('"token":' + " " * 70 + '"hunter2"', '"token":' + " " * 70 + f'"{MASK}"'),
        ("a broken token = is prose", "a broken token = is prose"),
    ],
    ids=["assigned", "key", "basic", "escaped-key", "far-apart", "prose"],
)
def test_secrets_outside_of_tidy_json(text: str, masked: str):
    assert mask_text(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("sk-ant-api03-AbCdEfGhIjKlMnOp0123", f"sk-{MASK}"),
        ("sk\\u002dant-api03-AbCdEfGhIjKlMnOp0123", f"sk-{MASK}"),
        ('"a\\nsk-ant-api03-AbCdEfGhIjKlMnOp0123"', f'"a\\nsk-{MASK}"'),
        ("Bearer\\u0020abc.def", f"Bearer {MASK}"),
        ("Bearer abc\\u002ddef", f"Bearer {MASK}"),
        ("task-1-of-the-long-hyphenated-name-2", "task-1-of-the-long-hyphenated-name-2"),
        ("sk-team-of-the-far-north", "sk-team-of-the-far-north"),
        ("Bearer\\u0020of the\\u002d", "Bearer\\u0020of the\\u002d"),
    ],
)
def test_keys_known_by_their_beginning_and_secrets_behind_escapes(text: str, masked: str):
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


def test_positions_stay_where_escapes_were():
    assert (
        mask_text("a\\u0041 Bearer\\u0020ab\\u002dc d", keep_length=True) == "a\\u0041 Bearer\\u0020" + "•" * 9 + " d"
    )


@given(
    st.characters(min_codepoint=0x80, exclude_categories=()) | st.sampled_from("\n\t\r\b\f\0\x1b'(,"),
    st.sampled_from(PLANTED),
    st.lists(st.tuples(st.booleans(), st.booleans()), max_size=4),
)
@example("\u2019", f"API_KEY={BODY}", [(True, True)] * 2)
@example("\u201c", "ghp_" + "Ab3dEf6hIj9kLm2nOp5q", [(True, True)] * 2)
@example("\u00e9", f"Bearer {BODY}", [])
@example("\u017f", f"Bearer {BODY}", [])
@example("\n", f"token={BODY}", [(True, True)])
def test_no_escape_before_a_secret_hides_it_however_deep(
    before: str, secret: str, written: list[tuple[bool, bool]]
) -> None:
    text = before + secret
    for ascii_only, in_object in written:
        text = json.dumps({"text": text} if in_object else text, ensure_ascii=ascii_only)
    assert told(secret) not in mask_text(text)
    assert told(secret) not in mask_text(text, keep_length=True)
    assert mask_text(mask_text(text)) == mask_text(text)
    assert may_hold_secrets(text)


@pytest.mark.parametrize(
    "before", ["\x1b[31m", "\x1b[1;31m", "\x1b[0;38;5;196m", "\x1b[K", "%20", "\\xe9", "\\u001b[31m"]
)
def test_neither_does_a_colour_or_an_escape_of_another_sort(before: str) -> None:
    for secret in PLANTED:
        assert told(secret) not in mask_text(before + secret)


def test_keys_that_are_secrets_are_masked_and_stay_distinct():
    first, second = "ghp_" + "Ab3dEf6hIj9kLm2nOp5q", "ghp_" + "Zz3dEf6hIj9kLm2nOp5q"
    value = {"ghp_••••••••": 0, first: 1, "a": [{second: {"token": "x"}}], second: 2, "b": 3, f"token={BODY}": "c"}
    masked = mask_secrets(value)
    assert list(masked.items()) == [
        ("ghp_••••••••", 0), ("ghp_•••••••• (2)", 1), ("a", [{"ghp_••••••••": {"token": MASK}}]),
        ("ghp_•••••••• (3)", 2), ("b", 3), (f"token={MASK}", "c"),
    ]  # fmt: skip
    assert mask_secrets({"x" * 300 + " " + first: 1}) == {"x" * 300 + f" ghp_{MASK}": 1}


def test_a_secret_in_an_object_under_its_key():
    schema = {"token": {"type": "string", "description": "yours"}}
    assert mask_secrets(schema) == schema
    value = {"token": {"type": "string", "value": "abcd"}, "value": "efgh", "password": {"raw": ["abcd"], "n": 1}}
    assert mask_secrets(value)["token"] == {"type": "string", "value": MASK}
    assert mask_secrets(value)["value"] == "efgh"
    assert json.loads(mask_text(json.dumps(value)))["token"] == {"type": "string", "value": MASK}


@pytest.mark.parametrize(
    "text",
    ["sk-learn-model-20240101abcdef", "desk-sk-2024-planningmeeting1", "?page_token=abcdef", "?cursor_token=abcdef"],
)
def test_names_that_look_like_keys_stay(text: str):
    assert mask_text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"name": "API_KEY", "value": "s3cr3t"},
        {"value": "s3cr3t", "isSecret": True, "name": "GITHUB_TOKEN"},
        {"key": "X-Api-Key", "type": "text", "value": 's3 "cr3t"'},
        [{"Name": "Authorization", "Value": "Custom s3cr3t"}, {"name": "LEVEL", "value": "debug"}],
        {"name": "mine", "key": "password", "value": "s3cr3t"},
        {"value": "s3cr3t", "key": "mine", "name": "API_KEY"},
        [{"NAME": "API_KEY", "VALUE": "s3cr3t"}, {"KEY": "LEVEL", "VALUE": "debug"}],
        {"name": "API_KEY", "from": {"a": [{}, "}"]}, "note": "{}}{ and [", "value": "s3cr3t"},
        {"value": "s3cr3t", "from": {"a": {"b": []}}, "note": "}{", "name": "API_KEY"},
        {"name": "API_KEY", "description": "so far " * 200, "value": "s3cr3t"},
        {"value": "s3cr3t", "description": 'so "far" ' * 200, "name": "API_KEY"},
        {"name": "API_KEY", "value": ["s3cr3t", "s3 more"], "n": [1, {"value": "kept"}]},
        {"value": {"type": "x", "value": "s3cr3t"}, "name": "API_KEY"},
        {"ParameterKey": "DbPassword", "ParameterValue": "s3cr3t", "UsePreviousValue": False},
        {"tags": [{"Key": "team", "Value": "blue"}, {"Key": "auth-token", "Value": "s3cr3t"}]},
        {
            "env": [
                {"name": "A", "value": "kept"},
                {"name": "B_TOKEN", "value": "s3cr3t"},
                {"name": "C", "value": "kept"},
            ]
        },
        {"label": "Password:", "value": "s3cr3t"},
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_values_of_named_things(value: Any, depth: int):
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"text": text})
    masked = mask_text(text)
    for _ in range(depth):
        masked = json.loads(masked)["text"]
    assert json.loads(masked) == mask_secrets(value)
    assert "s3" not in masked
    assert may_hold_secrets(text)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "MAX_TOKENS", "value": "12"}, {"name": "token", "value": 12}, {"name": "token", "value": ""},
        {"name": "color", "value": "token"}, {"name": "API_KEY", "type": "string", "description": "yours"},
        [{"name": "API_KEY"}, {"value": "kept"}], {"name": "Build", "key": "build-7", "value": "green"},
    ],
)  # fmt: skip
def test_values_of_other_things_stay(value: Any):
    assert mask_secrets(value) == value
    assert mask_text(json.dumps(value)) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://b.example/c?sv=2022&sig=aB%2Bcd%3D&se=2026", f"https://b.example/c?sv=2022&sig={MASK}&se=2026"),
        ("https://s3/x?X-Amz-Signature=0a1b2c#end", f"https://s3/x?X-Amz-Signature={MASK}#end"),
        (
            "/v1beta/models/g:generateContent?alt=sse&key=Ab3dEf6hIj9kLm2nOp5qRs8t",
            f"/v1beta/models/g:generateContent?alt=sse&key={MASK}",
        ),
        ("https://h/?key=0a1b2c3d4e5f60718293a4b5&q=x", f"https://h/?key={MASK}&q=x"),
        ("%3Fkey%3DAb3dEf6hIj9kLm2nOp5qRs8t", f"%3Fkey%3D{MASK}"),
        ("https://0123456789abcdef0123@host/x.git", f"https://{MASK}@host/x.git"),
        ("git+https:\\/\\/abcdefghij_klmnop-4@host", f"git+https:\\/\\/{MASK}@host"),
        ('Authorization: Digest username="me", realm="a b", response="0a", qop=auth', f"Authorization: Digest {MASK}"),
        ('"Authorization: Digest username=\\"me\\", response=\\"0a\\""', f'"Authorization: Digest {MASK}"'),
    ],
    ids=["sas", "s3", "google", "hex", "encoded", "user", "escaped", "digest", "digest-in-json"],
)
def test_secrets_in_addresses_and_headers(text: str, masked: str):
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    ["https://example.org/?design=new&config=3", "https://git@github.com/x", "https://some-organisation-name@dev.azure.com/x",
     "?key=PROJ-1234", "?list-type=2&key=logs%2F2024-01-01%2Fapp.log", "?key=Report-Final-2024-v2.pdf",
     "?key=user:12345:profile",
     "?key=2024-01-01T10-00-00Z-abcdef", "?key=YOUR_API_KEY_HERE_1234567890", "&key=session_timeout_minutes_30",
     "ssh://0123456789abcdef0123@host", "https://example.org/0123456789abcdef0123@2.0", "the design= of it",
     "Authorization: Digest access is old"],
)  # fmt: skip
def test_addresses_and_headers_without_secrets_stay(text: str):
    assert mask_text(text) == text


def test_pairs_that_python_printed():
    value = [
        {"name": "API_KEY", "more": {"a": "it's"}, "value": "s3cr3t"},
        {"value": ["s3"], "key": "TOKEN"},
        {"value": 1},
    ]
    for text in (repr(value), json.dumps(repr(value)), f"said {value} and more"):
        masked = mask_text(text)
        assert "s3" not in masked
        assert "it's" in masked


def test_pairs_in_what_is_cut_or_stands_among_other_text():
    for text in (
        '"note": "a 5" disk", {"name": "API_KEY", "more": {"x": 1}, "value": "s3cr3t',
        'he said 5" and {"name": "API_KEY", "more": {}, "value": "s3cr3t"} is "one',
        'ut off"}, "value": "s3cr3t", "more": {"x": []}, "name": "API_KEY"}, {"value": "kept"',
    ):
        assert "s3" not in mask_text(text)
        assert text.count("kept") == mask_text(text).count("kept")


@pytest.mark.parametrize(
    "value",
    [
        {"required": ["token", "space"], "more": ["password", "login_name2"]},
        {"tokens": ["Hello", " world", "!"]}, {"tokens": {"input": "12", "output": "7"}}, {"api_keys": 3},
        ["--token-file", "a1b2c3.txt"], ["--verbose", "hunter2"], ["--token", "--verbose"], ["--token", "<token>"],
        ["--api-key", "api_key"], {"auth": "basic"}, {"auth": "aGVsbG8gd29ybGQ="}, [{"name": "A"}, {"value": "b1"}],
        {"name": "API_KEY", "default": "x1"}, {"id": "keyboard", "value": "qwerty1"}, {"value": 3, "key": "secrets"},
    ],
)  # fmt: skip
def test_what_only_looks_like_many_secrets_or_a_pair_stays(value: Any):
    assert mask_secrets(value) == value
    assert mask_text(json.dumps(value)) == json.dumps(value)
    assert mask_text(repr(value)) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "use --token to set it", "--password is required", "--token TOKEN --api-key <key>", "--password $PASSWORD",
        "curl -u $USER:", "docker run -p 8080:80 x", "a basic understanding of it", "Basic QUJDREVGR0hJSktM",
        "the password is required", "the token is valid until 2026-11-22", "key -> value",
        "password: |\n  long words here", "key: value1",
        "tokens:\n  - word\n  - another", "tokens: [1, 2, 3]", "keys:\n  - a1b2c3d4e5f6a7b8c9",
        "https://h/?state=abc1&code=12",
        "http://h:4873/@scope/pkg", "http://localhost:8080/@user", "<token>text</token>",
        "- name: LEVEL\n  value: debug1",
        "name: token\nvalue: 12", "the cookie: it is sweet", "Authorization: see chapter 12", "bearer: of news",
        '<input type="password" placeholder="Password" name="p1">', '<input name="token" value="{{ token1 }}">',
        '<input data-x="a>b" type="text" value="hello12">', '<input type="text" value="a>b" title="type=password">',
        '<string name="password">Password</string>', '<li value="1" id="token">one</li>',
        '<key>Name</key><string>ab12cd</string>',
        'form-data; name="file"; filename="a1.txt"\r\n\r\nsome text 12', "setx PATH C:\\\\tools1", "setx API_KEY %KEY%",
        "set -x TOKEN $1", "set --export TOKEN $1",
        "gh secret set API_KEY --repo a/b1", "gh secret set API_KEY --repo a/b1 --body $KEY",
        "set -x; API_KEY", "| token | varchar(32) |", "| password | string | required |",
        "file:///c%3A/Users/me/a1.py", "https://h/?q=%22exact%20phrase1%22&key%3Dvalue", "it&#39;s a token&#39;s life",
        "%7B%22max_tokens%22%3A%2212%22%7D", "token%3A%20str", "&lt;token&gt; is 12", 'setenv("TOKEN", "$TOKEN", 1)',
        'define("token", "token")', 'data["name"] = "abc12345"',
        "token,pos,lemma\ncovid19,NOUN,covid19\n", "pass,fail,total\n10,2,12\n", "user,token,age\nme,a1b2c3d4e5f6\n",
        "name,password\nme,required\n", "a, password, b\nc, hunter2secret1, d\n", "token,space\n\nhunter2secret1,x\n",
        "| field | password |\n|---|---|\n| type | varchar |\n", "token: !!int 12", "password: !Ref DbPassword",
        "| Setting | Password |\n|---|---|\n| admin | disabled |\n| min | min_length=8 |\n| type | CharField |",
        "email,username,password\nfirst,last,country\n", "login,forgot password\nhome,contact-us\n",
        "| Feature | Session cookie |\n|---|---|\n| Lifetime | 30minutes1 |", "| a | Password |\n| b | 30minutes1 |\n",
        "Input token,Output token\nclaude-opus-4,claude-opus-5\n", "line,token\n1,string_literal_with_escapes_2\n",
        "| Method | Password |\n|---|---|\n| a | argon2id-hashed |\n| b | Utf8String |\n| c | 2024-01-01T00:00 |",
        "id,secret\n1,https://docs.example.com/page1\n2,src/secrets_v2.py\n", "user,password\nme,me1@example.com\n",
        "| Column | Api key |\n|---|---|\n| type | varchar(255) |\n", "a,secret\nb,X25519StaticSecretKey\n",
        "password: !Ref DbPassword1", "password: !GetAtt Secret1.Value2", "password: !ImportValue Stack1-Password",
        "fn f(secret_key: &mut Ed25519Key, password: &mut Utf8String)",
        '<input type="password" value="<password1>">', 'form-data; name="note"\r\n\r\nab12\r\ncd34\r\n--B',
        "ENV PATH /usr/bin1", "git config set user.name abc1", "mysql -P 3306 -u me", "https://me@h/a:b@c",
    ],
)  # fmt: skip
def test_prose_commands_and_files_without_secrets_stay(text: str):
    assert mask_text(text) == text


@pytest.mark.parametrize("header", ["größe,password", "用户,password", "⭐,password"])
def test_a_column_with_letters_of_any_script_hides_no_secret(header: str) -> None:
    assert "hunter2" not in mask_text(f"{header}\nx,hunter2secret\n")


def test_hostile_lines_take_linear_time():
    started = thread_time()
    for text in (
        '{"name":"API_KEY","x":' * 3_000 + '"value":"s"', '"name":"API_KEY","value":' + "[" * 30_000,
        "'name':'API_KEY','value':\"" * 3_000, '["--token",' * 6_000, "[" + "\\n" * 30_000, "--token " * 6_000,
        "curl -u " * 6_000, "login a\\n" * 6_000 + "password ", 'authorization: hawk a="' * 3_000,
        "cookie: a=b; " * 6_000, "basic " + "QUJD" * 10_000, "%26token%3D" * 6_000, "://a:" + "b/" * 10_000 + "@",
        "hooks.slack.com/services/" * 3_000, "eyJaaaaaaaa.." + "a." * 10_000, "tokens: [" + "a," * 10_000,
        "name: API_KEY value: " * 3_000, "token is " * 6_000, "password is " + "a" * 30_000, "<token>" * 6_000,
        '"tokens":{"a":"b",' * 3_000, "-----BEGIN PRIVATE KEY-----" + '\\"' * 30_000, "value: " + "key " * 6_000,
        '"cookies":[{"value":"a"}' + ',{"value":"a"}' * 3_000, "-a_" * 10_000, "auth=" + "." * 30_000,
        "api_tokens: [" + "\n" * 64 + ",", "api_tokens: [" + "\r\n" * 30_000,
        "-----BEGIN PRIVATE KEY-----" + "Version: " * 50, "token%22%3A" * 6_000, "token%3D%2525252522" * 3_000,
        "&quot;token&quot;:" * 6_000, "&amp;" * 30_000 + "token&quot;", "token&amp;" * 9_000 + "quot;",
        "token%22:%22aaaa1" * 20_000, "token%3A" + "a" * 60_000, '<input type="' * 6_000, '<input type="a" ' * 6_000,
        '<input a="' + "".join("=" + "\\" * (64 - n) + '"' for n in range(64)) * 60 + ">",
        '<input type="<' * 6_000, '<input "="<a"' * 6_000,
        "form-data; name=token\\n\\n" * 3_000, "form-data; name=token\nA: " * 3_000,
        ("form-data; name=p" * 14 + "\r\nA:") * 1_000, ("form-data; name=p" + '\\"' * 120 + "\nA:") * 1_000,
        "password: correcthorse\n" * 3_000, "-" * 60 + "password: correcthorse" + "\\" * 30_000,
        "setx API_KEY " * 6_000, "secret set --a" + " --b c" * 20_000, "secret set -a b " * 6_000, "set -x " * 10_000,
        ("secret set" + " --repo a/b" * 4 + " TOKEN" + " --env a/b" * 4) * 1_000, "set" + " --export" * 12_000,
        "token,a\n" * 20_000, "token,a," * 20_000, '"token,' * 20_000, "|token|a" * 20_000,
        "user,token\n" + "a,b\n" * 30_000,
        "user,token\n" + 'a,"b""c""\n' * 20_000, "a,token\n" + 'a,"' + '""' * 60_000, "+token|#" * 20_000,
        "1\ttoken,a\n" * 20_000, "user,password\na," + "a1-" * 40_000, "user,password\\na," + "\\" * 90_000,
        "|token|a|\n" + "-|" * 60_000, "password: !a " * 10_000, "password: |\n" + "  abc123\n" * 10_000,
        'form-data; name="token"\n\n' + "abc\n" * 30_000 + "--", "token%26quot%3B" * 9_000,
        'form-data; name=token; filename="' * 4_000,
        'setenv("TOKEN","' * 3_000, "| token " * 6_000, "<key>token</key>" * 3_000, 'key"]=' * 6_000,
    ):  # fmt: skip
        mask_text(text)
    assert thread_time() - started < 13  # quadratic time would be half a minute


@pytest.mark.parametrize("quote", ["%22", "&quot;"])
@pytest.mark.parametrize("before", [65_480, 65_520, 65_530, 131_040, 131_060, 196_590])
def test_a_secret_far_in_encoded_text_is_masked_whole(quote: str, before: int):
    secret = f"{quote}token{quote}:{quote}"
    text = f"{quote}{'a' * before}{secret}Zq7SecretValue9x{quote},{'b' * 80_000}{secret}Zq7SecretValue9x{quote}"
    masked = f"{quote}{'a' * before}{secret}{MASK}{quote},{'b' * 80_000}{secret}{MASK}{quote}"
    assert mask_text(text) == masked


@pytest.mark.parametrize("end", ["\r\n", "\n", "\\r\\n", "\\\\n"])
def test_a_field_has_its_value_after_several_empty_lines(end: str):
    field = f'--B{end}Content-Disposition: form-data; name="password"{end}'
    assert mask_text(f"{field}{end}{end}hunter2{end}--B--") == f"{field}{end}{end}{MASK}{end}--B--"
    assert mask_text(f"{field} {end}\t{end}hunter2{end}--B--") == f"{field} {end}\t{end}{MASK}{end}--B--"
    empty = f'{field}{end}{end}--B{end}Content-Disposition: form-data; name="a"{end}{end}hello12{end}--B--'
    assert mask_text(empty) == empty


def test_hostile_pairs_take_linear_time():
    started = thread_time()
    for text in (
        '"name":"API_KEY","value":' * 6_000, '"value":"' * 10_000 + '"name":"API_KEY"',
        '\\"value\\":\\"token' * 10_000,
        "authorization: digest " + "a=b," * 30_000, "authorization: digest a=\"" * 6_000, "https://" + "a1" * 60_000,
        "https://a1" * 10_000 + "@", "?sig" * 30_000 + "=", '"name":"' * 10_000 + '"value"',
    ):  # fmt: skip
        mask_text(text)
    assert thread_time() - started < 10  # quadratic time would be half a minute


@pytest.mark.parametrize("cut", [8, 20, 40])
def test_a_beginning_shows_no_part_of_a_secret(cut: int) -> None:
    secret = next(one for one in PLANTED if one.startswith("dop_v1_"))
    shown = masked_beginning(f"{'x' * 100} {secret}", 101 + cut)
    assert secret[7:12] not in shown
    assert len(shown) <= 101 + cut
