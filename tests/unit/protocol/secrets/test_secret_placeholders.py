"""What people write where a secret belongs is no secret in clear; what only looks a little like it is one."""

from __future__ import annotations

import pytest

from inspector.analysis.findings.secrets import first_secret_path
from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.secrets.secret_placeholders import is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "GITHUB_TOKEN=ghp_xxx node index.js", "OPENAI_API_KEY=your_api_key_here", "OPENAI_API_KEY=sk-...",
        "ANTHROPIC_API_KEY=sk-ant-xxxxx", "password: 'changeme'", "JWT_SECRET=change-me-in-production", "API_KEY=test",
        "Authorization: Bearer YOUR_TOKEN", "postgres://user:password@localhost/db", "AKIAIOSFODNN7EXAMPLE",
        "scheme: bearer\n  bearerFormat: JWT", "timeToFirstToken : 2123ms", "time_to_first_token=2123",
        "const STORAGE_KEY = 'board-filters'", '<ThemeProvider storageKey="vite-ui-theme">', '{"storageKey": "theme"}',
    ],
)  # fmt: skip
def test_no_secret(text: str) -> None:
    assert first_secret_path(text, mask_secrets(text), "text") == ""


def test_the_state_of_a_request_is_no_secret_of_anybody() -> None:
    for key, where in (("requestState", ""), ("state", "state")):
        held = {key: "eyJsb2NhdGlvbiI6Ik5ldyBZb3JrIn0.eyJhIjoxfQ.c2ln"}
        assert first_secret_path(held, mask_secrets(held), "") == where


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter2", "TOKEN=abc123", "password=my-dog-rex", "password=testing123",
        "OPENAI_API_KEY=sk-proj-abcDEF1234567890abcdEFGH", "storage_key=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
        "API_KEY=your_api_key_here TOKEN=abc123", "Authorization: Bearer\n  abcDEF123456", "access_token=abc123def",
    ],
)  # fmt: skip
def test_a_secret(text: str) -> None:
    assert first_secret_path(text, mask_secrets(text), "text") == "text"


@pytest.mark.timeout(5)
@pytest.mark.parametrize("text", ["x" * 59 + "!", "your" + "a" * 55 + "1", "test" + "a" * 55 + "1", "xxx_" * 14 + "1"])
def test_it_is_told_at_once(text: str) -> None:
    assert not is_placeholder(text)
