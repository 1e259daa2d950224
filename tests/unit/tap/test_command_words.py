"""What of a server's command line stands in a capture: names, never values."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.tap import command_words
from inspector.tap.command_words import shown_command

_UUID = "550e8400-e29b-41d4-a716-446655440000"


@given(st.from_regex(command_words._PLAIN, fullmatch=True))
def test_plain_names_need_no_look_for_secrets(name: str) -> None:
    assert re.search(r"[^\w./@-]", name) is not None or mask_text(name) == name


def test_a_usual_command_is_shown_without_the_rules_for_secrets() -> None:
    """They take longer to import than a server takes to answer."""
    code = (
        "import sys; from inspector.tap.command_words import shown_command as shown;"
        "print(shown(['npx', '-y', '@example/records-server', '--port', '80']));"
        "print('inspector.protocol.secrets.masking' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"['npx', '-y', '@example/records-server', '--port', '{MASK}']\nFalse\n"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("npx -y @scope/server-git@latest", "npx -y @scope/server-git@latest"),
        ("uvx mcp-server-git --repository nowhere", f"uvx mcp-server-git --repository {MASK}"),
        ("python -m my.server --port 8080", f"python -m my.server --port {MASK}"),
        ("server hunter2", f"server {MASK}"),
        ("server --api-key hunter", f"server --api-key {MASK}"),
        ("server --api-key=hunter -phunter", f"server --api-key={MASK} -p{MASK}"),
        ("env API_KEY=abc LEVEL=debug server", f"env API_KEY={MASK} LEVEL={MASK} {MASK}"),
        ("docker run -e TOKEN=abc image", f"docker run -e TOKEN={MASK} {MASK}"),
        ("npx mcp-remote https://host/sse?token=abc", f"npx mcp-remote {MASK}"),
        ("server -H Authorization:Bearer", f"server -H {MASK}"),
        ("postgres-mcp postgres://user:secret@host/db", f"postgres-mcp {MASK}"),
        ("npx -y correct-horse more", f"npx -y correct-horse {MASK}"),
        ("npx -y xkqjzvwpmtrhbn", f"npx -y {MASK}"),
        ("npx xkqj-zvwp-mtrh", f"npx {MASK}"),
        ("npx -y ghp_abcdef", f"npx -y {MASK}"),
        ("npx -y mysecret-password", f"npx -y {MASK}"),
        ("npx @scope/xkqjzvwpmtrhbn", f"npx {MASK}"),
        ("/usr/bin/python3.11 -u -m mcp_server.git", "python3.11 -u -m mcp_server.git"),
        ("uv run python -m my.server", f"uv run {MASK} -m my.server"),
        ("python -m aGhKzQwXvBnTrLp", f"python -m {MASK}"),
        ("python -m server -m Hunter", f"python -m server -m {MASK}"),
        ("python serve.py -m Hunter", f"python {MASK} -m {MASK}"),
        ("mysql -m Hunter", f"mysql -m {MASK}"),
        ("npx --password run monkey", f"npx --password {MASK} {MASK}"),
        ("npx --token -y monkey", f"npx --token -y {MASK}"),
        ("server --password run", f"server --password {MASK}"),
        ("server -k @monkey/dragon", f"server -k {MASK}"),
        ("server @scope/plugin", "server @scope/plugin"),
        ("python -W -m monkey", f"python -W -m {MASK}"),
        ("python -m -m monkey", f"python -m -m {MASK}"),
        ("server --password python -m monkey", f"server --password {MASK} -m {MASK}"),
        (f"node {_UUID} --x={_UUID} --session {_UUID}", f"node {_UUID} --x={_UUID} --session {_UUID}"),
        (f"node --api-key={_UUID} --token {_UUID}", f"node --api-key={MASK} --token {MASK}"),
        ("py -3.11 -I -m my.server", f"py {MASK} -I -m my.server"),
    ],
)
def test_words(command: str, shown: str) -> None:
    assert shown_command(command.split(" ")) == shown.split(" ")
