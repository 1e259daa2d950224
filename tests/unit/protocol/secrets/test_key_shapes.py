"""Keys of known services and private keys become dots wherever they stand; names and placeholders stay."""

from __future__ import annotations

import json
from collections import Counter
from time import thread_time

import pytest

from inspector.protocol.secrets.key_shapes import SHAPES, contains_key
from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text, may_hold_secrets
from inspector.protocol.secrets.rule_prefilter import SecretRule
from tests.unit.protocol.secrets.keys import KEYS, PEM

_HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_masked_wherever_it_stands(key: str):
    for around in ("{}", "see {}, thanks", "({})", "a\n{}\nb", "x={}", "`{}`", "url/{}", "%22{}", "%253D{}"):
        text = around.format(key)
        masked = mask_text(text)
        assert key[-8:] not in masked
        assert MASK in masked
        assert mask_text(masked) == masked
        assert key[-8:] not in mask_text(json.dumps({"text": text}))
        assert key[-8:] not in json.dumps(mask_secrets({"text": [text]}))
        assert may_hold_secrets(json.dumps({"text": text}))


def test_every_shape_of_the_table_has_an_example():
    found = {shape.start for shape in SHAPES for key in KEYS if _begins(shape.start, key)}
    assert found == {shape.start for shape in SHAPES}


def _begins(start: str, key: str) -> bool:
    import re

    return re.match(start, key) is not None


@pytest.mark.parametrize(
    "text",
    [
        "npm_install_all_of_the_packages_here", "hf_model_name", "sk-team-planning-2024", "ghp_" + "x" * 36,
        "ASIA is a continent", "AKIA", "xoxb-is-a-name", "glpat-" + "*" * 20, "the sg.example.org host",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "task_0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUY\n-----END CERTIFICATE-----",
        "it begins with -----BEGIN PRIVATE KEY----- and ends so",
        "key-value-store-0123456789", "pul-request-42", "sl.example.org", "dapi" + "x" * 32, "sl.u.name",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f9-us-east-1", "cdn.0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "wandb login", "wandb login --relogin", "echo done | sudo tee -S", "echo $PASSWORD | sudo -S ls",
        "MyVeryLongNameOfAPackage12.module.function_with_a_quite_long_name", "code_challenge=0a1b2c3d4e5f60718293a4b5",
        "MAKIA1234567890ABCDEF", "AKIA1234567890ABCDEFG", "next_page_token=abcdef", "max_tokens=4096",
    ],
)  # fmt: skip
def test_names_and_placeholders_stay(text: str):
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"{_HEX}-us21", _HEX),
        (f"see {_HEX}-us6, thanks", _HEX),
        (f"wandb login {_HEX}0a1b2c3d", _HEX),
        (f"wandb login --relogin --host=x {_HEX}0a1b2c3d", _HEX),
        (json.dumps(["wandb", "login", _HEX + "01234567"]), _HEX),
        ("echo hunter2 | sudo -S apt install x", "hunter2"),
        ("echo 'my pass word' | sudo -S -k ls", "my pass word"),
        (json.dumps({"command": 'echo "hunter2" | sudo -kS ls'}), "hunter2"),
        ("printf '%s\\n' hunter2 | sudo -S ls", "hunter2"),
        ("echo -n hunter2 | sudo --stdin ls", "hunter2"),
        (f"code_verifier={_HEX}", _HEX),
        (f"codeVerifier: {_HEX}", _HEX),
        (f"https://h/t?code_verifier={_HEX}", _HEX),
        (json.dumps({"code_verifier": _HEX}), _HEX),
        (f"Authorization: Bot M{_HEX[:23]}.a1b2c3.{_HEX[:27]}", _HEX[:20]),
    ],
)
def test_keys_without_a_beginning_and_in_commands(text: str, secret: str) -> None:
    for written in (text, json.dumps({"text": text})):
        assert may_hold_secrets(written)
        assert secret not in mask_text(written)
        assert mask_text(mask_text(written)) == mask_text(written)


@pytest.mark.parametrize("text", [PEM, PEM.replace("\n", "\\n"), PEM.replace("\n", "\r\n"), PEM[:120]])
def test_a_private_key_loses_its_body_and_keeps_its_header(text: str):
    masked = mask_text(f"before {text} after")
    assert masked.startswith(f"before -----BEGIN RSA {'PRIVATE'} KEY-----{MASK}")
    assert masked.endswith(" after")
    assert "Ab3d" not in masked
    tally: Counter[SecretRule] = Counter()
    mask_text(text, tally=tally)
    assert tally == {SecretRule.PRIVATE_KEY: 1}


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "DB_PASSWORD", "--password", "AWS_SECRET_ACCESS_KEY", "client-secret"]
)
def test_an_assignment_to_a_longer_name(name: str):
    assert mask_text(f"run {name}=hunter2 now") == f"run {name}={MASK} now"


def test_positions_can_be_kept():
    for key in (*KEYS, PEM):
        masked = mask_text(f"a {key} b", keep_length=True)
        assert len(masked) == len(key) + 4
        assert key[-8:] not in masked or key == PEM


def test_names_that_hold_a_key():
    assert [contains_key(key) for key in ("ghp_abcdefgh", "job/AKIA12345678", "a-glpat-abcdefghijkl12")] == [True] * 3
    assert not any(contains_key(name) for name in ("npm_packages_list", "ask-sk-team-planning", "risk-assessment-2024"))


def test_hostile_text_takes_linear_time():
    began = thread_time()
    for text in (
        "ghp_" * 10_000, "AKIA" * 10_000, "xoxb-" * 10_000, "xoxb-1" * 10_000, "-----BEGIN PRIVATE KEY-----" * 3_000,
        "-----BEGIN PRIVATE KEY-----" + "\\" * 60_000, "-----BEGIN PRIVATE KEY-----" + "\\n" * 30_000,
        "SG." * 20_000, "SG.aaaaaaaaaaaaaaaaa." * 3_000, "sk-" * 20_000 + "1", "_" + "a" * 60_000,
        "glpat-aaaaaaaaaaaaaaaaaaaaaaa." * 2_000, "-----BEGIN " + "A " * 30_000, "hvs." * 10_000, "." * 60_000,
    ):  # fmt: skip
        mask_text(text)
    assert thread_time() - began < 6  # quadratic time would be half a minute
