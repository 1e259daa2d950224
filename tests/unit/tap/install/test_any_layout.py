"""However a configuration is laid out, a tap that is put in and taken out again leaves every byte as it was."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.tap.install.changes import applied, planned, servers_of
from inspector.tap.install.clients import client_named, read_config

BLANKS = st.sampled_from(["", " ", "\n", "\r\n", "\t", "  \n  ", " // why, {\n", '/* "command": [ */', " /**/ "])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
OTHERS = st.dictionaries(
    TEXTS.filter(lambda key: key not in ("command", "args", "url", "type", "serverUrl")), TEXTS, max_size=2
)
ARGUMENTS = st.just({}) | st.fixed_dictionaries({"args": st.lists(TEXTS, max_size=3)})
ENTRIES = st.builds(
    lambda command, arguments, others: {"command": f"x{command}", **arguments, **others}, TEXTS, ARGUMENTS, OTHERS
)


def tokens(value: Any) -> list[str]:
    """The pieces between which blanks and comments may stand."""
    if isinstance(value, dict):
        inner = [[json.dumps(key, ensure_ascii=False), ":", *tokens(one)] for key, one in value.items()]
    elif isinstance(value, list):
        inner = [tokens(one) for one in value]
    else:
        return [json.dumps(value, ensure_ascii=False)]
    begin, end = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return [begin, *(token for number, one in enumerate(inner) for token in ([","] * bool(number) + one)), end]


@given(ENTRIES, ENTRIES, st.lists(BLANKS, min_size=1, max_size=40), st.sampled_from(["", "\ufeff"]))
def test_every_other_byte_stays(entry: dict[str, Any], other: dict[str, Any], blanks: list[str], mark: str) -> None:
    pieces = tokens({"a": 1, "mcpServers": {"other": other, "records": entry}, "z": [True, None]})
    laid_out = (piece + blanks[number % len(blanks)] for number, piece in enumerate(pieces))
    text = (mark + "".join(laid_out)).encode()
    client = client_named("cursor")
    assert client is not None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mcp.json"
        file.write_bytes(text)
        for install in (True, False):
            found = servers_of((client,), file)
            (server,) = (one for one in found.servers if one.name == "records")
            applied(planned(server, Path(folder) / "taps", install=install))
            before, after = (read_config(client, data.decode()).plain for data in (text, file.read_bytes()))
            assert before["mcpServers"].pop("records") == entry
            assert (after["mcpServers"].pop("records") == entry) is not install
            assert before == after
        assert file.read_bytes() == text
