"""What is given to a name of a secret is masked; types, other names, markers and prose stay."""

from __future__ import annotations

import json
from time import thread_time

import pytest

from inspector.protocol.secrets.masking import MASK, mask_text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password="hunter2hunter2"', f'password="{MASK}"'),
        ('password="correct horse battery" x', f'password="{MASK}" x'),
        ("API_KEY='abcdef0123'", f"API_KEY='{MASK}'"),
        ("aws_secret_access_key = wJalr7UtnFEMI/K7MDENG", f"aws_secret_access_key = {MASK}"),
        ("X-API-Key: abcdef0123456789", f"X-API-Key: {MASK}"),
        ("x-api-key:\tabcdef0123", f"x-api-key:\t{MASK}"),
        ("Authorization: Token abcdef0123", f"Authorization: Token {MASK}"),
        ("Authorization: abcdef0123", f"Authorization: {MASK}"),
        ("Cookie: session=abcdef0123456", f"Cookie: {MASK}"),
        ("password: hunter2", f"password: {MASK}"),
        ('Password: "hunter"', f'Password: "{MASK}"'),
        ("Password: 12345", f"Password: {MASK}"),
        ("PASSWORD = hunter2", f"PASSWORD = {MASK}"),
        ("{'token': 'abcdefgh', 'n': 1}", f"{{'token': '{MASK}', 'n': 1}}"),
        ("{token: 'abcdefgh'}", f"{{token: '{MASK}'}}"),
        ("accessToken=abcdefgh", f"accessToken={MASK}"),
        ("DB_PWD=hunter2 --pass=hunter2", f"DB_PWD={MASK} --pass={MASK}"),
        ("GITHUB_PAT=abcdefgh", f"GITHUB_PAT={MASK}"),
        ("token_1=abcdefgh", f"token_1={MASK}"),
        ("AccountKey=abcd1234==", f"AccountKey={MASK}"),
        ('password="cut off', f'password="{MASK} off'),
        ("token := abcdef12", f"token := {MASK}"),
        ("\\npassword='hunter2'", f"\\npassword='{MASK}'"),
        ("\\token=hunter2", f"\\token={MASK}"),
        ("\x1b[31mtoken=hunter2", f"\x1b[31mtoken={MASK}"),
    ],
)
def test_what_is_given_is_masked(text: str, masked: str):
    assert mask_text(text) == masked
    assert mask_text(masked) == masked
    inner = masked
    for _ in range(3):  # as JSON the same, at any depth
        text, inner = json.dumps({"text": text}), json.dumps({"text": inner}, ensure_ascii=False)
        assert "hunter" not in mask_text(text)
        assert json.loads(mask_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "token=int", "password=None", "secret=True,", "if token==None", 'if token == "abc"', "access_key=self.key",
        "GITHUB_TOKEN=$GITHUB_TOKEN", "--token=${TOKEN}", "token=$(cat file)", "token=${{ secrets.T1 }}",
        "cursor_token=abc", "sync_token=abcdef", "pad_token=[PAD]", "start_token=abcdef", "next_token=abcdef",
        "token=len(x)", "csrf_token=xxxx", "token=token", "password=password",
        "cookies=cookies, x", "f(user_password=password)", "credentials = base64.b64encode(x)", 'Token: "#ddd0c0"',
        "token = (0, 1)", 'token="severity.error"', "API_KEY = 128", "max_secret: 12345", "key=value", "monkey=banana",
        "Password: required", "password: string;", "token: string | null", "a broken token = is prose", "token: 12345",
        'api_key = os.environ["KEY1"]', "password = getpass()", "apiKey: process.env.API_KEY_2", "secret: no",
        "the token: a thing", "PWD=/home/me", "max_tokens=4096", "tokens: 1,234",
        '{"ask":"password: ","then":"abcdef1"}', '{"ask":"PASSWORD=","then":"abcdef1"}', '["token=", "abc1"]',
        '{"ask":"Password: "}, {"ask":"abcdef1"}', '{"token": null, "secret": true}',
    ],
)  # fmt: skip
def test_code_markers_and_prose_stay(text: str):
    assert mask_text(text) == text


def test_hostile_text_takes_linear_time():
    began = thread_time()
    for text in (
        "token=" * 10_000, "token='" * 10_000, "token=" + "\\" * 60_000, 'token="' + "a" * 60_000, "_pat" * 10_000,
        "token" + " " * 60_000, "token= " * 10_000, "a" * 60_000 + "token=x", 'token=\\"a' * 10_000,
        "-token=" * 10_000,
        '"token": {' * 10_000, '"token":{"' * 10_000, "://" * 20_000 + "@", "token_1" * 10_000,
    ):  # fmt: skip
        mask_text(text)
    assert thread_time() - began < 10  # quadratic time would be half a minute
