"""Parts of MCP that several overviews show: messages of a prompt or a sampling, and who says hello with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from inspector.present.wire_text import plain
from inspector.protocol.payloads.blocks import block_of
from inspector.ui.panels.details.blocks_view import BlocksView
from inspector.ui.panels.details.facts import Fact, fact
from inspector.ui.panels.details.pictures import BUDGET
from inspector.ui.panels.details.sheet import Sheet, value_facts

_MOST_MESSAGES = 20


def talk(sheet: Sheet, messages: object) -> list[QWidget]:
    """A section for each message, under its role; at most twenty. Nothing where there are none."""
    if not isinstance(messages, list):
        return []
    sections: list[QWidget] = []
    budget = BUDGET
    for message in messages[:_MOST_MESSAGES]:
        if not isinstance(message, Mapping):
            continue
        role = plain(str(message.get("role") or "message"), 40)
        content = message.get("content", message)
        blocks = [block_of(block) for block in (content if isinstance(content, list) else [content])]
        view = BlocksView(sheet.themes, blocks, sheet.links.pictures, formatted=False, budget=budget)
        budget = view.budget
        sections.append(sheet.section(role.capitalize(), view, name=f"said{len(sections)}"))
    if len(messages) > _MOST_MESSAGES:
        rows = [fact("", f"{len(messages) - _MOST_MESSAGES} more, see Tree", "dim")]
        sections.append(sheet.section("More", sheet.facts(rows, name="moreSaid", label="More")))
    return sections


def hello_facts(values: Mapping[str, Any], who: str) -> list[Fact]:
    """What a client or server says of itself when it connects: name, version, protocol, what it can.

    Args:
        values: parameters or result of `initialize`.
        who: `clientInfo` or `serverInfo`.
    """
    rows: list[Fact] = []
    info = values.get(who)
    if isinstance(info, Mapping):
        name = plain(str(info.get("title") or info.get("name") or "not named"), 200)
        rows.append(fact("Name", name, "strong"))
        if info.get("version"):
            rows.append(fact("Version", plain(str(info["version"]), 80), "mono"))
    if values.get("protocolVersion"):
        rows.append(fact("MCP version", plain(str(values["protocolVersion"]), 80), "mono"))
    can = values.get("capabilities")
    if isinstance(can, Mapping):
        words = ", ".join(_ability(str(key), inner) for key, inner in can.items())
        rows.append(fact("Can", plain(words, 400) or "nothing optional", lines=3))
    skip = (who, "protocolVersion", "capabilities", "instructions", "_meta")
    return rows + value_facts(values, skip=skip)


def _ability(key: str, inner: object) -> str:
    more = [str(name) for name, on in inner.items() if on] if isinstance(inner, Mapping) else []
    return f"{key} ({', '.join(more)})" if more else key
