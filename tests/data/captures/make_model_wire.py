"""Writes `model-wire.jsonl`: an agent's calls of a model as `tap --model` records them, and why its cache was missed.

Eight calls about open invoices. Most requests begin with all of the one before; one clears an old result, one defines a
tool differently, one puts a summary in the place of what was said. Words, times and what the model reports are made up.
Run it from the repository's folder to make the file anew: `python -m tests.data.captures.make_model_wire`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("model-wire.jsonl")
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_STEP = timedelta(milliseconds=1700)
_CACHED = {"cache_control": {"type": "ephemeral"}}
_SYSTEM = (
    "You help with the books of a small harbour. Say of each figure where it comes from. Write letters in the tone of "
    "those in letters/. Ask before anything is sent. Amounts are in euros, dates as in 2026-01-05. "
) * 4


def tool(name: str, description: str, **arguments: str) -> dict[str, Any]:
    """A definition of a tool whose arguments are texts."""
    properties = {key: {"type": "string", "description": words} for key, words in arguments.items()}
    return {"name": name, "description": description, "input_schema": {"type": "object", "properties": properties}}


_SEARCH = tool("mcp__ledger__search_invoices", "Finds invoices by month, customer or state.", month="As in 2026-01.")
_READ = tool("mcp__files__read_file", "Reads a file of the workspace.", path="From the workspace's folder.")
_WRITE = tool("mcp__files__write_file", "Writes a file of the workspace.", path="Where to.", text="All of it.")
TOOLS = [_SEARCH, _READ, _WRITE]


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def use(number: int, name: str, **arguments: str) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{number:02}", "name": name, "input": arguments}


def result(number: int, words: str) -> dict[str, Any]:
    """A block with what a tool answered."""
    return {"type": "tool_result", "tool_use_id": f"toolu_{number:02}", "content": words}


class Wire:
    """Lines of the recording.

    Attributes:
        lines: each a JSON object.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._exchanges = 0
        self._line(kind="start", transport="model-api")

    def _line(self, **value: Any) -> None:
        at = _BEGIN + len(self.lines) * _STEP
        self.lines.append(json.dumps({"t": f"{at:%Y-%m-%dT%H:%M:%S.%f}Z", **value}))

    def ask(self, turns: Sequence[Sequence[Mapping[str, Any]]], tools: Sequence[Mapping[str, Any]]) -> None:
        """A request: turns by turns of user and assistant, the last block and the system prompt with a cache mark."""
        self._exchanges += 1
        *before, last = turns
        turns = [*before, [*last[:-1], {**last[-1], **_CACHED}]]
        sent = [{"role": ("user", "assistant")[at % 2], "content": blocks} for at, blocks in enumerate(turns)]
        body = {
            "model": "claude-example-1", "max_tokens": 2048, "metadata": {"user_id": "session-1"},
            "system": [{**text(_SYSTEM), **_CACHED}], "tools": tools, "messages": sent,
        }  # fmt: skip
        self._line(
            dir="client->server", kind="http-request", x=self._exchanges, method="POST", path="/v1/messages",
            headers={"anthropic-version": "2023-06-01"}, message=body,
        )  # fmt: skip

    def answer(self, said: Sequence[Mapping[str, Any]], given: int, read: int, written: int, made: int) -> None:
        """What the model says, and the tokens it reports: not cached, read from a cache, written to one, output."""
        usage = {
            "input_tokens": given, "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
            "output_tokens": made,
        }  # fmt: skip
        message = {
            "id": f"msg_{self._exchanges:02}", "type": "message", "role": "assistant", "model": "claude-example-1",
            "content": said, "stop_reason": "tool_use" if said[-1]["type"] == "tool_use" else "end_turn",
            "usage": usage,
        }  # fmt: skip
        self._answered(200, message)

    def refuse(self) -> None:
        """Too many ask at once."""
        self._answered(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})

    def _answered(self, status: int, message: Mapping[str, Any]) -> None:
        self._line(
            dir="server->client", kind="http-response", x=self._exchanges, status=status, headers={}, message=message
        )


def lines() -> list[str]:
    """The recording."""
    wire = Wire()
    rows = "\n".join(
        f"{204 + at * 3}; customer {at % 7 + 1}; {120 + at * 17} EUR; due 2025-12-{at + 1:02}" for at in range(24)
    )
    letter = "Dear Sir or Madam, may we remind you of our invoice? Please let us know should anything be amiss. " * 3
    asked = [text("Which invoices of December are still open, and who should be reminded first?")]
    searched = [text("I look them up."), use(1, "mcp__ledger__search_invoices", month="2025-12", state="open")]
    wire.ask([asked], TOOLS)
    wire.answer(searched, 3, 0, 968, 61)
    found = [result(1, rows)]
    told = [text("24 are open. Customer 5 owes the most, with four invoices that were due before the 20th.")]
    wire.ask([asked, searched, found], TOOLS)
    wire.answer(told, 3, 968, 742, 38)
    write = [text("Write a reminder to customer 5, in the tone of the last one.")]
    read = [use(2, "mcp__files__read_file", path="letters/2025-11-reminder.txt")]
    turns = [asked, searched, found, told, write]
    wire.ask(turns, TOOLS)
    wire.refuse()
    wire.ask(turns, TOOLS)
    wire.answer(read, 3, 1710, 49, 44)
    cleared = [result(1, "[old result cleared to save room]")]
    turns = [asked, searched, cleared, told, write, read, [result(2, letter)]]
    wire.ask(turns, TOOLS)
    written = [use(3, "mcp__files__write_file", path="letters/customer-5.txt", text=letter)]
    wire.answer(written, 3, 968, 318, 120)
    turns += [written, [result(3, "298 characters written")]]
    wire.ask(turns, [_SEARCH, {**_READ, "description": "Reads a file of the workspace, or a part of it."}, _WRITE])
    done = [text("The letter is in letters/customer-5.txt. Shall I write the others, too?")]
    wire.answer(done, 3, 0, 1442, 27)
    summary = [text(
        "Summary of what was said so far: 24 invoices of December are open; customer 5 owes the most; the letter to "
        "customer 5 is written, in letters/customer-5.txt."
    )]  # fmt: skip
    turns = [asked, [text("I have looked them up.")], [*summary, text("Yes, customers 2 and 7 as well.")]]
    wire.ask(turns, [_SEARCH, {**_READ, "description": "Reads a file of the workspace, or a part of it."}, _WRITE])
    wire.answer([text("I write them now.")], 3, 905, 96, 12)
    return wire.lines


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
