"""No secret shows, in any of the ways in which it stands in real traffic, whatever that is written in again."""

from __future__ import annotations

import json

import pytest

from inspector.protocol.secrets.masking import mask_secrets, mask_text, may_hold_secrets
from tests.unit.protocol.secret_traffic import LOGIN, SECRET, TRAFFIC


@pytest.mark.parametrize("text", TRAFFIC)
def test_what_stands_in_traffic_is_masked(text: str) -> None:
    masked = mask_text(text)
    assert SECRET not in masked
    assert mask_text(masked) == masked
    assert may_hold_secrets(text)
    at_length = mask_text(text, keep_length=True)
    assert len(at_length) == len(text)
    assert SECRET not in at_length


@pytest.mark.parametrize("text", TRAFFIC)
def test_so_it_is_in_json_at_any_depth_and_in_what_python_prints(text: str) -> None:
    content = {"content": [{"type": "text", "text": text}]}
    assert SECRET not in json.dumps(mask_secrets(content))
    written = json.dumps(content)
    for _ in range(3):
        assert SECRET not in mask_text(written)
        assert json.loads(mask_text(written))
        assert may_hold_secrets(written)
        written = json.dumps({"inner": written})
    assert SECRET not in mask_text(repr(text))
    assert SECRET not in mask_text(json.dumps(content, indent=2))


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
