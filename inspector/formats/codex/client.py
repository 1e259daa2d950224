"""MCP configuration of Codex, and the address of its models, which it takes from an option."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath

from inspector.formats.clients import Client, ConfigFile, ModelApi, ModelClient, project_files, user_folder

_NAME = "codex"
_PACKAGE = "@openai/codex"
_OPENAI = ModelApi("https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE"))
MODEL_APIS = (_OPENAI,)


def _files() -> Iterator[ConfigFile]:
    yield from project_files(".codex", "config.toml")
    yield ConfigFile(home_folder(os.environ) / "config.toml")


def home_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder of its configuration and sessions."""
    return Path(environment.get("CODEX_HOME") or user_folder(environment) / ".codex")


CLIENT = Client(
    name=_NAME,
    title="Codex",
    key="mcp_servers",
    files=_files,
    afterwards="Start Codex again; running sessions are not affected.",
    syntax="toml",
)


def _why_refused(command: Sequence[str], environment: Mapping[str, str]) -> str:
    # This key is preferred to a sign-in, so it works whatever `auth.json` holds.
    if _place_in(command) is None or environment.get("CODEX_API_KEY"):
        return ""
    try:
        known = json.loads((home_folder(environment) / "auth.json").read_bytes())
    except (OSError, ValueError):
        return ""
    if not isinstance(known, dict) or known.get("OPENAI_API_KEY") or not known.get("tokens"):
        return ""
    return (
        "Codex is signed in with ChatGPT, and calls its models at an address that cannot "
        "be tapped. Sign in with an API key (codex login --with-api-key), or set CODEX_API_KEY for this start."
    )


def _with_addresses(command: Sequence[str], addresses: Mapping[ModelApi, str]) -> list[str]:
    place = _place_in(command)
    if place is None:
        return list(command)
    option = f"openai_base_url={json.dumps(addresses[_OPENAI])}"
    return [*command[: place + 1], "-c", option, *command[place + 1 :]]


def _place_in(command: Sequence[str]) -> int | None:
    """Returns the position of Codex in a command: the first word, or a package for a launcher."""
    for place, word in enumerate(command):
        if word.partition("@latest")[0] == _PACKAGE or (place == 0 and PureWindowsPath(word).stem == _NAME):
            return place
    return None


MODEL_CLIENT = ModelClient(_why_refused, _with_addresses)
