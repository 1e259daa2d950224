"""Names are told from what chance makes of letters."""

from __future__ import annotations

import random
import string

import pytest

from inspector.tap.command_words import looks_secret


@pytest.mark.parametrize(
    "name",
    [
        "mcp-server-git", "mcp-remote", "server-filesystem", "sequentialthinking", "mcp-server-postgres", "postgresql",
        "kubernetes", "playwright", "duckduckgo-mcp-server", "http.server", "mcp_server_sqlite", "langchain",
        "youtube-transcript", "MyServer", "records-server", "@modelcontextprotocol/server-everything", "xcodebuildmcp",
        "browserstack", "fastmcp", "git", "",
    ],
)  # fmt: skip
def test_names(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    "secret",
    ["xkqjzvwpmtrhbn", "aGhKzQwXvBnTrLp", "ghp_abc", "hf_token", "AKIAabcdefghijkl", "my-secret", "Password",
     "the" * 9, "qzx-wvk-jhq-pfw"],
)  # fmt: skip
def test_secrets(secret: str) -> None:
    assert looks_secret(secret)


@pytest.mark.parametrize("letters", [string.ascii_lowercase, string.ascii_letters])
def test_of_a_thousand_random_words_nearly_all_are_found(letters: str) -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices(letters, k=16)) for _ in range(1000)]
    assert sum(map(looks_secret, words)) > 980
