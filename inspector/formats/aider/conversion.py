"""Converts a chat history of Aider, Markdown with many sessions: a prompt, an answer or the program's output a line."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from inspector.formats.aider.blocks import ANSWER, OUTPUT, PROMPT, blocks_in
from inspector.formats.aider.reader import LABEL
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.run_files import Run, RunFacts, run_converter
from inspector.protocol.timestamps import parse_text_time

_BEGIN = b"# aider chat started at "
_HEADING = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \r]*$", re.MULTILINE)
_MAX_BYTES = 1 << 29
_NUMBER = r"([\d.,]+[kM]?)"
_TOKENS = re.compile(
    rf"Tokens: {_NUMBER} sent(?:, {_NUMBER} cache write)?(?:, {_NUMBER} cache hit)?, {_NUMBER} received\."
    r"(?:\s+Cost: \$([\d.,]+) message, \$([\d.,]+) session)?"
)
_UNITS = {"k": 1_000, "M": 1_000_000}
_MODEL = re.compile(r"(?:Main model|Models?): (\S+?),?(?: with |$)")
_EDITOR = re.compile(r"Editor model: (\S+) with ")
_VERSION = re.compile(r"Aider (v\S+)")


def begins_chat(head: bytes) -> bool:
    """Returns True for the first bytes of a chat history."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip()[: len(_BEGIN)] == _BEGIN


def runs_in(path: Path) -> Iterator[Run]:
    """Yields the sessions of a file. Raises OSError and NotConvertedError."""
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
    text = data.decode("utf-8-sig", "replace")
    found = list(_HEADING.finditer(text))
    for heading, following in pairwise([*found, None]):
        if heading is not None:
            stop = following.start() if following is not None else len(text)
            lines = list(lines_of(heading[1], text[heading.end() : stop]))
            yield Run(_facts(heading[1], lines), partial(iter, lines))


def _facts(started: str, lines: list[dict[str, Any]]) -> RunFacts:
    calls = [one["usage"] for one in lines if "usage" in one]
    totals = [one["session_cost"] for one in calls if "session_cost" in one]
    return RunFacts(
        name=started.replace(":", "."), began_ns=parse_text_time(started), cost=totals[-1] if totals else None,
        model=next((one["model"] for one in lines if "model" in one), None),
        input_tokens=sum(one["sent"] for one in calls) if calls else None,
        output_tokens=sum(one["received"] for one in calls) if calls else None,
    )  # fmt: skip


def lines_of(started: str, text: str) -> Iterator[dict[str, Any]]:
    """Yields the lines of a session, from its start and the text up to the next one."""
    session: dict[str, Any] = {"type": "session", "started": started}
    models: dict[str, str] = {}
    by_editor, answer = False, ""
    lines: list[dict[str, Any]] = [{"record": session}]
    for kind, messages in blocks_in(text):
        words = "\n".join(messages).strip()
        if kind == PROMPT:
            # The program repeats the plan of one model as the prompt of its editor's model.
            by_editor = bool(answer) and "".join(words.split()) == answer
        handed = {"handed_over": True} if kind == PROMPT and by_editor else {}
        line: dict[str, Any] = {"record": {"type": kind, "text": words, **handed}}
        lines.append(line)
        if kind == ANSWER:
            answer = "".join(words.split())
            if model := models.get("editor" if by_editor else "main"):
                line["model"] = model
        if kind == OUTPUT:
            line["record"] = {"type": kind, "messages": messages}
            _note_facts(messages, lines, models)
    yield from lines


def _note_facts(messages: list[str], lines: list[dict[str, Any]], models: dict[str, str]) -> None:
    """Notes models, the version, and tokens in messages of the program."""
    session = lines[0]["record"]
    for message in messages:
        for key, pattern in (("main", _MODEL), ("editor", _EDITOR)):
            if found := pattern.match(message):
                models[key] = found[1]
                session.setdefault("model", models.get("main", found[1]))
        if found := _VERSION.match(message):
            session.setdefault("version", found[1])
        if found := _TOKENS.match(message):
            _add_usage(lines, found)


def _add_usage(lines: list[dict[str, Any]], tokens: re.Match[str]) -> None:
    """Adds reported tokens to the answer before them, or to the output itself without such an answer."""
    sent, written, read, received, cost, session = tokens.groups()
    counts = {"sent": sent, "cache_write": written, "cache_hit": read, "received": received}
    usage: dict[str, Any] = {key: _count(one) for key, one in counts.items() if one is not None}
    costs = {"cost": cost, "session_cost": session}
    usage |= {key: _amount(one) for key, one in costs.items() if one is not None}
    is_answered = lines[-2]["record"]["type"] == ANSWER and "usage" not in lines[-2]
    lines[-2 if is_answered else -1]["usage"] = usage


def _count(written: str) -> int:
    """Returns a number of tokens: `5.2k` as 5,200."""
    return round(_amount(written.rstrip("kM")) * _UNITS.get(written[-1], 1))


def _amount(written: str) -> float:
    try:
        return float(written.rstrip(".").replace(",", ""))
    except ValueError:
        return 0.0


CONVERSION = run_converter(LABEL, runs_in, begins_chat)
