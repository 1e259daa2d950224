"""No secret shows, in any of the ways in which it stands in real traffic, whatever that is written in again."""

from __future__ import annotations

import json

import pytest

from inspector.protocol.secrets.masking import mask_secrets, mask_text, may_hold_secrets
from tests.unit.protocol.secrets.secret_traffic import LOGIN, SECRET, TRAFFIC


def test_what_stands_in_traffic_is_masked() -> None:
    def is_masked(text: str) -> bool:
        masked, at_length = mask_text(text), mask_text(text, keep_length=True)
        hidden = SECRET not in masked and SECRET not in at_length and may_hold_secrets(text)
        return hidden and mask_text(masked) == masked and len(at_length) == len(text)

    assert [text for text in TRAFFIC if not is_masked(text)] == []


def test_so_it_is_in_json_at_any_depth_and_in_what_python_prints() -> None:
    def is_masked(text: str) -> bool:
        content = {"content": [{"type": "text", "text": text}]}
        written = json.dumps(content)
        nested = [written, inner := json.dumps({"inner": written}), json.dumps({"inner": inner})]
        masked = [mask_text(one) for one in (*nested, repr(text), json.dumps(content, indent=2))]
        hidden = all(SECRET not in one for one in (*masked, json.dumps(mask_secrets(content))))
        return hidden and all(map(json.loads, masked[:3])) and all(map(may_hold_secrets, nested))

    assert [text for text in TRAFFIC if not is_masked(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        f"Basic {LOGIN}",
        f"Authorization: Basic {LOGIN}",
        f"_auth={LOGIN}",
        f'{{"auths": {{"r": {{"auth": "{LOGIN}"}}}}}}',
    ],
)
def test_a_name_and_a_password_in_base64(text: str) -> None:
    assert LOGIN not in mask_text(text)
    assert LOGIN not in mask_text(json.dumps(text))
    if text.startswith("{"):
        assert LOGIN not in json.dumps(mask_secrets(json.loads(text)))


_SETTINGS = (
    "password: correcthorse", "db:\n  user: me\n  password: correcthorse\n  port: 1\n", "- passphrase: correcthorse\n",
    "DB_PASSWORD: correcthorse", "aPassword: correcthorse\r\nb: 1", "a.passwd: correcthorse", "+password: correcthorse",
    "     2\u2192  password: correcthorse\n", "     2\tpassword: correcthorse\n",
)  # fmt: skip
_NO_PASSWORDS = (
    "password: string", "  password: required\n", "Password: hidden", "password: PasswordField", "password = plaintext",
    "the password: correcthorse", "Password: incorrect", "password: attribute", "{ password: something }",
    "password: correct horse", "newPassword: testpassword", "password: confidential", "password: plaintext\n}",
)  # fmt: skip


@pytest.mark.parametrize("text", _SETTINGS)
def test_a_password_of_letters_on_a_line_of_settings(text: str) -> None:
    for written in (text, json.dumps(text), json.dumps({"text": json.dumps(text)})):
        assert "correct" not in mask_text(written)
        assert len(mask_text(written, keep_length=True)) == len(written)


@pytest.mark.parametrize("text", _NO_PASSWORDS)
def test_words_and_names_after_a_password_stay(text: str) -> None:
    assert mask_text(text) == text
