"""Users and passwords in lists of arguments, and what a kind of nobody's making holds, on every way out."""

from __future__ import annotations

import json

import pytest

from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text
from tests.builders import envelope, lines_of, log_file
from tests.commands import asked, reading_once
from tests.samples import first_of

SECRET = "Zq7SecretValue9x"


@pytest.mark.parametrize("option", ["-u", "-U", "--user"])
@pytest.mark.parametrize("login", ["user:pass", f"me:{SECRET}", "a.b:x:y/z"])
def test_a_login_in_a_list_is_masked(option: str, login: str) -> None:
    items = [option, login]
    assert mask_secrets({"args": items}) == {"args": [option, MASK]}
    assert mask_secrets(["curl", *items, "https://h"]) == ["curl", option, MASK, "https://h"]
    for text in (json.dumps(items), repr(items), json.dumps(json.dumps(items))):
        assert login not in mask_text(text)


@pytest.mark.parametrize("value", ["1000:1000", "node:node", "app:staff", "origin", "main:${PASS}", "https://h:80/x"])
def test_a_user_and_a_group_stay(value: str) -> None:
    assert mask_secrets(["docker", "run", "-u", value]) == ["docker", "run", "-u", value]
    assert mask_text(json.dumps(["-u", value])) == json.dumps(["-u", value])


KINDS = (
    f"shop/token={SECRET}", f"token:{SECRET}", f"login:password={SECRET}", f"mcp/request:tools/call:token:{SECRET}",
)  # fmt: skip


@pytest.mark.parametrize("kind", first_of(KINDS))
def test_no_way_out_shows_the_secret_of_a_kind(kind: str) -> None:
    first = envelope(kind, {"text": "hi", "args": ["-u", f"me:{SECRET}"]}, id="a")
    path = log_file(lines_of(first, envelope("chat", {"text": "x"}, correlation_id=["a"])))
    fields = ",".join(("kind", "kind.raw", "method", "target", "tool", "summary", "text", "payload.args"))
    ways = [["show", "1"], ["show", "2"], ["list"], ["list", "--fields", fields], ["summary"], ["check"], ["contexts"]]
    with reading_once():
        for way in ways:
            for more in ([], ["--json"]):
                text = asked(way[0], path, *way[1:], *more).output
                assert SECRET not in text, (way, more, text)
        for form in ("md", "html", "csv", "json", "jsonl", "txt"):
            out = path.with_name(f"out.{form}")
            asked("export", path, "-o", out)
            if out.exists():
                assert SECRET not in out.read_text(), form
                out.unlink()
